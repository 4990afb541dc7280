"""House rules that a machine can check: sizes, names, packages, opening docstrings.

The exceptions below only shrink. A file that no longer needs its exception fails the test, so that
the entry is taken out; nothing is ever added to make a test pass.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "kbroker"

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60

# DESIGN: the tree. A new package needs a place among the layers first.
PACKAGES = {
    "broker", "cli", "client", "cluster", "config", "groups", "handlers", "http", "log", "machine",
    "model", "records", "security", "server", "store", "telemetry", "testing", "txn", "wire",
}  # fmt: skip

# What has no name has no owner.
NAMELESS = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager"}

# path below the root -> lines it may have. Empty it is, and empty it stays.
LONG_FILES: dict[str, int] = {}


def python_files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    # The messages are generated; their sizes are the protocol's.
    return [path for path in found if "messages" not in path.relative_to(ROOT).parts[:-1]]


OURS = python_files("src", "tools", "benchmarks", "compat_tests", "spark_jobs")
TESTS = python_files("tests")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", OURS + TESTS, ids=name_of)
def test_a_file_is_short_enough_to_read(path):
    lines = len(path.read_text().splitlines())
    allowed = LONG_FILES.get(name_of(path), MAX_FILE_LINES)

    assert lines <= allowed
    assert name_of(path) not in LONG_FILES or lines > MAX_FILE_LINES, "the exception can go"


@pytest.mark.parametrize("path", OURS + TESTS, ids=name_of)
def test_a_function_fits_one_screen(path):
    long = [
        f"{node.name} has {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    ]

    assert long == []


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_a_file_opens_with_its_idea(path):
    source = path.read_text()

    assert ast.get_docstring(ast.parse(source)), "no docstring at the top of the file"


def test_there_are_no_stray_packages():
    found = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"}

    assert found <= PACKAGES


def test_nothing_is_called_by_a_name_that_says_nothing():
    nameless = [
        name_of(path) for path in OURS if path.stem in NAMELESS or path.parent.name in NAMELESS
    ]

    assert nameless == []


def test_every_handler_names_its_api_in_the_first_line():
    """The first line of a handler is what docs/protocol.md and a newcomer read."""
    handlers = PACKAGE / "handlers"
    unnamed = []
    for path in sorted(handlers.glob("*.py")):
        tree = ast.parse(path.read_text())
        functions = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        if functions & {"begin", "handle"}:
            first = (ast.get_docstring(tree) or "").splitlines()[0]
            api = "".join(word.capitalize() for word in path.stem.split("_"))
            if not first.startswith(f"{api} (key "):
                unnamed.append(f"{path.name}: {first}")

    assert unnamed == []
