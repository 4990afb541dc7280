"""ApiVersions, and frames that are no request, or none that a broker knows."""

from compat_tests.differential.run import Run
from kbroker.wire.messages.api_versions import ApiVersionsRequest


def api_versions(run: Run) -> None:
    for version in range(5):
        run.ask(
            f"api versions v{version}",
            ApiVersionsRequest(client_software_name="differential", client_software_version="1.0"),
            version,
        )
    for kind, name, number in (
        ("empty names", "", ""),
        ("a name with a blank", "a b", "1.0"),
        ("a name that ends in a dot", "a.", "1.0"),
        ("a version with a slash", "a", "1/0"),
        ("one letter", "a", "1"),
    ):
        run.ask(
            f"api versions with {kind}",
            ApiVersionsRequest(client_software_name=name, client_software_version=number),
            3,
        )


def frames(run: Run) -> None:
    """What comes back for bytes that are no request."""
    run.send_raw("frame of no bytes", _frame(b""))
    run.send_raw("frame of three bytes", _frame(b"\x00\x12\x00"))
    run.send_raw("frame of negative length", b"\xff\xff\xff\xff")
    run.send_raw("frame of two gigabytes", b"\x7f\xff\xff\xff")
    run.send_raw("frame beyond socket.request.max.bytes", (104857601).to_bytes(4, "big"))
    run.send_raw("an HTTP request", b"GET / HTTP/1.1\r\n\r\n")
    run.send_raw("a TLS greeting", bytes.fromhex("16030100a5010000a10303") + bytes(160))
    # Keys: unknown, of ZooKeeper's days, of the controllers' listener; versions: too new, too old.
    for name, key, version in (
        ("an unknown key", 999, 0),
        ("a negative key", -1, 0),
        ("LeaderAndIsr", 4, 0),
        ("Vote", 52, 0),
        ("Metadata of a version to come", 3, 99),
        ("Metadata of a negative version", 3, -1),
        ("Produce v2", 0, 2),
        ("Fetch v3", 1, 3),
        ("ListOffsets v0", 2, 0),
        ("CreateTopics v1", 19, 1),
    ):
        run.send_raw(name, _frame(_header(key, version)))
    _odd_requests(run)
    run.send_raw("ApiVersions v99", _frame(_header(18, 99)))
    run.send_raw("ApiVersions v-1", _frame(_header(18, -1)))
    run.send_raw("Metadata v1 that ends too early", _frame(_header(3, 1) + b"\x00\x00"))
    run.send_raw("Metadata v1 of two billion topics", _frame(_header(3, 1) + b"\x7f\xff\xff\xff"))
    run.send_raw("Metadata v0 with null topics", _frame(_header(3, 0) + b"\xff\xff\xff\xff"))


def _odd_requests(run: Run) -> None:
    """ListOffsets of nothing, whose answer is the same everywhere, said in odd ways."""
    nothing = _header(2, 1) + b"\xff\xff\xff\xff" + b"\x00\x00\x00\x00"
    run.send_raw("ListOffsets v1 of nothing", _frame(nothing))
    run.send_raw("a request with bytes behind it", _frame(nothing + b"more"))
    run.send_raw("two requests at once", _frame(nothing) * 2)
    nameless = nothing[:8] + b"\xff\xff" + nothing[11:]
    run.send_raw("a client without id", _frame(nameless))
    run.send_raw("a client id that is no UTF-8", _frame(nothing[:10] + b"\xff" + nothing[11:]))
    run.send_raw("a client id of length -2", _frame(nothing[:8] + b"\xff\xfe" + nothing[11:]))
    run.send_raw("a client id beyond the frame", _frame(nothing[:8] + b"\x7f\xff" + nothing[11:]))
    body = b"\xff\xff\xff\xff" + b"\x00" + b"\x01"
    for name, header_tags, body_tags in (
        ("no tags", b"\x00", b"\x00"),
        ("an unknown tag in the header", b"\x01\x63\x02hi", b"\x00"),
        ("an unknown tag", b"\x00", b"\x01\x63\x02hi"),
        ("tags out of order", b"\x00", b"\x02\x63\x00\x62\x00"),
        ("a tag twice", b"\x00", b"\x02\x63\x00\x63\x00"),
        ("a tag beyond the frame", b"\x00", b"\x01\x63\x20hi"),
    ):
        request = _header(2, 6) + header_tags + body + body_tags
        run.send_raw(f"ListOffsets v6 with {name}", _frame(request))
    null_topics = _header(2, 6) + b"\x00" + body[:5] + b"\x00\x00"
    run.send_raw("ListOffsets v6 with null topics", _frame(null_topics))


def _header(key: int, version: int) -> bytes:
    """Key, version, correlation id 7, client id "x"."""
    return (
        key.to_bytes(2, "big", signed=True)
        + version.to_bytes(2, "big", signed=True)
        + b"\x00\x00\x00\x07\x00\x01x"
    )


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body
