from kbroker.cluster import Change, KeyMissing, KeyModifiedAt, PutKey, controller_fence


def test_a_change_without_writes_is_false():
    assert not Change((KeyMissing("a"),))
    assert list(Change((KeyMissing("a"),)).chunks()) == []


def test_a_small_change_is_one_chunk():
    change = Change((controller_fence(5), KeyMissing("a")), (PutKey("a", b""),))

    assert list(change.chunks()) == [change]


def test_each_chunk_has_the_fence_and_what_its_own_keys_expect():
    """M1, M9: every transaction is fenced, and none has more than its share."""
    fence = controller_fence(5)
    count = 250
    change = Change(
        (fence, *(KeyModifiedAt(f"k{n}", n) for n in range(count))),
        tuple(PutKey(f"k{n}", b"") for n in range(count)),
    )

    chunks = list(change.chunks())

    assert [len(chunk.writes) for chunk in chunks] == [100, 100, 50]
    assert sum((chunk.writes for chunk in chunks), ()) == change.writes
    for chunk in chunks:
        assert chunk.expectations[0] == fence
        assert [e.key for e in chunk.expectations[1:]] == [w.key for w in chunk.writes]
        assert len(chunk.expectations) <= 127
