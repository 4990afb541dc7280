from kbroker.cluster import (
    NewTopic,
    ProducerIdBlock,
    claim_controller,
    create_cluster,
    lead_sole_replicas,
    next_producer_id_block,
    register_broker,
)
from kbroker.cluster.change import Change, DeleteKey
from kbroker.cluster.keys import ConfigResource, ResourceType
from kbroker.cluster.values import ProducerIdsValue
from tests.cluster.world import World, broker_value, world


def test_a_cluster_is_created_once():
    w = World()

    assert w.write(create_cluster("first", {"metadata.version": 30}))
    assert not w.write(create_cluster("second", {}))
    assert w.image.cluster_id == "first"
    assert w.image.features.levels == {"metadata.version": 30}
    assert w.image.configs == {}


def test_a_cluster_begins_with_configs_for_all_brokers():
    w = World()

    assert w.write(create_cluster("first", {}, {"min.insync.replicas": "2"}))

    all_brokers = ConfigResource(ResourceType.BROKER, "")
    assert w.image.configs == {all_brokers: {"min.insync.replicas": "2"}}


def test_a_registered_broker_is_in_the_image_with_its_epoch():
    w = World()

    assert w.write(register_broker(broker_value(3, rack="r")))

    broker = w.image.brokers[3]
    assert (broker.host, broker.port, broker.rack) == ("localhost", 9095, "r")
    assert broker.epoch == w.keys["brokers/3"].create_revision == w.revision
    assert broker.endpoint("PLAINTEXT") == broker.endpoints[0]
    assert broker.endpoint("OTHER") is None
    assert w.deltas[-1].brokers == {3}


def test_a_broker_cannot_register_twice():
    w = world()

    assert not w.write(register_broker(broker_value(1)))


def test_registrations_and_claims_hang_on_the_lease_of_the_broker():
    for change in (register_broker(broker_value(1)), claim_controller(1)):
        assert all(write.leased for write in change.writes)


def test_there_is_one_controller():
    w = world(brokers=2)
    assert (w.image.controller_id, w.image.controller_epoch) == (1, w.fence.revision)

    assert not w.write(claim_controller(2))
    assert w.write(Change((), (DeleteKey("controller"),)))
    assert w.image.controller_id == -1
    assert w.write(claim_controller(2))
    assert w.image.controller_id == 2


def test_a_broker_that_restarts_leads_its_own_partitions_in_a_new_epoch():
    """M2: one leader change, one epoch."""
    w = world(brokers=2)
    w.create(NewTopic("one", 3, 1), NewTopic("two", 2, 2))
    before = {t.name: t.partitions for t in w.image.topics.values()}

    assert w.write(lead_sole_replicas(w.image, 1, w.fence))

    for name, partitions in before.items():
        for old, new in zip(partitions, w.image.topics[name].partitions, strict=True):
            moved = int(old.replicas == (1,))
            assert new.leader_epoch == old.leader_epoch + moved
            assert new.partition_epoch == old.partition_epoch + moved
            assert new.leader == old.leader
            assert new.isr == old.isr


def test_a_partition_that_changed_meanwhile_stops_its_chunk():
    """M1: the partition's own revision is compared."""
    w = world()
    w.create(NewTopic("a", 2))
    change = lead_sole_replicas(w.image, 1, w.fence)
    assert w.write(lead_sole_replicas(w.image, 1, w.fence))

    assert not w.write(change)
    assert [p.leader_epoch for p in w.image.topics["a"].partitions] == [1, 1]


def test_many_partitions_are_led_in_chunks_of_a_hundred():
    """M9"""
    w = world()
    w.create(NewTopic("a", 1001))
    change = lead_sole_replicas(w.image, 1, w.fence)

    assert [len(chunk.writes) for chunk in change.chunks()] == [100] * 10 + [1]
    assert w.write(change)
    assert {p.leader_epoch for p in w.image.topics["a"].partitions} == {1}


def test_producer_id_blocks_follow_each_other():
    """P11: no id is handed out twice."""
    w = world()
    blocks = []
    for _ in range(3):
        decision = next_producer_id_block(w.image, node_id=1, broker_epoch=5)
        assert w.write(decision.change)
        blocks.append(decision.results)

    assert blocks == [ProducerIdBlock(0), ProducerIdBlock(1000), ProducerIdBlock(2000)]
    assert w.image.next_producer_id == 3000


def test_two_brokers_cannot_take_the_same_block():
    """P11, M1: also when both have seen the same image."""
    w = world(brokers=2)
    for _ in range(2):
        first = next_producer_id_block(w.image, node_id=1, broker_epoch=5)
        second = next_producer_id_block(w.image, node_id=2, broker_epoch=6)
        assert w.write(first.change)
        assert not w.write(second.change)


def test_the_last_producer_id_is_the_last():
    w = world()
    w.put("producer-ids", ProducerIdsValue(2**63 - 1000).encode())

    decision = next_producer_id_block(w.image, node_id=1, broker_epoch=5)

    assert decision.results.error == "UNKNOWN_SERVER_ERROR"
    assert not decision.change
