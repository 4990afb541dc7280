"""What Kafka's names are called here."""

import keyword
import re


def snake_case(name: str) -> str:
    """``topicId`` and ``TopicId`` as topic_id, ``ISRNodes`` as isr_nodes."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


def attribute_name(name: str) -> str:
    """The attribute for Kafka's field ``name``."""
    attribute = snake_case(name)
    assert not keyword.iskeyword(attribute), name
    return attribute


def constant_name(name: str) -> str:
    """``ListOffsets`` as LIST_OFFSETS."""
    return snake_case(name).upper()
