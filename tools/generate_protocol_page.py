"""Writes docs/protocol.md from the table of handlers and their first lines.

.venv/bin/python -m tools.generate_protocol_page [--check]
"""

import ast
import sys
from pathlib import Path

from kbroker.handlers.table import TABLE
from kbroker.wire.apis import API_SPECS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "protocol.md"
HANDLERS = ROOT / "src" / "kbroker" / "handlers"

_HEAD = """\
# The APIs of the broker listener

Written by `make generate` from `src/kbroker/handlers`.
What is not served is not advertised: clients fall back on absence.

| key | API | versions | what it does |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    lines = []
    for key, spec in sorted(API_SPECS.items()):
        served = TABLE.get(key)
        if served is None:
            lines.append(f"| {key} | {spec.name} | | not served |")
            continue
        versions = f"{served.lowest}-{served.highest}"
        lines.append(f"| {key} | {spec.name} | {versions} | {_idea(spec.module)} |")
    return _HEAD + "\n".join(lines) + "\n"


def _idea(module: str) -> str:
    """What the first sentence of a handler says behind its name."""
    source = (HANDLERS / f"{module}.py").read_text()
    first = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    _, _, idea = " ".join(first.split()).partition(": ")
    return idea.partition(". ")[0].rstrip(".")


def main() -> int:
    """Write the page, or say whether it is fresh; gives the exit code."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        print("docs/protocol.md is stale: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
