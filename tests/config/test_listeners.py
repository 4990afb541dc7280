import pytest

from kbroker.config import BrokerConfig, ConfigError, Listener
from kbroker.config.listeners import parse_listeners, parse_protocols

PROTOCOLS = {"PLAINTEXT": "PLAINTEXT", "SECURE": "SASL_SSL"}


@pytest.mark.parametrize(
    ("text", "listener"),
    [
        ("PLAINTEXT://:9092", Listener("PLAINTEXT", "PLAINTEXT", "", 9092)),
        ("plaintext://localhost:0", Listener("PLAINTEXT", "PLAINTEXT", "localhost", 0)),
        ("SECURE://[::1]:9094", Listener("SECURE", "SASL_SSL", "::1", 9094)),
        (
            "SECURE://broker-1.example.org:1",
            Listener("SECURE", "SASL_SSL", "broker-1.example.org", 1),
        ),
    ],
)
def test_a_listener_is_a_name_a_host_and_a_port(text, listener):
    assert parse_listeners("listeners", (text,), PROTOCOLS) == (listener,)


def test_a_listener_knows_what_its_protocol_means():
    assert Listener("A", "SASL_SSL", "", 1).tls
    assert Listener("A", "SASL_SSL", "", 1).sasl
    assert Listener("A", "SSL", "", 1).tls
    assert not Listener("A", "SSL", "", 1).sasl
    assert not Listener("A", "SASL_PLAINTEXT", "", 1).tls


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"listeners": "localhost:9092"}, "a listener looks like NAME://host:port"),
        ({"listeners": "PLAINTEXT://:70000"}, "the port must be 0 to 65535"),
        ({"listeners": "OTHER://:1"}, "No security protocol defined for listener OTHER"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "must have a different name"),
        ({"listeners": "PLAINTEXT://0.0.0.0:1"}, "cannot use the nonroutable meta-address"),
        ({"advertised.listeners": "SSL://host:1"}, "must be equal to or a subset"),
        ({"listener.security.protocol.map": "A:B"}, "each entry must be NAME:PROTOCOL"),
    ],
)
def test_listeners_that_cannot_be_are_refused(properties, problem):
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.of(properties)

    assert problem in str(caught.value)


def test_an_advertised_address_makes_listening_everywhere_possible():
    config = BrokerConfig.of(
        {"listeners": "PLAINTEXT://0.0.0.0:1", "advertised.listeners": "PLAINTEXT://me:2"}
    )

    assert config.listeners == (Listener("PLAINTEXT", "PLAINTEXT", "0.0.0.0", 1),)
    assert config.advertised_listeners == (Listener("PLAINTEXT", "PLAINTEXT", "me", 2),)


def test_protocols_are_pairs_in_any_case():
    assert parse_protocols("internal:ssl, External : SASL_SSL ,") == {
        "INTERNAL": "SSL",
        "EXTERNAL": "SASL_SSL",
    }
