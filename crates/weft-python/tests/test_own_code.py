"""Controllers and schedulers that are Python classes."""

import json
import math

import polars
import pytest
import weft_lab
from delay_controller import DelayController
from shortest_wait import ShortestWait

ONE = {"wifi": "rate=4mbit,delay=20ms,queue=300ms"}
TWO = {"wifi": "rate=3mbit,delay=20ms", "lte": "rate=2mbit,delay=40ms"}


def throughput(results, system):
    summary = polars.DataFrame(results.summary())
    return summary.filter(system=system, metric="throughput_mbps")["mean"][0]


def test_a_constant_controller_gives_the_results_of_fixed():
    class Constant(weft_lab.Controller):
        def on_feedback(self, now, feedback):
            return 1e6

        pacing_gain = 2.5

    results = weft_lab.compare(
        ONE, ["single/mine", "single/fixed:1mbit"], seeds=1, duration=20,
        controllers={"mine": Constant},
    )
    mine, fixed = (throughput(results, name) for name in results.systems)
    assert mine == pytest.approx(fixed, rel=0.15) and mine < 1.3


def test_the_example_controller_fills_the_link_and_is_deterministic():
    def once(jobs):
        return weft_lab.compare(
            ONE, ["single/delay"], seeds=2, duration=20, jobs=jobs,
            controllers={"delay": DelayController},
        )

    one, two = once(1), once(2)
    assert one.to_json() == two.to_json()
    assert 0.3 < throughput(one, "single/delay") < 4.0


def test_feedback_has_aggregates_and_packets():
    seen = []

    class Watching(weft_lab.Controller):
        def on_feedback(self, now, feedback):
            seen.append((now, feedback))
            return self.start

    weft_lab.compare(
        {"wifi": "rate=4mbit,delay=20ms,loss=5%"}, ["single/mine"], seeds=1, duration=10,
        controllers={"mine": Watching}, jobs=1,
    )
    assert len(seen) > 50
    lost = sum(feedback.lost for _, feedback in seen)
    received = sum(feedback.received for _, feedback in seen)
    assert 0.02 < lost / (lost + received) < 0.10
    for now, feedback in seen:
        arrived = [packet for packet in feedback.packets if packet[1] is not None]
        assert len(arrived) == feedback.received
        assert len(feedback.packets) == feedback.received + feedback.lost
        assert sum(size for _, _, size in arrived) == feedback.received_bytes
        assert all(sent < now for sent, _, _ in feedback.packets)
        if feedback.delay is not None:
            mean = sum(arrival - sent for sent, arrival, _ in arrived) / len(arrived)
            assert feedback.delay == pytest.approx(mean) and feedback.delay > 0.019
    times = [now for now, _ in seen]
    assert times == sorted(times)


def raising(self, now, feedback):
    raise RuntimeError("my own fault")


@pytest.mark.parametrize(
    ("on_feedback", "cause", "text"),
    [
        (raising, RuntimeError, "my own fault"),
        (lambda self, now, feedback: math.nan, ValueError, "give a finite number"),
        (lambda self, now, feedback: -5.0, ValueError, "give a finite number"),
        (lambda self, now, feedback: None, weft_lab.LabError, "returned a NoneType"),
    ],
)
def test_a_bad_controller_fails_its_runs_and_keeps_the_others(on_feedback, cause, text, capfd):
    bad = type("Bad", (weft_lab.Controller,), {"on_feedback": on_feedback})
    with pytest.raises(weft_lab.RunError, match="2 of 4 runs failed") as error:
        weft_lab.compare(
            ONE, ["single/gcc", "single/bad"], seeds=2, duration=2, controllers={"bad": bad}
        )
    assert isinstance(error.value.__cause__, cause) and text in str(error.value.__cause__)
    results = error.value.results
    assert results.finished == 2 and len(results.failed) == 2
    system, seed, message = results.failed[0]
    assert (system, seed) == ("single/bad", 1) and text in message
    assert json.loads(results.to_json())["partial"] is True
    assert capfd.readouterr().err == ""


def test_a_controller_without_on_feedback_is_named():
    class Empty(weft_lab.Controller):
        pass

    with pytest.raises(weft_lab.RunError) as error:
        weft_lab.compare(ONE, ["single/mine"], seeds=1, duration=2, controllers={"mine": Empty})
    assert "Empty has no on_feedback" in str(error.value.__cause__)


def test_an_unknown_controller_lists_the_own_ones():
    with pytest.raises(weft_lab.ScenarioError, match="`mien`.*`mine`"):
        weft_lab.compare(ONE, ["weft/mien"], controllers={"mine": DelayController})


def test_a_scheduler_that_uses_one_path_leaves_the_other_idle():
    seen = set()

    class First(weft_lab.Scheduler):
        def assign(self, now, packets, paths):
            seen.add(packets.kind)
            return min(path.id for path in paths)

    results = weft_lab.compare(
        TWO, ["mine"], seeds=1, duration=10, schedulers={"mine": First}, jobs=1
    )
    assert {"keyframe", "delta"} <= seen
    summary = polars.DataFrame(results.summary())
    share = {
        link: summary.filter(metric=f"utilisation.{link}")["mean"][0] for link in TWO
    }
    # Only probes go over the second link.
    assert share["wifi"] > 0.5 and share["lte"] < 0.1, share


def test_the_example_scheduler_uses_both_paths_and_is_deterministic():
    def once(jobs):
        return weft_lab.compare(
            TWO, ["mine"], seeds=2, duration=20, jobs=jobs, schedulers={"mine": ShortestWait}
        )

    one, two = once(1), once(2)
    assert one.to_json() == two.to_json()
    assert 1.0 < throughput(one, "mine") < 5.0


@pytest.mark.parametrize(
    ("assign", "text"),
    [
        (lambda self, now, packets, paths: 77, "path 77, which is not one of"),
        (lambda self, now, packets, paths: [], "returned 0 paths for"),
        (lambda self, now, packets, paths: "wifi", "must return the id of a path"),
    ],
)
def test_a_bad_scheduler_fails_its_runs(assign, text):
    bad = type("Bad", (weft_lab.Scheduler,), {"assign": assign})
    with pytest.raises(weft_lab.RunError) as error:
        weft_lab.compare(TWO, ["bad"], seeds=1, duration=2, schedulers={"bad": bad})
    assert text in str(error.value.__cause__)
