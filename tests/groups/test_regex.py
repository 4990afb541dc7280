"""Regular expressions over topic names, in RE2's syntax and in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.groups.regex import InvalidRegexError, Regex


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("orders", "orders", "orders2"),
        ("orders.*", "orders-eu", "my-orders"),
        ("a|b|", "", "ab"),
        ("(a|b)+", "abba", ""),
        ("a?b{2}", "bb", "abbb"),
        ("a{1,3}", "aaa", "aaaa"),
        ("a{2,}", "aaaa", "a"),
        ("a{0}b", "b", "ab"),
        ("a{x}", "a{x}", "a"),
        ("a{,2}", "a{,2}", "aa"),
        ("a{1,x}", "a{1,x}", "a"),
        ("a{", "a{", "a"),
        ("a+?b*?c??", "aab", "b"),
        ("[a-c]x", "bx", "dx"),
        ("[^a-c]x", "dx", "bx"),
        ("[]a]", "]", "b"),
        ("[a-]", "-", "b"),
        (r"[\d_]+", "1_2", "a"),
        (r"[\]]", "]", "a"),
        ("[[:alpha:]]+", "abc", "ab1"),
        ("[[:^alpha:]]+", "12", "a"),
        (r"\w+\.\w+", "a.b", "a-b"),
        (r"\D\S\W", "ab.", "1b."),
        (r"\x41\-", "A-", "B-"),
        (r"\t", "\t", "t"),
        ("^a$", "a", "aa"),
        (r"\Aa\z", "a", "b"),
        (r"a\b-b", "a-b", "a.b"),
        (r"a\Bb", "ab", "a-b"),
        (r"\Qa.b\E+", "a.b+"[:3], "axb"),
        (r"\Qa.b", "a.b", "axb"),
        ("(?i)orders", "OrDers", "order"),
        ("(?i:a)b", "Ab", "AB"),
        ("(?i)[a-c]", "B", "d"),
        ("((?i)a)b", "Ab", "AB"),
        ("(?i-i:a)", "a", "A"),
        ("(?smU)a", "a", "A"),
        ("(?:ab)+", "abab", "aba"),
        ("(?P<x>a)(?<y>b)", "ab", "a"),
        ("(?i)(ab){2}", "AbaB", "ab"),
        ("(a*)*", "aaa", "b"),
        ("(^a|b$)*", "a", "c"),
        (".", "x", "\n"),
    ],
)
def test_an_expression_fits_the_whole_of_a_name(pattern: str, fits: str, does_not: str) -> None:
    assert Regex(pattern).matches(fits)
    assert not Regex(pattern).matches(does_not)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "a)",
        "(a",
        "[a",
        "[",
        "*a",
        "a**",
        "a+*",
        "a{2}{3}",
        "a{3,2}",
        "a{1001}",
        "a{1,1001}",
        "\\",
        r"\1",
        r"\pL",
        r"\x4",
        r"\xzz",
        "[b-a]",
        r"[a-\d]",
        "[[:nope:]]",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        "(?P<1>a)",
        "(?P=x)",
        "(?i--s)",
        "(?i",
        "(a{100}){100}",
        "(" * 101 + ")" * 101,
    ],
)
def test_what_re2_would_not_take_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRegexError):
        Regex(pattern)


def test_no_expression_makes_matching_slow() -> None:
    """Each of them takes a backtracking matcher longer than the universe has existed."""
    name = "a" * 249

    assert not Regex("(a+)+b").matches(name)
    assert not Regex("(a|a)*b").matches(name)
    assert not Regex("a?" * 249 + "b").matches(name)


PIECES = ["a", "b", ".", "-", "[ab]", "[^a]", r"\w", r"\.", "^", "$", r"\b", "ab"]


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(PIECES),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map("|".join),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}"])).map(
                lambda pair: f"({pair[0]}){pair[1]}"
            ),
            inner.map(lambda text: f"(?:{text})"),
        ),
        max_leaves=6,
    )


@given(expressions(), st.text("ab.-", max_size=6))
def test_it_agrees_with_python_where_both_understand(pattern: str, name: str) -> None:
    # Python's $ also fits before a last line end, which no name has.
    assert Regex(pattern).matches(name) == (re.fullmatch(pattern, name) is not None)
