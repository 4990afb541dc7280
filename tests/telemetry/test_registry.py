import pytest

from kbroker.telemetry import Registry, Sample, registry, render


def test_the_same_name_and_labels_are_the_same_meter():
    meters = Registry()
    first = meters.counter("requests_total", "Requests.", api="Produce", listener="a")
    again = meters.counter("requests_total", "Requests.", listener="a", api="Produce")
    other = meters.counter("requests_total", "Requests.", api="Fetch", listener="a")

    first.value += 2
    assert again is first
    assert other is not first
    assert Sample("requests_total", (("api", "Produce"), ("listener", "a")), 2) in list(
        meters.samples()
    )


def test_a_name_has_one_kind():
    meters = Registry()
    meters.counter("requests_total", "Requests.")

    with pytest.raises(AssertionError, match="is a counter"):
        meters.gauge("requests_total", "Requests.")


def test_a_name_is_lower_case_letters_digits_and_underscores():
    with pytest.raises(AssertionError, match="no name for a metric"):
        Registry().counter("requests-total", "Requests.")


def test_a_reading_is_taken_when_asked():
    meters = Registry()
    connections = []
    meters.reading("connections", "Open connections.", lambda: len(connections))

    connections += ["a", "b"]
    assert Sample("connections", (), 2) in list(meters.samples())


def test_a_forgotten_meter_is_shown_no_more():
    meters = Registry()
    meters.gauge("log_bytes", "Size.", topic="a").value = 3
    meters.forget("log_bytes", topic="a")
    meters.forget("log_bytes", topic="never seen")
    meters.forget("nobody knows me")

    assert all(sample.name != "log_bytes" for sample in meters.samples())


def test_names_invented_by_clients_do_not_grow_the_registry(monkeypatch):
    monkeypatch.setattr(registry, "MAX_SERIES_PER_NAME", 3)
    meters = Registry()
    for number in range(5):
        meters.counter("requests_total", "Requests.", client=f"client-{number}").value += 1

    shown = [sample for sample in meters.samples() if sample.name == "requests_total"]
    assert len(shown) == 3
    assert meters.unlisted.value == 2


def test_a_page_reads_as_prometheus_wants_it():
    meters = Registry()
    meters.counter("requests_total", "Requests\nby API.", api='a"b\\c\nd').value += 7
    meters.gauge("load", "Load.").value = 0.5
    meters.gauge("uptime_s", "Uptime.").value = float("inf")
    histogram = meters.histogram("size_bytes", "Sizes.", (1, 10), topic="t")
    for value in (1, 5, 50):
        histogram.record(value)

    assert render(meters, prefix="k_").splitlines() == [
        "# HELP k_load Load.",
        "# TYPE k_load gauge",
        "k_load 0.5",
        "# HELP k_requests_total Requests\\nby API.",
        "# TYPE k_requests_total counter",
        'k_requests_total{api="a\\"b\\\\c\\nd"} 7',
        "# HELP k_size_bytes Sizes.",
        "# TYPE k_size_bytes histogram",
        'k_size_bytes_bucket{topic="t",le="1"} 1',
        'k_size_bytes_bucket{topic="t",le="10"} 2',
        'k_size_bytes_bucket{topic="t",le="+Inf"} 3',
        'k_size_bytes_sum{topic="t"} 56',
        'k_size_bytes_count{topic="t"} 3',
        "# HELP k_telemetry_unlisted_meters_total Meters left out because their name has too many.",
        "# TYPE k_telemetry_unlisted_meters_total counter",
        "k_telemetry_unlisted_meters_total 0",
        "# HELP k_uptime_s Uptime.",
        "# TYPE k_uptime_s gauge",
        "k_uptime_s +Inf",
    ]


def test_a_histogram_keeps_its_bounds():
    meters = Registry()
    meters.histogram("size_bytes", "Sizes.", (1, 10))

    with pytest.raises(AssertionError, match="other bounds"):
        meters.histogram("size_bytes", "Sizes.", (1, 20))
