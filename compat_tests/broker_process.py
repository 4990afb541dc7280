"""The broker that clients meet, with what the tests look at in its files.

Stopping is part of what is tested: SIGTERM at the end of a ``with`` must end it with exit code 0.
"""

import os

from kbroker.testing import process


class BrokerProcess(process.BrokerProcess):
    """A running broker, from the beginning of a ``with`` to its end."""

    def log_bytes(self, topic: str, partition: int = 0) -> bytes:
        """All batches of a partition as they lie on disk, segment after segment."""
        folder = self.partition_dir(topic, partition)
        return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))

    def log_file(self, topic: str, partition: int = 0) -> str:
        """The path of a partition's only segment."""
        [path] = self.partition_dir(topic, partition).glob("*.log")
        return os.fspath(path)
