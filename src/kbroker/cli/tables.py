"""Rows for people and rows for programs.

On a terminal a table has a heading and aligned columns, and the widest ones give way until it fits.
Anywhere else it is plain: no heading, a tab between columns, nothing cut, made for `awk`.
"""

import shutil
import sys
from collections.abc import Sequence
from typing import TypeAlias

Cell: TypeAlias = str | int

# What stands for a value that is not there, or that nobody knows.
UNKNOWN = "-"

_GAP = "  "
_CUT = "…"
# A column that has to give way keeps this many characters, whatever the terminal.
_MIN_COLUMN = 3


def print_table(headings: Sequence[str], rows: Sequence[Sequence[Cell]], indent: str = "") -> None:
    """Write the rows to standard output in the form that suits it."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - len(indent)
        lines = [indent + line for line in fitted_lines(headings, rows, width)]
    else:
        lines = plain_lines(rows)
    sys.stdout.write("".join(line + "\n" for line in lines))


def or_unknown(value: Cell | None) -> Cell:
    """``value``, or a dash for one that is missing or empty: `awk` cannot count empty cells."""
    return UNKNOWN if value is None or value == "" else value


def plain_lines(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """The rows with tabs between their cells."""
    return ["\t".join(str(cell) for cell in row) for row in rows]


def fitted_lines(headings: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """The heading and the rows in columns, ``width`` characters wide at the most.

    Numbers stand to the right, text to the left. A terminal too narrow for even the smallest
    columns gets lines that are too long.
    """
    widths = [
        max(len(str(cell)) for cell in column) for column in zip(headings, *rows, strict=True)
    ]
    shrink(widths, width - len(_GAP) * (len(widths) - 1))
    return [_line(row, widths) for row in (headings, *rows)]


def shrink(widths: list[int], available: int) -> None:
    """Take from the widest columns, evenly, until the sum of ``widths`` is ``available``."""
    while sum(widths) > available and max(widths) > _MIN_COLUMN:
        widths[widths.index(max(widths))] -= 1


def _line(row: Sequence[Cell], widths: list[int]) -> str:
    cells = (
        _cut(str(cell), width).rjust(width)
        if isinstance(cell, int)
        else _cut(cell, width).ljust(width)
        for cell, width in zip(row, widths, strict=True)
    )
    return _GAP.join(cells).rstrip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + _CUT
