"""One client's connection: requests begin in order, answers leave in order.

A connection is called when its transport has something for it, and never waits. In its turn it
begins every request whose bytes are there, and sends the answers that are ready at once, in as few
system calls as possible. An answer that comes later takes a place in a queue; then all answers
behind it go through the queue too, however ready they are. Whoever completes the head of the queue
sends all that is ready.

    turn            begin 1 (ready) - begin 2 (later) - begin 3 (ready, queued) - send 1
    2 is complete                                                      ... send 2 and 3

Limits. A turn ends after about a millisecond; if there is more to do, the transport is asked for
another one. At most `MAX_IN_FLIGHT` requests are begun and unanswered, and at most
`MAX_QUEUED_BYTES` of answers wait; then no further request is begun until some have left. The same
happens while an exclusive request (`async def handle`) is pending, and while the client does not
take its answers. Held up like this, a connection does not receive.

When the client goes, all that waits for it is cancelled.
"""

from collections.abc import Callable

import trio

from kbroker.broker.requests import CloseConnection, ConnectionInfo
from kbroker.server.dispatch import Dispatcher, Pending, Polling, RequestFailedError
from kbroker.server.frames import READ_AHEAD_BYTES, ReceiveBuffer
from kbroker.server.sending import FileTruncatedError, size_in_memory
from kbroker.server.settings import (
    AUTHENTICATION_DEADLINE_S,
    BEFORE_AUTHENTICATION_BYTES,
    ServerSettings,
)
from kbroker.server.stats import ServerStats
from kbroker.server.tls_transport import HandshakeFailedError
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


class Answer:
    """A place in the queue; ``parts`` is None until the answer is ready."""

    __slots__ = ("parts", "polling", "scope")

    def __init__(self, parts: list[Part] | None) -> None:
        self.parts = parts
        # Who gives it: a task that may be cancelled, or somebody who is asked now and then.
        self.scope: trio.CancelScope | None = None
        self.polling: Polling | None = None


class Surroundings:
    """What all connections of a server share.

    ``scratch`` is what they receive into, one after the other; ``tasks`` holds the tasks of
    requests that have to be waited for; ``on_closed`` is told of every connection that ends.
    """

    __slots__ = ("dispatcher", "max_request_bytes", "on_closed", "scratch", "stats", "tasks")

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: ServerSettings,
        stats: ServerStats,
        tasks: trio.Nursery,
        on_closed: Callable[["Connection"], None],
    ) -> None:
        self.dispatcher = dispatcher
        self.max_request_bytes = settings.max_request_bytes
        self.stats = stats
        self.tasks = tasks
        self.on_closed = on_closed
        self.scratch = ReceiveBuffer(settings.max_request_bytes, READ_AHEAD_BYTES)


class Connection:
    """Serves one client until it goes, breaks a rule, is idle for too long, or we shut down."""

    # An idle connection should cost little, and there may be thousands.
    __slots__ = (
        "_around",
        "_buffer",
        "_closed_because",
        "_draining",
        "_exclusive",
        "_gone",
        "_held_up",
        "_in_turn",
        "_last_active_at",
        "_opened_at",
        "_queue",
        "_queued_bytes",
        "_received_at",
        "_swept_at",
        "_transport",
        "_unsent",
        "_woken",
        "blocked",
        "info",
    )

    def __init__(
        self, info: ConnectionInfo, transport: Transport, around: Surroundings, now: float
    ) -> None:
        self.info = info
        self._transport = transport
        self._around = around
        # Only while a part of a request is there, or requests that cannot begin yet.
        self._buffer: ReceiveBuffer | None = None
        # At most MAX_IN_FLIGHT long, so a list does; an empty deque takes ten times its memory.
        self._queue: list[Answer] = []
        self._queued_bytes = 0
        # Answers out of the queue that the transport did not take yet.
        self._unsent: list[Part] = []
        # Whether the transport wants nothing before it calls `on_writable`.
        self.blocked = False
        self._in_turn = False
        self._woken = False  # whether answers that are asked for may be there
        self._exclusive = False
        self._draining = False
        self._held_up = False
        self._gone = False
        self._closed_because = ""
        self._opened_at = self._received_at = self._last_active_at = self._swept_at = now

    @property
    def memory_bytes(self) -> int:
        """How much memory is held for bytes received and answers that wait."""
        received = 0 if self._buffer is None else self._buffer.capacity
        return received + self._queued_bytes

    # What transports call.

    def serve(self, now: float) -> None:
        """Have a turn: begin the requests that are there, send the answers that are ready."""
        if self._closed_because:
            return
        ready: list[Part] = []
        ended: Exception | None = None
        self._in_turn = True
        try:
            if self._woken:
                self._poll_answers(now)
            if self._begin_requests(ready, now):
                self._transport.serve_soon()
        except _ENDS as error:
            # It must not take the answers before it along.
            ended = error
        self._in_turn = False
        self._around.scratch.clear()
        if ready:
            assert not self._unsent
            self._unsent = ready
        if not self.blocked and (self._unsent or self._queue):
            self._send()
        if ended is not None:
            self.end(ended)

    def on_writable(self, now: float) -> None:
        """Go on to send."""
        self.blocked = False
        self._last_active_at = now
        self._send()

    def on_hangup(self, now: float) -> None:
        """Answer what was sent, then close; now, if it would have to wait for others."""
        self._gone = True
        if not self._must_hold_up():
            self.serve(now)
        elif self.blocked or self._unsent:
            self._held_up = True  # It may still take its answers.
        else:
            self.end(ConnectionError("the client closed it"))

    def end(self, error: Exception) -> None:
        """Close because of ``error``, with a word about it if it is not the network's."""
        if self._closed_because:
            return
        if isinstance(error, ProtocolError):
            self._around.stats.protocol_errors.value += 1
            log.warning("client broke the protocol", error=str(error), **self._names())
        elif isinstance(error, CloseConnection):
            log.info("connection closed by the broker", reason=str(error), **self._names())
        elif isinstance(error, HandshakeFailedError):
            self._around.stats.failed_handshakes.value += 1
            log.info("TLS handshake failed", reason=str(error), **self._names())
        elif not isinstance(error, OSError):
            log.error("connection lost", error=str(error), **self._names())
        self.close(str(error))

    # What the server calls.

    def close(self, reason: str) -> None:
        """End the connection now and cancel what waits; the first reason given is the reason."""
        if self._closed_because:
            return
        self._closed_because = reason or "unknown"
        self._transport.close()
        for answer in self._queue:
            if answer.scope is not None:
                answer.scope.cancel()
            if answer.polling is not None:
                answer.polling.polled.close()
        self._buffer = None
        self._unsent = []
        self._around.on_closed(self)
        if log.is_enabled_for_debug():
            log.debug("connection closed", reason=self._closed_because, **self._names())

    def drain(self) -> None:
        """Begin nothing more, and close when every request that was begun is answered."""
        self._draining = True
        self._close_if_drained()

    def sweep(self, now: float, max_idle_s: float) -> None:
        """Called now and then: close if idle for too long, and hold no memory while idle."""
        if now - self._last_active_at >= max_idle_s:
            self._around.stats.idle_closes.value += 1
            self.close("idle")
        elif not self.info.authenticated and now - self._opened_at >= AUTHENTICATION_DEADLINE_S:
            log.info("client did not authenticate in time", **self._names())
            self.close("no authentication")
        elif self._last_active_at < self._swept_at and not len(self._buffer or ()):
            self._buffer = None
        self._swept_at = now

    # Requests.

    def _begin_requests(self, ready: list[Part], now: float) -> bool:
        """Begin what is there, receive more, and so on; whether this should go on soon.

        Answers that may leave at once are put into ``ready``.
        """
        around, queue = self._around, self._queue
        begin, info = around.dispatcher.begin, self.info
        buffer = self._buffer or around.scratch
        turn = _TURN_COST
        is_empty = False  # the transport, as far as we know
        while True:
            buffer.max_frame_bytes = (
                around.max_request_bytes if info.authenticated else BEFORE_AUTHENTICATION_BYTES
            )
            while not (held_up := self._must_hold_up()) and turn > 0:
                frame = buffer.next_frame()
                if frame is None:
                    break
                start, end = frame
                turn -= _REQUEST_COST + end - start
                begun = begin(buffer.data, start, end, info, self._received_at)
                if begun is None:
                    continue
                if isinstance(begun, Pending):
                    self._await_answer(begun)
                elif isinstance(begun, Polling):
                    self._watch_answer(begun)
                elif queue:
                    queue.append(Answer(begun))
                    self._queued_bytes += size_in_memory(begun)
                else:
                    ready += begun
            buffer = self._keep(buffer)
            if held_up:
                self._held_up = True
                return False
            if turn <= 0:
                return True
            if is_empty and not self._gone:
                return False
            count = self._transport.receive(buffer)
            if count is None:
                return False
            if not count:
                if ready:
                    return True  # Answers leave first, and may take more than this turn.
                raise ConnectionError("the client closed it")
            is_empty = not buffer.is_full
            around.stats.received_bytes.value += count
            self._received_at = self._last_active_at = now

    def _keep(self, buffer: ReceiveBuffer) -> ReceiveBuffer:
        """Keep what is left in ``buffer``, in memory of our own; gives the buffer to go on with."""
        scratch = self._around.scratch
        if buffer is scratch:
            if len(buffer):
                self._buffer = buffer = buffer.split()
        elif not len(buffer) and buffer.capacity <= scratch.capacity:
            self._buffer = None
            buffer = scratch
        return buffer

    def _must_hold_up(self) -> bool:
        return (
            self._exclusive
            or self._draining
            or self.blocked
            or bool(self._unsent)
            or len(self._queue) >= MAX_IN_FLIGHT
            or self._queued_bytes > MAX_QUEUED_BYTES
        )

    # Answers.

    def _await_answer(self, pending: Pending) -> None:
        answer = Answer(None)
        answer.scope = trio.CancelScope()
        self._queue.append(answer)
        self._exclusive = pending.exclusive
        self._around.tasks.start_soon(self._finish, answer.scope, answer, pending)

    def _watch_answer(self, polling: Polling) -> None:
        answer = Answer(None)
        answer.polling = polling
        self._queue.append(answer)
        polling.polled.watch(self._on_wake)

    def _on_wake(self) -> None:
        """Called in the midst of what others do, so it only takes note."""
        if not self._woken:
            self._woken = True
            self._transport.serve_soon()

    def _poll_answers(self, now: float) -> None:
        self._woken = False
        for answer in self._queue:
            if answer.polling is not None:
                parts = self._around.dispatcher.poll(answer.polling)
                if parts is not None:
                    answer.parts, answer.polling = parts, None
                    self._queued_bytes += size_in_memory(parts)
                    self._last_active_at = now

    async def _finish(self, scope: trio.CancelScope, answer: Answer, pending: Pending) -> None:
        """The task of one answer that has to be waited for."""
        with scope:
            try:
                parts = await self._around.dispatcher.finish(pending)
            except _ENDS as error:
                self.end(error)
            else:
                self._complete(answer, parts, exclusive=pending.exclusive)

    def _complete(self, answer: Answer, parts: list[Part], *, exclusive: bool) -> None:
        """An answer is ready; send it if it is its turn."""
        if self._closed_because:
            return
        answer.parts = parts
        self._queued_bytes += size_in_memory(parts)
        if exclusive:
            self._exclusive = False
        self._last_active_at = trio.current_time()
        if not self._in_turn and not self.blocked:
            self._send()

    def _send(self) -> None:
        """Send what was left over, and all that is ready at the head of the queue."""
        parts = self._unsent
        queue = self._queue
        while queue and (more := queue[0].parts) is not None:
            del queue[0]
            self._queued_bytes -= size_in_memory(more)
            parts += more
        if parts:
            try:
                self._unsent, self.blocked = self._transport.send(parts)
            except _ENDS as error:
                self.end(error)
                return
            if self._unsent and not self.blocked:
                self._transport.serve_soon()
        if self._draining:
            self._close_if_drained()
        elif self._held_up and not self._must_hold_up():
            self._held_up = False
            self._transport.serve_soon()

    def _close_if_drained(self) -> None:
        if not self._queue and not self._unsent and not self.blocked:
            self.close("shutdown")

    def _names(self) -> dict[str, object]:
        info = self.info
        return {
            "peer": f"{info.peer_host}:{info.peer_port}",
            "connection": info.connection_id,
            "principal": info.principal,
        }


# What ends a connection; everything else is a bug and ends the broker.
_ENDS = (OSError, ProtocolError, CloseConnection, RequestFailedError, FileTruncatedError)
