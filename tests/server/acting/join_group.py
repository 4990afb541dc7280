"""Polled: ready when the stage has the number of the session timeout among its news."""

from kbroker.broker.requests import Polled
from kbroker.wire.messages.join_group import JoinGroupResponse


def begin(context, request):
    context.broker.begun.append(request.session_timeout_ms)
    return _AtTheNews(context.broker, request.session_timeout_ms)


class _AtTheNews(Polled):
    def __init__(self, stage, number):
        self.stage, self.number = stage, number

    def watch(self, wake):
        self.stage.wakes[self.number] = wake

    def poll(self):
        if self.stage.news.get(self.number) == "broken":
            raise RuntimeError("a bug in a handler")
        if self.number not in self.stage.news:
            return None
        self.close()
        return JoinGroupResponse(throttle_time_ms=self.number)

    def close(self):
        if self.stage.wakes.pop(self.number, None) and self.number not in self.stage.news:
            self.stage.cancelled.append(self.number)
