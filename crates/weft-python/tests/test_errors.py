"""Bad input, Ctrl-C and progress."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import weft_lab


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"links": {"wifi": "rate=fast"}}, ["fast"]),
        ({"links": {"wi fi": "rate=1mbit"}}, ["links: wi fi"]),
        ({"links": {"a": "rate=1mbit"}, "systems": ["wfet"]}, ["`wfet`", "did you mean `weft`"]),
        ({"links": {"a": "rate=1mbit"}, "systems": "weft"}, ["give a list"]),
        ({"links": {"a": "rate=1mbit"}, "seeds": 0}, ["seeds: 0"]),
        ({"links": {"a": "rate=1mbit"}, "duration": 0.1}, ["at least 1 s"]),
        ({"links": {"a": "rate=1mbit"}, "controllers": {"a b": object}}, ["`a b`"]),
        ({"links": {"a": "rate=1mbit"}, "controllers": {"ab": 5}}, ["give the class"]),
    ],
)
def test_a_bad_argument_names_place_and_remedy(arguments, parts):
    with pytest.raises(weft_lab.ScenarioError) as error:
        weft_lab.compare(**arguments)
    text = str(error.value)
    assert all(part in text for part in parts), text
    assert "--" not in text, text


@pytest.mark.parametrize(
    ("scenario", "changes", "parts"),
    [
        ("demo/wifi-lti", {}, ["demo/wifi-lti", "did you mean `demo/wifi-lte`"]),
        ("demo", {}, ["is a set", "demo/wifi-lte"]),
        ("nowhere.toml", {}, ["nowhere.toml"]),
        ("demo/wifi-lte", {"links.wifi.quoue": "2bdp"}, ["links.wifi.quoue", "did you mean `queue`"]),
        ("demo/wifi-lte", {"seeds": "abc"}, ["seeds", "whole number"]),
        ("demo/wifi-lte", {"seeds": {}}, ["`seeds` is a dict"]),
    ],
)
def test_a_bad_scenario_names_place_and_remedy(scenario, changes, parts):
    with pytest.raises(weft_lab.ScenarioError) as error:
        weft_lab.run(scenario, set=changes)
    text = str(error.value)
    assert all(part in text for part in parts), text
    assert "--" not in text and "weft lab" not in text, text


def test_a_file_is_found_by_its_path_only(tmp_path, monkeypatch):
    text = weft_lab.scenario_text("demo/wifi-lte")
    (tmp_path / "scenarios/demo").mkdir(parents=True)
    (tmp_path / "scenarios/demo/wifi-lte.toml").write_text("title = 5\n")
    (tmp_path / "mine.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert weft_lab.scenario_text("demo/wifi-lte") == text
    results = weft_lab.run("mine.toml", seeds=1, duration=2)
    assert results.scenario.endswith("mine") and results.finished == results.planned


def test_every_scenario_has_a_title():
    titles = weft_lab.scenarios()
    assert "demo/wifi-lte" in titles and all(titles.values())


def test_progress_counts_to_the_end(links):
    seen = []
    results = weft_lab.compare(
        links, ["weft"], seeds=3, duration=2, progress=lambda *counts: seen.append(counts)
    )
    assert seen == [(1, 3), (2, 3), (3, 3)] and results.planned == 3


def test_an_exception_of_the_progress_callback_ends_the_runs(links):
    def progress(ended, planned):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough") as error:
        weft_lab.compare(links, ["weft"], seeds=500, duration=10, progress=progress, jobs=1)
    assert 1 <= error.value.results.finished < 500


def test_ctrl_c_ends_the_runs_and_keeps_the_finished_ones(links):
    # A shell starts background jobs with SIGINT ignored, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt():
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as error:
        weft_lab.compare(links, ["weft"], seeds=5000, duration=20)
    assert time.monotonic() - started < 10
    assert 0 < error.value.results.finished < 5000
    assert error.value.results.planned == 5000


def test_progress_is_printed_for_true():
    program = (
        "import weft_lab; weft_lab.compare({'a': 'rate=2mbit'}, ['weft'], seeds=2,"
        " duration=1, progress=True)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stderr.endswith("2 of 2 runs\n"), said.stderr
