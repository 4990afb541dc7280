"""A bug."""


def begin(context, request):
    raise RuntimeError("a bug in a handler")
