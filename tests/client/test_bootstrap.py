import pytest

from kbroker.client.bootstrap import Address, parse_bootstrap


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("localhost:9092", [("localhost", 9092)]),
        ("one:1, two:2,", [("one", 1), ("two", 2)]),
        ("host", [("host", 9092)]),
        ("[::1]:9093", [("::1", 9093)]),
        ("[::1]", [("::1", 9092)]),
    ],
)
def test_addresses_are_read(text, addresses):
    assert parse_bootstrap(text) == tuple(Address(*each) for each in addresses)


@pytest.mark.parametrize(
    "text",
    ["", ",", "host:", "host:x", "host:0", "host:65536", ":9092", "::1", "[::1", "[::1]9", "a b:1",
     "http://host:9092", "host:٣"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r"no address|HOST:PORT|port"):
        parse_bootstrap(text)


def test_an_ipv6_address_is_shown_in_brackets():
    assert str(Address("::1", 9092)) == "[::1]:9092"
    assert str(Address("host", 9092)) == "host:9092"
