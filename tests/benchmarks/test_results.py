"""What the suite makes of its figures: goals, ratios, merged rows, a table and a picture."""

from xml.etree import ElementTree as ET

from benchmarks.measuring.figures import Goal, Spread, ratio, spreads
from benchmarks.suite.chart import chart
from benchmarks.suite.report import page, summary
from benchmarks.suite.results import load, name_of, row_json, save
from benchmarks.suite.rounds import Rounds, Row
from benchmarks.suite.workload import Lab, Workload

GOALS = {"records/s": Goal(1.2), "p99 ms": Goal(0.7, value=20.0)}


def a_row(name="small records", ours=150.0, p99_ms=5.0):
    workload = Workload("produce", name, lambda _lab, _side, _scale: {}, GOALS)
    return Row(
        workload,
        sides={
            "kafka": spreads([{"records/s": 100.0, "p99 ms": 10.0}]),
            "kbroker": spreads([{"records/s": ours, "p99 ms": p99_ms}]),
        },
    )


def results_of(*rows):
    return {
        "settings": {"kbroker": "its defaults"},
        "runs": {"1": {"commit": "abc"}},
        "rows": {name_of("produce", row.workload.name): row_json(row, "1") for row in rows},
    }


def test_figures_of_several_runs_become_their_median_and_spread():
    found = spreads([{"p99 ms": 3.0}, {"p99 ms": 1.0}, {"p99 ms": 2.0}])

    assert found == {"p99 ms": Spread(median=2.0, low=1.0, high=3.0, runs=3)}


def test_of_a_rate_more_is_better_and_of_all_else_less():
    assert Goal(1.2).is_met("records/s", 120.0, 1.2)
    assert not Goal(1.2).is_met("records/s", 119.0, 1.19)
    assert Goal(0.7).is_met("p99 ms", 7.0, 0.7)
    assert not Goal(0.7).is_met("p99 ms", 7.1, 0.71)


def test_a_goal_may_ask_for_a_value_beside_the_ratio():
    goal = Goal(0.7, value=20.0)

    assert goal.text("p99 ms") == "<= 0.7, kbroker <= 20"
    assert not goal.is_met("p99 ms", 21.0, 0.5)


def test_without_a_ratio_the_goal_is_not_met():
    assert ratio(1.0, 0.0) is None
    assert not Goal(0.7).is_met("p99 ms", 1.0, None)


def test_a_row_says_how_kbroker_stands():
    figure = row_json(a_row(), "1")["figures"]["records/s"]

    assert figure["ratio"] == 1.5
    assert figure["goal"] == ">= 1.2"
    assert figure["met"] is True


def test_a_row_that_failed_on_kbroker_meets_no_goal():
    row = a_row()
    del row.sides["kbroker"]

    assert row_json(row, "1")["figures"]["records/s"]["met"] is False


def test_what_was_saved_is_loaded_again_without_runs_that_no_row_is_left_of(tmp_path):
    results = results_of(a_row())
    results["runs"]["0"] = {"commit": "old"}

    save(tmp_path / "new" / "results.json", results)

    assert load(tmp_path / "new" / "results.json") == results
    assert results["runs"].keys() == {"1"}


def test_goals_that_are_not_met_are_named():
    text = summary(results_of(a_row(), a_row("slow", ours=110.0)))

    assert text.startswith("3 of 4 goals are met.")
    assert "produce: slow: records/s 1.10, goal >= 1.2" in text


def test_the_page_shows_failures_in_their_rows():
    row = a_row()
    row.failures["kfake"] = "RuntimeError: a | b"

    assert "kfake failed: RuntimeError: a / b" in page(results_of(row))


def test_the_picture_is_well_formed_and_has_a_bar_for_every_goal():
    picture = ET.fromstring(chart(results_of(a_row("a < b"))))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]

    assert "produce: a < b: records/s" in texts
    assert "produce: a < b: p99 ms" in texts


def test_a_run_that_fails_is_told_in_its_row_and_the_other_side_goes_on():
    def run(_lab, side, _scale):
        if side.name == "kafka":
            raise RuntimeError("first words\nlast words")
        return {"records/s": 1.0}

    workload = Workload("produce", "half", run, warm_up=False)
    row = Rounds(Lab(), rounds=2, scale=1.0, say=lambda _text: None).run(workload)

    assert row.failures == {"kafka": "last words"}
    assert row.sides["kbroker"]["records/s"].runs == 2
