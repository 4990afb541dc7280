"""Clients written in Python as programs: the other end of the lines of ``program``.

    python -m compat_tests.serve kafka_python.adapter BOOTSTRAP

The module has a function ``parts(bootstrap)``, whose objects say the verbs of
``client.Client`` between them. It runs with the interpreter that has the client's version, so this
module imports nothing but Python's own.
"""

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from compat_tests.client import Received
from compat_tests.record_lines import received_as_json, sent_from_json


def serve(parts: Sequence[object]) -> None:
    """Answer line after line, until there are no more."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(parts, json.loads(line))) + "\n")
        sys.stdout.flush()


def _answer(parts: Sequence[object], request: dict[str, Any]) -> dict[str, object]:
    verb = request.pop("verb")
    if "records" in request:
        request["records"] = [sent_from_json(told) for told in request["records"]]
    try:
        return {"ok": _plain(_method(parts, verb)(**request))}
    except Exception as error:
        # Whatever a client raises is what its user sees.
        return {"error": f"{type(error).__name__}: {error}", "code": code_of(error)}


def _method(parts: Sequence[object], verb: str) -> Callable[..., object]:
    for part in parts:
        if hasattr(part, verb):
            return getattr(part, verb)
    raise NotImplementedError(f"this client has no {verb}")


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list) and value and isinstance(value[0], Received):
        return [received_as_json(each) for each in value]
    return value


def code_of(error: BaseException) -> int | None:
    """Kafka's error code, where these clients keep it: ``errno``, or librdkafka's error object."""
    code = getattr(error, "errno", None)
    if code is None and error.args and hasattr(error.args[0], "code"):
        code = error.args[0].code()
    return code if isinstance(code, int) and code > 0 else None


def main() -> None:
    module, bootstrap = sys.argv[1:]
    serve(importlib.import_module(f"compat_tests.{module}").parts(bootstrap))


if __name__ == "__main__":
    main()
