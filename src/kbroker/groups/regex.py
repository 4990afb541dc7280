"""Regular expressions over topic names, matched in linear time.

Any client may subscribe with an expression, and every topic of the cluster is held
against it inside the broker. Kafka takes RE2 for that, because it cannot be made
to take exponential time; Python's ``re`` can, and knows constructs that RE2 does
not. So this is a small matcher of its own: the syntax of RE2 that topic names can
need, and the simulation of all paths at once (Thompson 1968), whose cost is the
length of the name times the size of the expression.

Understood: literals, ``.``, classes with ranges, ``\\d \\w \\s`` and their opposites,
``[[:alpha:]]``, ``|``, groups of all kinds that RE2 has, ``* + ? {n,m}`` with or without
``?``, ``^ $ \\A \\z \\b \\B``, ``\\Q...\\E``, the flag ``i`` (``s``, ``m`` and ``U`` change nothing
for a name without line ends). Refused: what RE2 refuses (backreferences, looking
around), and Unicode classes, since no topic name has other letters than ASCII.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import Final

# How many times a part may be repeated by {n,m}, as in RE2.
_MOST_REPEATS: Final = 1_000
# How many instructions an expression may come to. It bounds the work for each letter of a name.
_LARGEST_PROGRAM: Final = 2_000
# Brackets deeper than this are nobody's subscription, and would exhaust the stack.
_DEEPEST: Final = 100

_ALL: Final = frozenset(map(chr, range(128)))
_DIGITS: Final = frozenset(string.digits)
_WORD: Final = frozenset(string.ascii_letters + string.digits + "_")
_SPACE: Final = frozenset("\t\n\f\r ")
_SHORTHANDS: Final = {
    "d": _DIGITS,
    "D": _ALL - _DIGITS,
    "w": _WORD,
    "W": _ALL - _WORD,
    "s": _SPACE,
    "S": _ALL - _SPACE,
}
_NAMED: Final = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "ascii": _ALL,
    "blank": frozenset("\t "),
    "digit": _DIGITS,
    "lower": frozenset(string.ascii_lowercase),
    "punct": frozenset(string.punctuation),
    "space": _SPACE | {"\v"},
    "upper": frozenset(string.ascii_uppercase),
    "word": _WORD,
    "xdigit": frozenset(string.hexdigits),
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class InvalidRegexError(Exception):
    """An expression that is not one, or that goes beyond what is understood."""


# What an expression is made of; a program is a graph of them.
@dataclass(eq=False, slots=True)
class _Step:
    """Takes one letter out of ``letters``; without any, goes on to all that follow at once."""

    letters: frozenset[str] | None
    following: list[_Step] = field(default_factory=list)
    # "start", "end", "edge" or "inside": a place that must be so to go on; None: any.
    place: str | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the graph with one way in and one way out."""

    first: _Step
    last: _Step


class Regex:
    """A compiled expression. InvalidRegexError if ``pattern`` is none."""

    __slots__ = ("_accept", "_start")

    def __init__(self, pattern: str) -> None:
        whole = _Parser(pattern).parse()
        self._start = whole.first
        self._accept = whole.last

    def matches(self, name: str) -> bool:
        """Whether the whole of ``name`` fits."""
        current = _closure([self._start], name, 0)
        for position, letter in enumerate(name):
            advanced = [
                following
                for step in current
                if step.letters is not None and letter in step.letters
                for following in step.following
            ]
            if not advanced:
                return False
            current = _closure(advanced, name, position + 1)
        return self._accept in current


def _closure(steps: list[_Step], name: str, position: int) -> set[_Step]:
    """Every step that can be reached from ``steps`` without taking a letter."""
    reached: set[_Step] = set()
    waiting = steps
    while waiting:
        step = waiting.pop()
        if step in reached or not _is_place(step.place, name, position):
            continue
        reached.add(step)
        if step.letters is None:
            waiting.extend(step.following)
    return reached


def _is_place(place: str | None, name: str, position: int) -> bool:
    match place:
        case None:
            return True
        case "start":
            return position == 0
        case "end":
            return position == len(name)
    before = position > 0 and name[position - 1] in _WORD
    after = position < len(name) and name[position] in _WORD
    return (before != after) == (place == "edge")


class _Parser:
    """Reads an expression from left to right, by recursive descent."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._steps = 0
        self._depth = 0
        self._any_case = False

    def parse(self) -> _Part:
        whole = self._alternatives()
        if self._at < len(self._pattern):
            raise InvalidRegexError("unexpected )")
        return whole

    # The grammar.

    def _alternatives(self) -> _Part:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InvalidRegexError("nested too deeply")
        flags = self._any_case  # A flag that is set inside a group ends with it.
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self._any_case = flags
        self._depth -= 1
        return branches[0] if len(branches) == 1 else self._either(branches)

    def _sequence(self) -> _Part:
        whole = self._empty()
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            whole = self._join(whole, self._repeated())
        return whole

    def _repeated(self) -> _Part:
        start = self._at
        part = self._atom()
        end = self._at
        times = self._quantifier()
        if times is not None:
            self._take("?")  # Greedy or not makes no difference to whether a name fits.
            part = self._repeat(part, self._pattern[start:end], *times)
            if self._quantifier() is not None:
                raise InvalidRegexError("a repetition of a repetition needs brackets")
        return part

    def _quantifier(self) -> tuple[int, int | None] | None:
        for sign, times in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return times
        return self._counted()

    def _counted(self) -> tuple[int, int | None] | None:
        """``{n}``, ``{n,}`` or ``{n,m}``; anything else with a brace is text, as in RE2."""
        end = self._pattern.find("}", self._at)
        if end < 0 or not self._ahead("{"):
            return None
        low, comma, high = self._pattern[self._at + 1 : end].partition(",")
        if not _is_number(low) or not (high == "" or _is_number(high)):
            return None
        self._at = end + 1
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if least > _MOST_REPEATS or (most is not None and not least <= most <= _MOST_REPEATS):
            raise InvalidRegexError("bad repetition count")
        return least, most

    def _atom(self) -> _Part:
        letter = self._next()
        match letter:
            case "(":
                return self._group()
            case "[":
                return self._one_of(self._letter_class())
            case ".":
                return self._one_of(_ALL - {"\n"})
            case "^":
                return self._at_place("start")
            case "$":
                return self._at_place("end")
            case "\\":
                return self._escaped()
            case "*" | "+" | "?":
                raise InvalidRegexError(f"nothing before {letter}")
        return self._one_of(frozenset(letter))

    def _group(self) -> _Part:
        around = self._any_case
        if self._take("?"):
            if self._take("P<") or (self._ahead("<") and not self._ahead("<=", "<!")):
                name, _, _ = self._pattern[self._at :].partition(">")
                self._at += len(name) + 1
                if not name.lstrip("<").isidentifier():
                    raise InvalidRegexError("bad name of a group")
            elif not self._flags():
                return self._empty()
        inner = self._alternatives()
        if not self._take(")"):
            raise InvalidRegexError("missing )")
        self._any_case = around
        return inner

    def _flags(self) -> bool:
        """``(?i:`` or ``(?i)``; whether a group follows."""
        on, any_case = True, self._any_case
        while True:
            match self._next():
                case "i":
                    any_case = on
                case "s" | "m" | "U":
                    pass
                case "-" if on:
                    on = False
                case ":":
                    self._any_case = any_case
                    return True
                case ")":
                    self._any_case = any_case
                    return False
                case other:
                    raise InvalidRegexError(f"unknown group (?{other}")

    def _escaped(self) -> _Part:
        letter = self._next()
        match letter:
            case "A":
                return self._at_place("start")
            case "z":
                return self._at_place("end")
            case "b":
                return self._at_place("edge")
            case "B":
                return self._at_place("inside")
            case "Q":
                text, _, _ = self._pattern[self._at :].partition("\\E")
                self._at = min(len(self._pattern), self._at + len(text) + 2)
                whole = self._empty()
                for each in text:
                    whole = self._join(whole, self._one_of(frozenset(each)))
                return whole
        return self._one_of(self._escaped_letters(letter))

    def _escaped_letters(self, letter: str) -> frozenset[str]:
        if letter in _SHORTHANDS:
            return _SHORTHANDS[letter]
        if letter in _CONTROLS:
            return frozenset(_CONTROLS[letter])
        if letter == "x":
            digits = self._next() + self._next()
            if not all(digit in string.hexdigits for digit in digits):
                raise InvalidRegexError("bad \\x escape")
            return frozenset(chr(int(digits, 16)))
        if letter in _WORD:
            raise InvalidRegexError(f"unknown escape \\{letter}")
        return frozenset(letter)

    def _letter_class(self) -> frozenset[str]:
        """What stands between ``[`` and ``]``."""
        negated = self._take("^")
        letters: set[str] = set()
        first = True
        while first or not self._take("]"):
            first = False
            low = self._class_item()
            if len(low) == 1 and self._ahead("-") and not self._ahead("-]"):
                self._take("-")
                high = self._class_item()
                if len(high) != 1 or min(high) < min(low):
                    raise InvalidRegexError("bad range in a class")
                letters.update(map(chr, range(ord(min(low)), ord(min(high)) + 1)))
            else:
                letters |= low
        if self._any_case:
            letters |= {each.swapcase() for each in letters}
        return _ALL - letters if negated else frozenset(letters)

    def _class_item(self) -> frozenset[str]:
        if self._take("[:"):
            name, _, _ = self._pattern[self._at :].partition(":]")
            self._at += len(name) + 2
            letters = _NAMED.get(name.removeprefix("^"))
            if letters is None:
                raise InvalidRegexError(f"unknown class [:{name}:]")
            return _ALL - letters if name.startswith("^") else letters
        letter = self._next()
        return self._escaped_letters(self._next()) if letter == "\\" else frozenset(letter)

    # The text.

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise InvalidRegexError("it ends too early")
        letter = self._pattern[self._at]
        self._at += 1
        return letter

    def _ahead(self, *texts: str) -> bool:
        return self._pattern.startswith(texts, self._at)

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    # The graph.

    def _step(self, letters: frozenset[str] | None, place: str | None = None) -> _Step:
        self._steps += 1
        if self._steps > _LARGEST_PROGRAM:
            raise InvalidRegexError("expression too large")
        return _Step(letters, place=place)

    def _empty(self) -> _Part:
        step = self._step(None)
        return _Part(step, step)

    def _at_place(self, place: str) -> _Part:
        step = self._step(None, place)
        return _Part(step, step)

    def _one_of(self, letters: frozenset[str]) -> _Part:
        if self._any_case:
            letters |= {each.swapcase() for each in letters}
        step, last = self._step(letters), self._step(None)
        step.following.append(last)
        return _Part(step, last)

    def _join(self, left: _Part, right: _Part) -> _Part:
        left.last.following.append(right.first)
        return _Part(left.first, right.last)

    def _either(self, branches: list[_Part]) -> _Part:
        first, last = self._step(None), self._step(None)
        for branch in branches:
            first.following.append(branch.first)
            branch.last.following.append(last)
        return _Part(first, last)

    def _repeat(self, part: _Part, source: str, least: int, most: int | None) -> _Part:
        """``part`` as often as asked for; further copies are parsed from ``source`` again."""
        whole = self._empty()
        copies = [part]

        def copy() -> _Part:
            return copies.pop() if copies else self._parsed_again(source)

        for _ in range(least):
            whole = self._join(whole, copy())
        if most is None:
            loop = copy()
            again = self._empty()
            again.first.following.append(loop.first)
            loop.last.following.append(again.first)
            # The way out of a loop is a step of its own, or the loop would go on behind it.
            return self._join(self._join(whole, again), self._empty())
        last = self._empty()
        for _ in range(most - least):
            whole.last.following.append(last.first)
            whole = self._join(whole, copy())
        return self._join(whole, last)

    def _parsed_again(self, source: str) -> _Part:
        inner = _Parser(source)
        inner._any_case, inner._depth, inner._steps = self._any_case, self._depth, self._steps
        part = inner._atom()
        self._steps = inner._steps
        return part


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
