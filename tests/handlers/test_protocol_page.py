"""docs/protocol.md says what the table of handlers says."""

from tools.generate_protocol_page import PAGE, page


def test_the_protocol_page_is_fresh():
    assert PAGE.read_text() == page(), "run `make generate`"


def test_the_page_names_every_api_of_the_broker_listener():
    rows = [line for line in page().splitlines() if line.startswith("| ") and line[2].isdigit()]

    assert len(rows) == 79
