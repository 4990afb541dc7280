"""Exclusive: waits at the gate whose number is the group's name."""

import trio

from kbroker.wire.messages.leave_group import LeaveGroupResponse


async def handle(context, request):
    number = int(request.group_id)
    context.broker.begun.append(number)
    try:
        await context.broker.gate(number).wait()
    except trio.Cancelled:
        context.broker.cancelled.append(number)
        raise
    return LeaveGroupResponse(throttle_time_ms=number)
