"""The short form of a copy in transactions while broker and copier are stopped and killed."""

import random
from pathlib import Path

import pytest

from tests.scenarios.copying import Plan, copy_under_fire, kbroker


@pytest.mark.slow
@pytest.mark.java
def test_a_copy_equals_its_source_whoever_is_killed(tmp_path: Path):
    """T1, T4, T5, T10, T13: `python -m tests.scenarios.copying` is the long form."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    with kbroker(tmp_path) as broker:
        copy_under_fire(broker, Plan(records=15_000, rounds=1), tmp_path, random.Random(seed))
        assert "Traceback" not in broker.stderr
        broker.stop()
