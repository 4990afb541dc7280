"""The short form of a word count with exactly_once_v2 while Streams and the broker are killed."""

import random
from pathlib import Path

import pytest

from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.word_count import count_under_fire


@pytest.mark.slow
@pytest.mark.java
def test_every_word_is_counted_once_whoever_is_killed(tmp_path: Path):
    """`python -m tests.scenarios.word_count` is the long form."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    with BrokerProcess(tmp_path) as broker:
        count_under_fire(broker, 300, 1, tmp_path, random.Random(seed))
        assert "Traceback" not in broker.stderr
        broker.stop()
