"""Ready at once; the answer carries the number that was sent."""

from kbroker.wire.messages.heartbeat import HeartbeatResponse


def begin(context, request):
    context.broker.begun.append(request.generation_id)
    context.broker.peers.add(context.connection.peer_host)
    context.broker.principals.append(context.connection.principal)
    return HeartbeatResponse(throttle_time_ms=request.generation_id)
