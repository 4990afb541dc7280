"""One client's connection: requests begin in order, answers leave in order.

One task reads. It begins every request as soon as its bytes are there, and sends the answers that
are ready at once, in as few system calls as possible. An answer that comes later gets a task of its
own; then all answers behind it go through a queue, however ready they are. Whoever completes the
head of the queue sends all that is ready.

    reading task    begin 1 (ready, sent) - begin 2 (later) - begin 3 (ready, queued) - receive ...
    task of 2                                      ... waits ... - sends 2 and 3

Limits. At most `MAX_IN_FLIGHT` requests are begun and unanswered, and at most `MAX_QUEUED_BYTES` of
answers wait; then no further request is begun until some have left. The same happens while an
exclusive request (`async def handle`) is pending. Held up like this, the reading task goes on to
receive a little, only to notice that the client has gone. A client that does not read its answers
fills its socket, and whoever sends to it waits.

When the client goes, all that waits for it is cancelled: the tasks are children of one nursery.
"""

import trio

from kbroker.broker.requests import CloseConnection, ConnectionInfo
from kbroker.server.dispatch import Dispatcher, Pending, RequestFailedError
from kbroker.server.frames import ReceiveBuffer
from kbroker.server.sending import FileTruncatedError, size_in_memory
from kbroker.server.settings import (
    AUTHENTICATION_DEADLINE_S,
    BEFORE_AUTHENTICATION_BYTES,
    ServerSettings,
)
from kbroker.server.stats import ServerStats
from kbroker.server.transports import Transport
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire import Part, ProtocolError

log = get_logger("connections")

# A client may have this many requests begun and not answered before we stop.
MAX_IN_FLIGHT = 64
# Answers in memory that wait for an earlier one. A client with 64 large answers waiting is rare;
# a thousand such clients must not take gigabytes.
MAX_QUEUED_BYTES = 1 << 22
# What one connection may do before others get their turn: a megabyte, or 16 small requests. Both
# take about a millisecond.
_TURN_COST = 1 << 20
_REQUEST_COST = 1 << 16
# How much is received of requests that cannot begin yet.
_HELD_UP_BYTES = 1 << 16


class Answer:
    """A place in the queue; ``parts`` is None until the answer is ready."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Part] | None) -> None:
        self.parts = parts


class Connection:
    """Serves one client until it goes, breaks a rule, is idle for too long, or we shut down."""

    # An idle connection should cost little, and there may be thousands.
    __slots__ = (
        "_buffer",
        "_closed_because",
        "_dispatcher",
        "_draining",
        "_exclusive",
        "_held_up",
        "_last_active_at",
        "_max_request_bytes",
        "_nursery",
        "_opened_at",
        "_queue",
        "_queued_bytes",
        "_received_at",
        "_sending",
        "_stats",
        "_swept_at",
        "_transport",
        "_turn",
        "info",
    )

    def __init__(
        self,
        info: ConnectionInfo,
        transport: Transport,
        dispatcher: Dispatcher,
        settings: ServerSettings,
        stats: ServerStats,
    ) -> None:
        self.info = info
        self._transport = transport
        self._dispatcher = dispatcher
        self._max_request_bytes = settings.max_request_bytes
        self._stats = stats
        self._buffer = ReceiveBuffer(settings.max_request_bytes)
        # At most MAX_IN_FLIGHT long, so a list does; an empty deque takes ten times its memory.
        self._queue: list[Answer] = []
        self._queued_bytes = 0
        self._exclusive = False
        # Whether some task sends and may wait for the socket; it sends all that gets ready.
        self._sending = False
        self._draining = False
        self._turn = _TURN_COST
        self._held_up: trio.CancelScope | None = None
        self._nursery: trio.Nursery | None = None
        self._closed_because = ""
        self._opened_at = trio.current_time()
        self._received_at = self._last_active_at = self._swept_at = self._opened_at

    @property
    def memory_bytes(self) -> int:
        """How much memory is held for bytes received and answers that wait."""
        return self._buffer.capacity + self._queued_bytes

    async def serve(self) -> None:
        """Answer requests until the connection ends; it is closed then."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                if self._closed_because:  # Before it began.
                    nursery.cancel_scope.cancel()
                try:
                    await self._read()
                except _ENDS as error:
                    self._end_with(error)
        finally:
            await self._transport.aclose()
        if log.is_enabled_for_debug():
            log.debug("connection closed", reason=self._closed_because, **self._names())

    def close(self, reason: str) -> None:
        """End the connection now and cancel what waits; the first reason given is the reason."""
        if not self._closed_because:
            self._closed_because = reason
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()

    def drain(self) -> None:
        """Begin nothing more, and close when every request that was begun is answered."""
        self._draining = True
        self._close_if_drained()

    def sweep(self, now: float, max_idle_s: float) -> None:
        """Called now and then: close if idle for too long, and hold no memory while idle."""
        if now - self._last_active_at >= max_idle_s:
            self._stats.idle_closes.value += 1
            self.close("idle")
        elif not self.info.authenticated and now - self._opened_at >= AUTHENTICATION_DEADLINE_S:
            log.info("client did not authenticate in time", **self._names())
            self.close("no authentication")
        elif self._last_active_at < self._swept_at:
            self._buffer.release()
        self._swept_at = now

    async def _read(self) -> None:
        buffer, transport = self._buffer, self._transport
        while True:
            answers, error = self._begin_requests()
            if answers:
                left = transport.send_now(answers)
                if left:
                    await self._send(left)
                if self._draining:
                    self._close_if_drained()
            if error is not None:
                raise error
            if self._turn <= 0:
                self._turn = _TURN_COST
                await trio.lowlevel.checkpoint()
                continue
            if self._must_hold_up():
                await self._receive_while_held_up()
                continue
            count = transport.receive_now(buffer)
            if count is None:
                self._turn = _TURN_COST
                count = await transport.receive(buffer)
            self._note_received(count)

    def _begin_requests(self) -> tuple[list[Part], Exception | None]:
        """Begin the requests that are there; gives the answers that may leave now.

        Stops at an error, which must not take the answers before it along.
        """
        ready: list[Part] = []
        buffer = self._buffer
        begin = self._dispatcher.begin
        buffer.max_frame_bytes = (
            self._max_request_bytes if self.info.authenticated else BEFORE_AUTHENTICATION_BYTES
        )
        try:
            while self._turn > 0 and not self._must_hold_up():
                frame = buffer.next_frame()
                if frame is None:
                    break
                start, end = frame
                self._turn -= _REQUEST_COST + end - start
                begun = begin(buffer.data, start, end, self.info, self._received_at)
                if begun is None:
                    continue
                if isinstance(begun, Pending):
                    self._await_answer(begun)
                elif self._queue or self._sending:
                    self._queue.append(Answer(begun))
                    self._queued_bytes += size_in_memory(begun)
                else:
                    ready += begun
        except _ENDS as error:
            return ready, error
        return ready, None

    def _await_answer(self, pending: Pending) -> None:
        assert self._nursery is not None
        answer = Answer(None)
        self._queue.append(answer)
        self._exclusive = pending.exclusive
        self._nursery.start_soon(self._finish, answer, pending)

    async def _finish(self, answer: Answer, pending: Pending) -> None:
        """The task of one answer that comes later."""
        try:
            parts = await self._dispatcher.finish(pending)
            answer.parts = parts
            self._queued_bytes += size_in_memory(parts)
            if pending.exclusive:
                self._exclusive = False
            if not self._sending:
                await self._send([])
        except _ENDS as error:
            self._end_with(error)

    async def _send(self, parts: list[Part]) -> None:
        """Send ``parts``, then all that is ready at the head of the queue, or gets ready meanwhile.

        After an error or cancellation the connection ends, so nobody else will send.
        """
        assert not self._sending
        self._sending = True
        self._last_active_at = trio.current_time()
        while True:
            if parts:
                await self._transport.send(parts)
            parts = self._take_ready()
            if not parts:
                break
            parts = self._transport.send_now(parts)
        self._sending = False
        if self._draining:
            self._close_if_drained()

    def _take_ready(self) -> list[Part]:
        """The answers at the head of the queue that are ready, out of the queue."""
        taken: list[Part] = []
        queue = self._queue
        while queue and (parts := queue[0].parts) is not None:
            del queue[0]
            self._queued_bytes -= size_in_memory(parts)
            taken += parts
        if self._held_up is not None and not self._must_hold_up():
            self._held_up.cancel()
        return taken

    def _must_hold_up(self) -> bool:
        return (
            self._exclusive
            or self._draining
            or len(self._queue) >= MAX_IN_FLIGHT
            or self._queued_bytes > MAX_QUEUED_BYTES
        )

    async def _receive_while_held_up(self) -> None:
        """Wait until requests may begin again; notice meanwhile if the client goes."""
        with trio.CancelScope() as self._held_up:
            if len(self._buffer) < _HELD_UP_BYTES:
                self._note_received(await self._transport.receive(self._buffer))
            else:
                await trio.sleep_forever()
        self._held_up = None

    def _note_received(self, count: int) -> None:
        if not count:
            raise ConnectionError("the client closed it")
        self._stats.received_bytes.value += count
        self._received_at = self._last_active_at = trio.current_time()

    def _close_if_drained(self) -> None:
        if not self._queue and not self._sending:
            self.close("shutdown")

    def _end_with(self, error: Exception) -> None:
        if isinstance(error, ProtocolError):
            self._stats.protocol_errors.value += 1
            log.warning("client broke the protocol", error=str(error), **self._names())
        elif isinstance(error, CloseConnection):
            log.info("connection closed by the broker", reason=str(error), **self._names())
        elif not isinstance(error, OSError):
            log.error("connection lost", error=str(error), **self._names())
        self.close(str(error))

    def _names(self) -> dict[str, object]:
        info = self.info
        return {
            "peer": f"{info.peer_host}:{info.peer_port}",
            "connection": info.connection_id,
            "principal": info.principal,
        }


# What ends a connection; everything else is a bug and ends the broker.
_ENDS = (OSError, ProtocolError, CloseConnection, RequestFailedError, FileTruncatedError)
