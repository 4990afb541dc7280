"""The leader epochs of a partition and where each begins (LeaderEpochFileCache).

A follower that must find out where its log parts from the leader's asks for the end of an epoch
(R6, R7), so both have to know every epoch that left records, and a new leader its own before the
first record (R8). Epochs and offsets both rise from entry to entry (R9).

    leader-epoch-checkpoint:  version 0, the number of entries, then "epoch offset" in each line

An epoch that begins is written at once and synced. One that truncation removes is not: a stale
entry behind the log end is dropped when the log is opened (L5).
"""

from bisect import bisect_right

from kbroker.log.checkpoints import CheckpointError, parse_lines, render_lines
from kbroker.log.disk import Disk
from kbroker.log.errors import CorruptLog
from kbroker.log.file_names import LEADER_EPOCH_CHECKPOINT

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class LeaderEpochs:
    """The epochs of one partition, in memory and in its checkpoint."""

    __slots__ = ("_disk", "_path", "epochs", "is_saved", "start_offsets")

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"
        self.epochs: list[int] = []
        self.start_offsets: list[int] = []  # of the epochs, in the same places
        self.is_saved = True

    @property
    def latest(self) -> int:
        """The last epoch, -1 if there is none."""
        return self.epochs[-1] if self.epochs else UNDEFINED_EPOCH

    def load(self) -> None:
        """Read the checkpoint; no file means no epochs. CorruptLog if it cannot be read."""
        try:
            text = self._disk.read_file(self._path)
        except FileNotFoundError:
            return
        if not text:
            return  # Kafka creates the file before it has an epoch
        try:
            for epoch, start_offset in parse_lines(text, fields=2):
                self._assign(int(epoch), int(start_offset))
        except (CheckpointError, ValueError) as error:
            raise CorruptLog(f"{self._path}: {error}") from error
        self.is_saved = True

    def assign(self, epoch: int, start_offset: int) -> None:
        """Let ``epoch`` begin at ``start_offset``, on the platter, unless it has begun already."""
        before = list(self.epochs), list(self.start_offsets)
        if self._assign(epoch, start_offset):
            try:
                self.save()
            except OSError:
                self.epochs, self.start_offsets = before
                raise

    def assign_in_memory(self, epoch: int, start_offset: int) -> None:
        """As `assign`, for the many batches of a recovery; `save` is to follow."""
        if epoch > self.latest:
            self._assign(epoch, start_offset)

    def _assign(self, epoch: int, start_offset: int) -> bool:
        assert epoch >= 0, f"epoch {epoch}"
        assert start_offset >= 0, f"epoch {epoch} at offset {start_offset}"
        if epoch == self.latest and start_offset >= self.start_offsets[-1]:
            return False
        while self.epochs and (epoch <= self.epochs[-1] or start_offset <= self.start_offsets[-1]):
            self._pop()
        self.is_saved = False
        self.epochs.append(epoch)
        self.start_offsets.append(start_offset)
        return True

    def save(self) -> None:
        """Write the checkpoint anew."""
        entries = zip(self.epochs, self.start_offsets, strict=True)
        self._disk.replace_file(self._path, render_lines(entries))
        self.is_saved = True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest epoch up to ``epoch`` and where it ends; (-1, -1) if nobody knows (R7).

        For an epoch before all that are known, the answer is that epoch and the start of the
        first: its records are gone, and a follower can begin there.
        """
        if epoch == UNDEFINED_EPOCH or not self.epochs or epoch > self.epochs[-1]:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self.epochs[-1]:
            return epoch, log_end_offset
        slot = bisect_right(self.epochs, epoch)
        return self.epochs[slot - 1] if slot else epoch, self.start_offsets[slot]

    def epoch_for(self, offset: int) -> int:
        """The epoch of the record at ``offset``, -1 if it is not known."""
        slot = bisect_right(self.start_offsets, offset)
        return self.epochs[slot - 1] if slot else UNDEFINED_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Drop the epochs that begin at or behind ``end_offset``; not saved."""
        while self.epochs and self.start_offsets[-1] >= end_offset:
            self._pop()

    def _pop(self) -> None:
        self.epochs.pop()
        self.start_offsets.pop()
        self.is_saved = False

    def truncate_from_start(self, start_offset: int) -> None:
        """Let the first epoch begin at ``start_offset``, without those before; not saved."""
        slot = bisect_right(self.start_offsets, start_offset)
        if slot and self.start_offsets[0] != start_offset:
            self.is_saved = False
            del self.epochs[: slot - 1]
            del self.start_offsets[: slot - 1]
            self.start_offsets[0] = start_offset

    def forget(self) -> None:
        """Drop all epochs; not saved."""
        self.epochs.clear()
        self.start_offsets.clear()
        self.is_saved = False

    def clear(self) -> None:
        """Drop all epochs, on the platter too."""
        self.forget()
        self.save()
