"""Metadata that is kept as bytes is never older than the cluster."""

from kbroker.broker.kept_answers import KeptAnswers, KeptResponse
from kbroker.wire.headers import encode_response_frame
from kbroker.wire.messages.metadata import MetadataResponse, MetadataResponseTopic

VERSION = 12


class Describer:
    """Makes an answer, a different one each time, and counts them."""

    def __init__(self, topics: int = 1) -> None:
        self.made = 0
        self._topics = topics

    def __call__(self) -> KeptResponse:
        self.made += 1
        topic = MetadataResponseTopic(name=f"{self.made}".rjust(10_000, "t"))
        return KeptResponse(topics=[topic] * self._topics)


def ask(kept: KeptAnswers, describe: Describer, question: object = "all", revision: int = 1):
    return kept.get(question, describe, version=VERSION, revision=revision)


def test_the_same_question_has_the_same_answer_until_the_cluster_changes():
    kept, describe = KeptAnswers(), Describer()

    first = ask(kept, describe)
    assert ask(kept, describe) is first
    assert ask(kept, describe, revision=2) is not first
    assert describe.made == 2


def test_another_question_has_another_answer():
    kept, describe = KeptAnswers(), Describer()

    assert ask(kept, describe, "one") is not ask(kept, describe, "other")


def test_a_kept_answer_is_sent_as_any_other_however_often():
    answer = KeptResponse(topics=[MetadataResponseTopic(name="t")])
    plain = MetadataResponse(topics=[MetadataResponseTopic(name="t")])

    for correlation_id in (1, 2, 3):
        frame = encode_response_frame(correlation_id, answer, VERSION)
        assert frame == encode_response_frame(correlation_id, plain, VERSION)


def test_many_questions_do_not_take_more_and_more_memory():
    kept, describe = KeptAnswers(), Describer()

    for number in range(1000):
        ask(kept, describe, number)

    assert len(kept._answers) <= 64


def test_large_answers_do_not_take_more_and_more_memory():
    kept, describe = KeptAnswers(), Describer(topics=105)  # a megabyte

    for number in range(40):
        ask(kept, describe, number)

    assert len(kept._answers) <= 16
