"""rust-rdkafka as a client program; `make rust` builds it."""

from compat_tests.program import ClientProgram
from compat_tests.python_programs import ROOT
from compat_tests.rust_client import VERSION

_BINARY = ROOT / ".cache" / "rust" / "bin" / "rust_client"

PROGRAMS = (
    ClientProgram(
        name="rust-rdkafka",
        version=VERSION,
        folder="rust_client",
        serve=(str(_BINARY), "serve"),
        member=(str(_BINARY), "member"),
        needs=_BINARY,
        installed_by="make rust",
        not_applicable={
            "error: offset out of range": "the crate says that nothing resets the offset, not why",
        },
    ),
)
