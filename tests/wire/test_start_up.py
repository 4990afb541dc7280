"""Start-up compiles nothing and imports no message (DESIGN 6.6); `python -X importtime` says the
time."""

import json
import subprocess
import sys

PROBE = """
import json, sys
import kbroker.wire
from kbroker.wire.message import Message

def classes(cls):
    for child in cls.__subclasses__():
        yield child
        yield from classes(child)

print(json.dumps({
    "modules": sorted(name for name in sys.modules if name.startswith("kbroker.wire.")),
    "codecs": sum(len(cls._decoders) + len(cls._encoders) for cls in classes(Message)),
    "initialisers": [cls.__name__ for cls in classes(Message) if "__init__" in vars(cls)],
    "messages": [cls.__name__ for cls in classes(Message) if cls.fields],
}))
"""


def probe() -> dict[str, object]:
    finished = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(finished.stdout)


def test_importing_wire_imports_no_message_module_and_compiles_no_codec():
    state = probe()

    assert [name for name in state["modules"] if name.startswith("kbroker.wire.messages")] == []
    assert "kbroker.wire.decoding" not in state["modules"]
    assert "kbroker.wire.encoding" not in state["modules"]
    assert state["codecs"] == 0
    assert state["initialisers"] == []
    assert state["messages"] == []
