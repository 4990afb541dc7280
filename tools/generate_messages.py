"""Writes the generated half of `kbroker.wire` from Kafka's message definitions.

    python -m tools.generate_messages            write what is not fresh
    python -m tools.generate_messages --check    exit with 1 and the names of what is not fresh

The definitions are read from the jars that ``make java`` installs. Only facts are taken: names,
types, versions, nullability, defaults, tags. Nothing of kbroker is imported: it may not be
importable before this has run.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.messages.definitions import MessageDefinition
from tools.messages.jars import MissingJarError, read_modules
from tools.messages.module_text import module_text
from tools.messages.names import constant_name, snake_case

_ROOT = Path(__file__).parent.parent
_WIRE = _ROOT / "src" / "kbroker" / "wire"

_MESSAGES_INIT = '''"""One module per API and per record of the internal topics; generated.

This package imports none of them: `kbroker.wire.apis` does when a key is first asked for, and
whoever handles a message imports its module.
"""
'''


def generate() -> dict[str, str]:
    """Every generated file: its path below ``wire/``, and its text as ruff formats it."""
    modules = read_modules()
    apis = sorted(
        (found for found in modules.values() if found[0].kind == "request"),
        key=lambda found: found[0].key or 0,
    )
    files = {
        "api_keys.py": _api_keys_text([request for request, _ in apis]),
        "api_table.py": _api_table_text([request for request, _ in apis]),
        "messages/__init__.py": _MESSAGES_INIT,
    }
    for title, messages in modules.items():
        files[f"messages/{snake_case(title)}.py"] = module_text(title, messages)
    return _formatted(files)


def stale_files(files: dict[str, str], wire: Path) -> list[str]:
    """The paths below ``wire`` that differ from ``files``: to write anew, or to remove."""
    there = {f"messages/{path.name}" for path in (wire / "messages").glob("*.py")}
    stale = there - files.keys()
    for name, text in files.items():
        path = wire / name
        if not path.exists() or path.read_text() != text:
            stale.add(name)
    return sorted(stale)


def _api_keys_text(requests: list[MessageDefinition]) -> str:
    lines = [
        '"""Kafka\'s names for its requests. Generated; see tools/generate_messages.py."""\n',
        "from enum import IntEnum\n\n",
        "class ApiKey(IntEnum):",
        '    """The first two bytes of a request."""\n',
    ]
    lines += [f"    {constant_name(_api_name(each))} = {each.key}" for each in requests]
    return "\n".join(lines) + "\n"


def _api_table_text(requests: list[MessageDefinition]) -> str:
    lines = [
        '"""The APIs of the broker listener. Generated; see tools/generate_messages.py."""\n',
        "# Key, name, versions, versions that are stable, flexible versions, module of messages/.",
        "API_TABLE: tuple[tuple[int, str, str, str, str, str], ...] = (",
    ]
    for request in requests:
        name = _api_name(request)
        row = (request.key, name, request.versions, request.stable_versions)
        lines.append(f"    {(*row, request.flexible, snake_case(name))!r},")
    return "\n".join([*lines, ")"]) + "\n"


def _api_name(request: MessageDefinition) -> str:
    return request.name.removesuffix("Request")


def _formatted(files: dict[str, str]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            path = Path(directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        settings = ["--quiet", "--no-cache", "--config", str(_ROOT / "pyproject.toml")]
        command = [sys.executable, "-m", "ruff", "format", *settings, directory]
        subprocess.run(command, check=True)
        return {name: Path(directory, name).read_text() for name in files}


def main() -> int:
    """Writes or checks; gives the exit status: 1 for stale files, 2 without the jars."""
    parser = argparse.ArgumentParser(description="Write wire/messages from Kafka's definitions.")
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    parser.add_argument("--into", type=Path, default=_WIRE, help="a folder other than src's wire")
    arguments = parser.parse_args()
    check, wire = bool(arguments.check), Path(arguments.into)
    try:
        files = generate()
    except MissingJarError as error:
        parser.exit(2, f"{error}\n")
    stale = stale_files(files, wire)
    for name in stale:
        print(f"{'stale' if check else 'writing'}: {name}")
        if check:
            continue
        path = wire / name
        if name in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[name])
        else:
            path.unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
