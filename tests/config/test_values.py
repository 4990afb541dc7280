import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.config.errors import ConfigError
from kbroker.config.values import (
    ConfigType,
    Password,
    format_double,
    format_value,
    parse_value,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.BOOLEAN, "false", False),
        (ConfigType.INT, " +12\t", 12),
        (ConfigType.INT, "-2147483648", -(2**31)),
        (ConfigType.SHORT, "32767", 32767),
        (ConfigType.LONG, "0009223372036854775807", 2**63 - 1),
        (ConfigType.DOUBLE, "1.5e7", 1.5e7),
        (ConfigType.DOUBLE, ".5f", 0.5),
        (ConfigType.LIST, " a , b,c ", ("a", "b", "c")),
        (ConfigType.LIST, "  ", ()),
        (ConfigType.STRING, "  x y ", "x y"),
        (ConfigType.CLASS, "org.example.Thing", "org.example.Thing"),
        (ConfigType.PASSWORD, "secret", Password("secret")),
    ],
)
def test_a_text_is_read_as_java_reads_it(kind, text, value):
    assert parse_value(kind, "name", text) == value


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (ConfigType.BOOLEAN, "yes", "Expected value to be either true or false"),
        (ConfigType.INT, "2147483648", "Not a number of type INT"),
        (ConfigType.INT, "1_000", "Not a number of type INT"),
        (ConfigType.SHORT, "32768", "Not a number of type SHORT"),
        (ConfigType.LONG, "1" * 100_000, "Not a number of type LONG"),
        (ConfigType.DOUBLE, "NaN", "Not a number of type DOUBLE"),
        (ConfigType.DOUBLE, "1e", "Not a number of type DOUBLE"),
    ],
)
def test_a_text_that_is_no_value_is_refused(kind, text, reason):
    with pytest.raises(ConfigError) as caught:
        parse_value(kind, "some.name", text)

    assert str(caught.value) == f"Invalid value {text} for configuration some.name: {reason}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (("a", "b"), "a,b"),
        ((), ""),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (1.5e7, "1.5E7"),
        (12345678.9, "1.23456789E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (-1e300, "-1.0E300"),
        (1e22, "1.0E22"),
        (float("inf"), "Infinity"),
    ],
)
def test_a_value_is_shown_as_java_shows_it(value, text):
    assert format_value(value) == text


@given(st.floats(allow_nan=False))
def test_a_double_reads_back_as_it_was(number):
    assert parse_value(ConfigType.DOUBLE, "name", format_double(number)) == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_long_reads_back_as_it_was(number):
    assert parse_value(ConfigType.LONG, "name", str(number)) == number


def test_a_password_hides_itself():
    secret = Password("hunter2")

    assert "hunter2" not in f"{secret} {secret!r} {format_value(secret)}"
    assert secret == Password("hunter2")
    assert secret != Password("other")
    assert len({secret, Password("hunter2")}) == 1
