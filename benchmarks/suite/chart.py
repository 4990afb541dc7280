"""The ratios as a picture: one bar for each figure that has a goal, on a scale of powers of two.

A bar begins at 1 (as Apache Kafka) and goes to the right where kbroker is ahead, whatever the
figure: twice the rate and half the processor time are bars of the same length. A tick marks the
goal. Written as SVG by hand; there is nothing in it that a library would be needed for.
"""

from html import escape
from math import log2

from benchmarks.measuring.figures import more_is_better
from benchmarks.suite.results import FigureJson, Results

_TITLE = "How many times as good as Apache Kafka (right: kbroker ahead; dark green: goal met)"
_WIDTH = 1120
_LABEL_WIDTH = 560
_ROW_HEIGHT = 18
_TOP = 46
# The scale goes from a quarter to sixteen times as good; longer bars are cut and say so.
_LOWEST, _HIGHEST = -2.0, 4.0
_MET, _AHEAD, _BEHIND = "#2e7d32", "#9ccc65", "#c62828"


def chart(results: Results) -> str:
    """The picture as text."""
    bars = [
        (f"{name}: {figure}", figure, found)
        for name, row in results["rows"].items()
        for figure, found in row["figures"].items()
        if found["met"] is not None and found["ratio"]
    ]
    height = _TOP + _ROW_HEIGHT * len(bars) + 20
    size = f'width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        f'<rect {size} fill="white"/>',
        f'<text x="10" y="18" font-size="14">{_TITLE}</text>',
        *_scale(height),
    ]
    for index, (label, figure, found) in enumerate(bars):
        parts += _bar(index, label, figure, found)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _scale(height: int) -> list[str]:
    lines = []
    for power in range(int(_LOWEST), int(_HIGHEST) + 1):
        x = _x(power)
        text = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        shade = "#555" if power == 0 else "#ddd"
        lines.append(
            f'<line x1="{x:.0f}" y1="{_TOP - 6}" x2="{x:.0f}" y2="{height - 14}" stroke="{shade}"/>'
        )
        lines.append(f'<text x="{x:.0f}" y="{_TOP - 10}" text-anchor="middle">{text}</text>')
    return lines


def _bar(index: int, label: str, figure: str, found: FigureJson) -> list[str]:
    ratio = found["ratio"]
    assert ratio is not None
    y = _TOP + index * _ROW_HEIGHT
    power = _advantage(figure, ratio)
    ends = sorted((_x(0), _x(power)))
    colour = _MET if found["met"] else _AHEAD if power > 0 else _BEHIND
    width = max(1.0, ends[1] - ends[0])
    beside, anchor = (_x(power) + 4, "start") if power >= 0 else (_x(power) - 4, "end")
    bar = f'x="{ends[0]:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW_HEIGHT - 6}"'
    parts = [
        f'<text x="{_LABEL_WIDTH - 6}" y="{y + 12}" text-anchor="end">{escape(label)}</text>',
        f'<rect {bar} fill="{colour}"/>',
        f'<text x="{beside:.0f}" y="{y + 12}" text-anchor="{anchor}">{2**power:.2f}</text>',
    ]
    goal = _goal_ratio(found)
    if goal is not None:
        x = _x(_advantage(figure, goal))
        parts.append(
            f'<line x1="{x:.1f}" y1="{y + 1}" x2="{x:.1f}" y2="{y + _ROW_HEIGHT - 1}" '
            'stroke="black" stroke-width="1.5"/>'
        )
    return parts


def _advantage(figure: str, ratio: float) -> float:
    """How far ahead a ratio is, in powers of two."""
    return log2(ratio) if more_is_better(figure) else -log2(ratio)


def _goal_ratio(found: FigureJson) -> float | None:
    """The ratio in the text of a goal; None if it only names a value."""
    first = found["goal"].split(",")[0]
    return None if first.startswith("kbroker") else float(first.split()[1])


def _x(power: float) -> float:
    share = (min(max(power, _LOWEST), _HIGHEST) - _LOWEST) / (_HIGHEST - _LOWEST)
    return _LABEL_WIDTH + share * (_WIDTH - _LABEL_WIDTH - 60)
