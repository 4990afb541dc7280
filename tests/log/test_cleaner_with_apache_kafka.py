"""Kafka's own tool reads the files that compaction leaves."""

from pathlib import Path

import pytest
from tools.apache_kafka import run_java

from kbroker.records import Compression
from tests.log.compacted import COMPACT, DELETE_RETENTION_MS, clean, fill, keyed, transactional
from tests.log.samples import NOW_MS, append, append_marker, open_log

pytestmark = pytest.mark.java

DUMP = "org.apache.kafka.tools.DumpLogSegments"


def test_kafkas_dump_tool_reads_a_compacted_log_without_complaint(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=COMPACT)
    for number in range(30):
        compression = Compression(number % 5)
        fill(log, keyed((b"%d" % (number % 7), b"v" * 50), (b"x", b"y"), compression=compression))
    append(log, transactional(0, (b"a", b"aborted")), transactional(1, (b"b", b"aborted")))
    append_marker(log, committed=False)
    append(log, transactional(2, (b"a", b"committed")))
    append_marker(log, committed=True)
    log.on_high_watermark(log.log_end_offset)
    fill(log, keyed((b"0", None)), keyed((b"a", b"last")), keyed((b"c", b"d")))
    clean(log, now_ms=NOW_MS)
    fill(log, keyed((b"e", b"f")))
    clean(log, now_ms=NOW_MS + DELETE_RETENTION_MS // 2)
    log.close(clean=True)
    files = sorted(str(path) for path in (tmp_path / "orders-3").glob("0*"))

    output = run_java(DUMP, "--deep-iteration", "--print-data-log", "--files", ",".join(files))
    text = output.decode()

    assert "isvalid: false" not in text
    assert "mismatches" not in text.lower()
    assert "deleteHorizonMs: OptionalLong[" in text
    assert "payload: last" in text
    assert "payload: aborted" not in text
    indexes = [str(tmp_path / "orders-3" / f"{0:020d}{kind}") for kind in (".index", ".timeindex")]
    checked = run_java(DUMP, "--index-sanity-check", "--files", ",".join(indexes)).decode()
    assert checked.count("passed sanity check") == len(indexes)
