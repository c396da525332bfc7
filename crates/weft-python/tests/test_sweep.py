"""Sweeps: grids, and worker processes that die."""

import multiprocessing
import os
import pathlib
import signal
import subprocess

import pytest
import weft_lab
import weft_lab.ray
from conftest import of_any_version
from delay_controller import DelayController

GRID = {"links.wifi.delay": ["10ms", "50ms"], "links.wifi.loss": ["0%", "2%"]}
SHORT = {"systems": ["webrtc@wifi", "weft"], "duration": 2}
RUNS = 2 * 4 * 2


def once(links, **changes):
    return weft_lab.ray.sweep(links, GRID, 2, workers=2, **SHORT, **changes)


@pytest.fixture(scope="module")
def whole():
    links = {"wifi": "rate=4mbit,delay=15ms,loss=1%", "lte": "rate=3mbit,delay=40ms"}
    return weft_lab.compare(links, grid=GRID, seeds=2, **SHORT)


def test_a_grid_gives_the_bytes_of_the_command_line(links, weft, whole):
    assert len(whole.systems) == 8 and whole.planned == RUNS
    assert "weft (wifi.delay 50ms, wifi.loss 2%)" in whole.systems
    named = [word for link in links.items() for word in ("--link", "=".join(link))]
    sets = [word for key, values in GRID.items() for word in ("--set", f"{key}={','.join(values)}")]
    line = [weft, "lab", "compare", *named, *sets, "--systems", "webrtc@wifi,weft"]
    line += ["--seeds", "2", "--duration", "2", "--json"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert of_any_version(said) == of_any_version(whole.to_json())


def test_a_value_of_a_grid_may_have_commas(links):
    specs = ["rate=1mbit,delay=5ms", "rate=2mbit"]
    results = weft_lab.compare(
        links, ["weft"], set={"duration": "1s"}, grid={"links.wifi.back": specs}, seeds=1
    )
    assert len(results.systems) == 2


@pytest.mark.parametrize(
    ("grid", "parts"),
    [
        ({"links.wifi.dealy": ["1ms", "2ms"]}, ["links.wifi.dealy", "did you mean `delay`"]),
        ({"links.wifi.delay": ["1ms", "2sm"]}, ["2sm"]),
        ({"links.wifi.delay": "1ms"}, ["grid: `links.wifi.delay`", "give one, such as"]),
        ({"links.wifi.delay": []}, ["not a list of values"]),
        ({"links.wifi.delay": [["1ms"], ["2ms"]]}, ["cannot be lists"]),
        ({"seeds": [1, 2]}, ["`seeds` is the same"]),
    ],
)
def test_a_bad_grid_names_place_and_remedy(links, grid, parts):
    for run in (weft_lab.compare, weft_lab.ray.sweep):
        with pytest.raises(weft_lab.ScenarioError) as error:
            run(links, grid=grid)
        assert all(part in str(error.value) for part in parts), error.value
        assert "--set" not in str(error.value)


def test_workers_give_the_bytes_of_one_process(links, whole, tmp_path):
    seen = []
    results = once(
        links, out=tmp_path / "out", batch=3, progress=lambda *counts: seen.append(counts)
    )
    assert results.to_json() == whole.to_json()
    assert seen == [(n, RUNS) for n in range(1, RUNS + 1)]
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"summary.json", "runs.parquet", "report.html", "series"} <= files
    assert "unfinished" not in files
    assert (tmp_path / "out/summary.json").read_text() == whole.to_json()


def test_a_killed_worker_changes_nothing(links, whole):
    killed = []

    def progress(ended, planned):
        if not killed:
            victim = multiprocessing.active_children()[0]
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    results = once(links, progress=progress)
    assert killed and results.to_json() == whole.to_json()


def test_an_interrupted_sweep_goes_on(links, whole, tmp_path):
    def stop(ended, planned):
        if ended == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once(links, out=tmp_path / "out", progress=stop)
    seen = []
    results = once(links, out=tmp_path / "out", progress=lambda *counts: seen.append(counts))
    assert seen[0] == (6, RUNS) and len(seen) == RUNS - 5
    assert results.to_json() == whole.to_json()
    # Other conditions begin again.
    seen.clear()
    weft_lab.ray.sweep(
        links, out=tmp_path / "out", seeds=1, workers=1, systems=["weft"], duration=1,
        progress=lambda *counts: seen.append(counts),
    )
    assert seen == [(1, 1)]


def test_a_class_runs_in_workers(links):
    named = {"systems": ["single/delay@wifi"], "controllers": {"delay": DelayController}}
    here = weft_lab.compare(links, seeds=2, duration=2, **named)
    there = weft_lab.ray.sweep(links, None, 2, duration=2, workers=2, **named)
    assert there.to_json() == here.to_json()


def test_a_failed_run_is_reported_and_the_others_kept(links):
    arguments = {
        "systems": ["single/bad@wifi", "webrtc@wifi"],
        "controllers": {"bad": weft_lab.Controller},
    }
    with pytest.raises(weft_lab.RunError, match="1 of 2 runs failed") as error:
        weft_lab.ray.sweep(links, None, 1, duration=1, workers=1, **arguments)
    assert error.value.results.finished == 1
    assert "has no on_feedback" in str(error.value)


def test_a_class_that_cannot_be_sent_is_named(links):
    class Mine(weft_lab.Controller):
        pass

    with pytest.raises(weft_lab.ScenarioError, match="a module of its own"):
        weft_lab.ray.sweep(links, controllers={"mine": Mine}, on="processes")


def test_bad_arguments_are_named(links):
    with pytest.raises(weft_lab.ScenarioError, match="there is no `dask`"):
        weft_lab.ray.sweep(links, on="dask")
    with pytest.raises(weft_lab.ScenarioError, match="workers: 0"):
        weft_lab.ray.sweep(links, workers=0)


def workers_of_ray():
    """Returns the processes of Ray's workers that descend from this one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            ancestor = int(pid) if b"ray::_work" in line else 0
            while ancestor > 1 and ancestor != os.getpid():
                stat = pathlib.Path(f"/proc/{ancestor}/stat").read_text()
                ancestor = int(stat.rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if ancestor == os.getpid():
            found.append(int(pid))
    return found


def test_ray_gives_the_same_bytes_with_a_killed_worker(links):
    pytest.importorskip("ray", reason="skipped: Ray is not installed")
    grid = {"links.wifi.delay": [f"{n}ms" for n in range(10, 60, 10)]}
    killed = []

    def progress(ended, planned):
        if not killed and ended > 5:
            killed.extend(workers_of_ray()[:1])
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    arguments = {"grid": grid, "seeds": 5, **SHORT}
    many = weft_lab.ray.sweep(links, workers=2, on="ray", progress=progress, **arguments)
    assert killed and many.to_json() == weft_lab.compare(links, **arguments).to_json()
