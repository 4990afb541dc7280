"""What needs no cluster: help, versions, bad input."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from kbroker.cli.main import main
from tests.cli.command import Kbroker

# Nobody listens there; a command that connected would say so and end with 1.
kbroker = Kbroker("127.0.0.1:1")


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"kbroker {version('kbroker')}\n"


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    help_text = capsys.readouterr().out
    for command in ("start", "topics", "groups", "produce", "consume"):
        assert f"\n    {command} " in help_text


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["--fast"],
        ["topics"],
        ["topics", "paint"],
        ["topics", "create"],
        ["topics", "create", "t", "--partitions", "0"],
        ["topics", "create", "t", "--config", "retention.ms"],
        ["topics", "delete"],
        ["topics", "alter", "t"],
        ["topics", "alter", "t", "--config", "a=1", "--delete-config", "a"],
        ["topics", "list", "--bootstrap", "host:port"],
        ["groups"],
        ["groups", "list", "--state", "Sleepy"],
        ["groups", "list", "--type", "rock"],
        ["groups", "describe"],
        ["groups", "describe", "g", "--members", "--state"],
        ["groups", "delete"],
        ["groups", "reset-offsets", "g", "--to-latest"],
        ["groups", "reset-offsets", "g", "--all-topics"],
        ["groups", "reset-offsets", "g", "--all-topics", "--topic", "t", "--to-latest"],
        ["groups", "reset-offsets", "g", "--topic", "t:", "--to-latest"],
        ["groups", "reset-offsets", "g", "--topic", "t", "--to-latest", "--to-earliest"],
        ["groups", "reset-offsets", "g", "--topic", "t", "--to-offset", "-1"],
        ["groups", "reset-offsets", "g", "--topic", "t", "--to-datetime", "noon"],
        ["groups", "reset-offsets", "g", "--topic", "t", "--shift-by", "some"],
        ["produce"],
        ["produce", "t", "--compression", "rar"],
        ["produce", "t", "--partition", "-1"],
        ["produce", "t", "--file", "/nowhere/at/all"],
        ["produce", "t", "--header", "x"],
        ["consume"],
        ["consume", "t", "--from", "yesterday"],
        ["consume", "t", "--max", "0"],
        ["consume", "t", "--follow", "--exit-at-end"],
        ["consume", "t", "--isolation", "serializable"],
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", "127.0.0.1:1")
    try:
        exit_code = main(arguments)
    except SystemExit as ended:
        exit_code = ended.code

    captured = capsys.readouterr()
    assert exit_code == 2
    assert captured.out == ""
    assert captured.err.startswith("kbroker")
    assert captured.err.count("\n") == 1


def test_a_bad_address_in_the_environment_is_bad_input():
    ended = Kbroker("nonsense:")("topics", "list")

    assert ended.exit_code == 2
    assert "--bootstrap" in ended.complaint


@pytest.mark.parametrize("arguments", [["topics", "list"], ["produce", "t"], ["consume", "t"]])
def test_a_cluster_that_cannot_be_reached_is_one_line_and_exit_code_1(arguments):
    ended = kbroker(*arguments)

    assert ended.exit_code == 1
    assert ended.complaint == "kbroker: cannot connect to 127.0.0.1:1: Connection refused\n"


def test_no_command_pays_for_another():
    """`kbroker start` is fast because nothing of the client is imported for it."""
    program = (
        "import sys; from kbroker.cli.main import main\n"
        "try: main(['--version'])\n"
        "finally: print([m for m in sys.modules if 'kbroker.client' in m or 'kbroker.wire' in m])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )

    assert result.stdout.splitlines()[-1] == b"[]"
