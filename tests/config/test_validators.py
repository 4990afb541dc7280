import pytest

from kbroker.config.errors import ConfigError
from kbroker.config.validators import (
    GzipLevel,
    ListOf,
    NonEmpty,
    OffsetReset,
    OneOf,
    Pattern,
    Range,
    ThrottledReplicas,
)


@pytest.mark.parametrize(
    ("validator", "value"),
    [
        (Range(1), 1),
        (Range(1, 3), 3),
        (Range(0, 0.5), 0.25),
        (OneOf(("a", "b")), "a"),
        (OneOf(("A",), any_case=True), "a"),
        (ListOf(), ()),
        (ListOf(("a", "b")), ("b", "a")),
        (NonEmpty(), "x"),
        (GzipLevel(), -1),
        (GzipLevel(), 9),
        (Pattern("[a-z]+", "bad {entry}"), ("abc", "d")),
        (ThrottledReplicas(), ("*",)),
        (ThrottledReplicas(), ("0:1", "12:3")),
        (ThrottledReplicas(), ()),
        (OffsetReset(), "earliest"),
        (OffsetReset(), "by_duration:P1DT2H3M4.5S"),
        (OffsetReset(), "by_duration:PT0.001S"),
    ],
)
def test_what_is_allowed_is_kept(validator, value):
    assert validator.check("name", value) == value


@pytest.mark.parametrize(
    ("validator", "value", "problem"),
    [
        (Range(1), 0, "Invalid value 0 for configuration n: Value must be at least 1"),
        (Range(1, 3), 4, "Invalid value 4 for configuration n: Value must be no more than 3"),
        (Range(0, 1), 1.5, "Invalid value 1.5 for configuration n: Value must be no more than 1"),
        (
            OneOf(("a", "b")),
            "A",
            "Invalid value A for configuration n: String must be one of: a, b",
        ),
        (ListOf(may_be_empty=False), (), "Configuration 'n' must not be empty. "),
        (ListOf(), ("a", ""), "Configuration 'n' values must not be empty."),
        (ListOf(("a",)), ("a", "c"), "Invalid value c for configuration n: "),
        (NonEmpty(), "", "Invalid value  for configuration n: String must be non-empty"),
        (GzipLevel(), 0, "Value must be between 1 and 9 or equal to -1"),
        (Pattern("[a-z]+", "bad {entry} of {name}"), ("a", "1"), "bad 1 of n"),
        (ThrottledReplicas(), ("0:1", "x"), "Invalid value [0:1, x] for configuration n: n must"),
        (OffsetReset(), "by_duration:-PT1H", "'by_duration:<PnDTnHnMn.nS>'."),
        (OffsetReset(), "by_duration:PT", "'by_duration:<PnDTnHnMn.nS>'."),
        (OffsetReset(), "none", "'by_duration:<PnDTnHnMn.nS>'."),
    ],
)
def test_what_is_not_allowed_is_refused_with_the_reason(validator, value, problem):
    with pytest.raises(ConfigError) as caught:
        validator.check("n", value)

    assert problem in str(caught.value)


def test_a_repeated_entry_of_a_list_counts_once():
    assert ListOf().check("name", ("a", "b", "a")) == ("a", "b")
