"""Clients written in Python: the pinned version in .venv, an older one in a folder of its own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from compat_tests.program import ClientProgram

ROOT = Path(__file__).parents[1]
OLDER = ROOT / ".cache" / "python_clients"


def python_program(
    name: str,
    version: str,
    folder: str,
    *,
    adapter: str = "adapter",
    older: bool = False,
    not_applicable: Mapping[str, str] | None = None,
    static_leaves_by_crash: bool = False,
) -> ClientProgram:
    """A program of ``compat_tests.serve`` and the folder's ``member``.

    An older version is a folder of packages that is searched before .venv: `make python-clients`
    fills it.
    """
    packages = OLDER / f"{name}-{version}"
    path = [str(packages), str(ROOT)] if older else [str(ROOT)]
    return ClientProgram(
        name=name,
        version=version,
        folder=folder,
        serve=(sys.executable, "-m", "compat_tests.serve", f"{folder}.{adapter}"),
        member=(sys.executable, "-m", f"compat_tests.{folder}.member"),
        environment={**os.environ, "PYTHONPATH": ":".join(path)},
        needs=packages / "installed" if older else None,
        installed_by="make python-clients",
        not_applicable=not_applicable or {},
        static_leaves_by_crash=static_leaves_by_crash,
    )
