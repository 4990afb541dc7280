"""kafkajs as a client program; `make node` installs it."""

import os
from pathlib import Path

from compat_tests.kafkajs import VERSION
from compat_tests.program import ClientProgram
from compat_tests.python_programs import ROOT

_FOLDER = Path(__file__).parent
_MODULES = ROOT / ".cache" / "kafkajs" / "node_modules"
_NO_CODEC = "the client has gzip only; other codecs are packages of other people"
_CLASSIC_ONLY = "the client knows the classic protocol only"

PROGRAMS = (
    ClientProgram(
        name="kafkajs",
        version=VERSION,
        folder="kafkajs",
        serve=("node", str(_FOLDER / "serve.js")),
        member=("node", str(_FOLDER / "member.js")),
        environment={**os.environ, "NODE_PATH": str(_MODULES)},
        needs=_MODULES,
        installed_by="make node",
        not_applicable={
            "compress: snappy": _NO_CODEC,
            "compress: lz4": _NO_CODEC,
            "compress: zstd": _NO_CODEC,
            "headers": "headers are an object: those of one name lose their place",
            "group: cooperative": "the client revokes everything at each rebalance",
            "group: KIP-848": _CLASSIC_ONLY,
            "static member": "the client knows no group.instance.id",
            "static member, KIP-848": _CLASSIC_ONLY,
            "admin: delete records": "it finds no leader for the partition, whatever the broker",
            "error: offset out of range": "the consumer resets such an offset by itself",
        },
    ),
)
