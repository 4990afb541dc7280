"""Later: ready when the gate of its number opens."""

import trio

from kbroker.broker.requests import Later
from kbroker.wire.messages.sync_group import SyncGroupResponse


def begin(context, request):
    context.broker.begun.append(request.generation_id)
    return _AtTheGate(context.broker, request.generation_id, len(request.group_id))


class _AtTheGate(Later):
    def __init__(self, stage, number, size):
        self.stage, self.number, self.size = stage, number, size

    async def finish(self):
        try:
            await self.stage.gate(self.number).wait()
        except trio.Cancelled:
            self.stage.cancelled.append(self.number)
            raise
        return SyncGroupResponse(throttle_time_ms=self.number, assignment=bytes(self.size))
