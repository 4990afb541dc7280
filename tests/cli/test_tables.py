from hypothesis import given
from hypothesis import strategies as st

from kbroker.cli.tables import fitted_lines, or_unknown, plain_lines, print_table

HEADINGS = ("TOPIC", "PARTITIONS")
ROWS = [("orders", 3), ("a-rather-long-name", 12)]


def test_numbers_stand_to_the_right_and_text_to_the_left():
    assert fitted_lines(HEADINGS, ROWS, 80) == [
        "TOPIC               PARTITIONS",
        "orders                       3",
        "a-rather-long-name          12",
    ]


def test_the_widest_column_gives_way():
    assert fitted_lines(HEADINGS, ROWS, 24) == [
        "TOPIC         PARTITIONS",
        "orders                 3",
        "a-rather-lo…          12",
    ]


def test_a_table_without_rows_is_its_heading():
    assert fitted_lines(HEADINGS, [], 80) == ["TOPIC  PARTITIONS"]


def test_a_plain_table_is_never_cut():
    assert plain_lines([("x" * 300, 1)]) == ["x" * 300 + "\t1"]


def test_what_is_missing_is_a_dash():
    assert [or_unknown(value) for value in (None, "", 0, "x")] == ["-", "-", 0, "x"]


def test_output_that_is_no_terminal_is_plain(capsys):
    print_table(HEADINGS, ROWS)

    assert capsys.readouterr().out == "orders\t3\na-rather-long-name\t12\n"


@given(
    st.lists(
        st.tuples(st.text("abc", max_size=40), st.integers(0, 10**12), st.text("de")), max_size=5
    ),
    st.integers(13, 120),
)
def test_no_line_is_wider_than_the_terminal(rows, width):
    lines = fitted_lines(("A", "B", "C"), rows, width)

    assert len(lines) == len(rows) + 1
    assert max(map(len, lines)) <= width
