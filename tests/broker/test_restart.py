"""What a broker knows when it comes back."""

from pathlib import Path

import pytest

from kbroker.server.serving import StartError
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from tests.broker.conversation import Conversation, batch, data_of


def test_topics_records_and_producers_survive_a_restart(tmp_path: Path):
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        topic_id = talk.create_topic("kept", partitions=2, retention_ms="-1")
        talk.produce("kept", batch(b"a", producer_id=5, sequence=0), partition=1)
        talk.connection.close()
    assert (tmp_path / ".kafka_cleanshutdown").exists()

    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        again = talk.produce("kept", batch(b"a", producer_id=5, sequence=0), partition=1)
        assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 0)
        assert talk.fetch_by_id(topic_id, 0).error_code == ErrorCode.NONE
        assert data_of(talk.fetch({("kept", 1): 0}))["kept", 1].high_watermark == 1
        talk.connection.close()


def test_two_brokers_cannot_share_a_directory(tmp_path: Path):
    with Broker(data_dir=str(tmp_path)):
        second = Broker(data_dir=str(tmp_path))
        with pytest.raises(BaseExceptionGroup) as caught:
            second.start()
        assert caught.group_contains(StartError, depth=None)


def test_a_directory_of_another_broker_is_refused(tmp_path: Path):
    with Broker(data_dir=str(tmp_path)):
        pass

    stranger = Broker(data_dir=str(tmp_path), configs={"node.id": "7"})
    with pytest.raises(BaseExceptionGroup) as caught:
        stranger.start()

    assert caught.group_contains(StartError, match=r"node\.id 1", depth=None)


def test_a_deleted_topic_is_gone_with_its_files_after_a_restart(tmp_path: Path):
    from kbroker.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse

    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("gone")
        talk.produce("gone", batch(b"a"))
        request = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=5000)
        answer = talk.connection.ask(request, DeleteTopicsResponse, version=5)
        assert answer.responses[0].error_code == ErrorCode.NONE
        talk.create_topic("gone")
        assert talk.produce("gone", batch(b"b")).base_offset == 0
        talk.connection.close()

    with Broker(data_dir=str(tmp_path)):
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith("gone")]
    assert left == ["gone-0"]
