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
    run.send_raw("ApiVersions v99", _frame(_header(18, 99)))
    run.send_raw("ApiVersions v-1", _frame(_header(18, -1)))
    run.send_raw("Metadata v1 that ends too early", _frame(_header(3, 1) + b"\x00\x00"))
    run.send_raw("Metadata v1 of two billion topics", _frame(_header(3, 1) + b"\x7f\xff\xff\xff"))
    run.send_raw("Metadata v0 with null topics", _frame(_header(3, 0) + b"\xff\xff\xff\xff"))


def _header(key: int, version: int) -> bytes:
    """Key, version, correlation id 7, client id "x"."""
    return (
        key.to_bytes(2, "big", signed=True)
        + version.to_bytes(2, "big", signed=True)
        + b"\x00\x00\x00\x07\x00\x01x"
    )


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body
