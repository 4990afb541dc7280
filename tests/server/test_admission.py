"""How many connections there may be."""

import pytest

from kbroker.server.admission import Admission
from kbroker.server.settings import ServerSettings


def test_by_default_nothing_is_limited():
    admission = Admission(ServerSettings())
    for number in range(5000):
        assert admission.has_room()
        assert admission.pause_s(0.0) == pytest.approx(0.0, abs=1e-4), number
        assert admission.enter("10.0.0.1", 0.0)


def test_there_is_room_again_when_somebody_left():
    admission = Admission(ServerSettings(max_connections=2))
    assert admission.enter("a", 0.0)
    assert admission.enter("b", 0.0)
    assert not admission.has_room()
    admission.leave("a")
    assert admission.has_room()


def test_one_address_may_have_fewer_or_more_than_the_others():
    limits = {"10.0.0.9": 0, "10.0.0.8": 2}
    admission = Admission(
        ServerSettings(max_connections_per_ip=1, max_connections_per_ip_overrides=limits)
    )
    entered = [admission.enter(f"10.0.0.{n}", 0.0) for n in (1, 1, 2, 9, 8, 8, 8)]
    assert entered == [True, False, True, False, True, True, False]
    admission.leave("10.0.0.1")
    assert admission.enter("10.0.0.1", 0.0)
    assert admission.count == 4


def test_the_rate_holds_after_a_burst_of_one_second():
    admission = Admission(ServerSettings(max_connection_creation_rate=10))
    now, accepted = 100.0, 0
    while now < 110.0:
        if admission.pause_s(now) == 0.0:
            assert admission.enter("a", now)
            accepted += 1
        else:
            now += admission.pause_s(now)
    assert accepted == pytest.approx(110, abs=2)
