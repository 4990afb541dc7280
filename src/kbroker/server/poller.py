"""Watches all sockets at once, and lets their connections have turns.

Trio's own way to wait for a socket costs a system call and a change of tasks for each wait, which
is more than a small request costs otherwise. So the sockets are watched by an epoll of ours, and
trio watches that one: an epoll is readable when it has events. One task takes them, many at a time,
and serves the connections one after the other, without a wait in between.

Rules of this file.

* Sockets are registered once, edge-triggered, for all they can tell. An event therefore comes once:
  whoever gets it receives until there is no more, or asks for another turn (`serve_soon`).
* A pass serves at most `_PASS_EVENTS` sockets, and at most as many that asked for another turn;
  then all other tasks run. Both kinds are served in the order in which they came.
"""

import os
import select

import trio

from kbroker.server.transports import Served

# With a turn of 16 small requests at the most (see `Connection`), and one or two as a rule.
_PASS_EVENTS = 32

_HANGUP = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
_ALL = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET


class Poller:
    """The sockets of one server, and the task that serves them."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._served: dict[int, Served] = {}
        # Descriptors whose connections want another turn, in order.
        self._again: dict[int, None] = {}
        # Those that cannot receive before they can send (see `TlsTransport`).
        self._without_room: set[int] = set()
        # Wakes the task from outside of a pass. Edge-triggered too, so it is never read.
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._bell, select.EPOLLIN | select.EPOLLET)
        self._in_pass = False

    def add(self, descriptor: int, served: Served) -> None:
        """Watch a socket from now on; what it has already is told as well."""
        self._served[descriptor] = served
        self._epoll.register(descriptor, _ALL)

    def remove(self, descriptor: int) -> None:
        """Forget a socket that is about to be closed, which takes it out of the epoll."""
        self._served.pop(descriptor, None)
        self._again.pop(descriptor, None)
        self._without_room.discard(descriptor)

    def serve_soon(self, descriptor: int) -> None:
        """Let a connection have another turn when others have had theirs."""
        if descriptor in self._served:
            if not self._again and not self._in_pass:
                os.eventfd_write(self._bell, 1)
            self._again[descriptor] = None

    def serve_when_writable(self, descriptor: int) -> None:
        """Let a connection have a turn when its socket, which was full, takes bytes again."""
        self._without_room.add(descriptor)

    async def run(self) -> None:
        """Serve until cancelled; the sockets stay open then."""
        descriptor = self._epoll.fileno()
        while True:
            if self._again:
                await trio.lowlevel.checkpoint()
            else:
                await trio.lowlevel.wait_readable(descriptor)
            self._in_pass = True
            try:
                self._serve_ready(trio.current_time())
            finally:
                self._in_pass = False

    def close(self) -> None:
        """Watch nothing any more; may be called again."""
        if not self._epoll.closed:
            trio.lowlevel.notify_closing(self._epoll.fileno())
            self._epoll.close()
            os.close(self._bell)

    def _serve_ready(self, now: float) -> None:
        if self._again:
            for descriptor in list(self._again)[:_PASS_EVENTS]:
                # An earlier one may have closed it.
                if descriptor in self._again:
                    del self._again[descriptor]
                    self._served[descriptor].serve(now)
        find = self._served.get
        for descriptor, events in self._epoll.poll(0, _PASS_EVENTS):
            served = find(descriptor)
            if served is None:
                continue  # The bell, or closed by an earlier one.
            if served.blocked and events & select.EPOLLOUT:
                served.on_writable(now)
            if events & _HANGUP:
                served.on_hangup(now)
            elif events & select.EPOLLIN:
                served.serve(now)
            elif descriptor in self._without_room:
                # Served for another reason meanwhile? Then this turn finds nothing to do.
                self._without_room.discard(descriptor)
                served.serve(now)
