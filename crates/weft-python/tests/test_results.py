"""Results: tables, series, report, and the same bytes as the command line."""

import json
import subprocess

import pandas
import polars
import pyarrow
import pytest
import weft_lab
from conftest import of_any_version


@pytest.fixture(scope="module")
def results():
    links = {"wifi": "rate=4mbit,delay=15ms,loss=1%", "lte": "rate=3mbit,delay=40ms"}
    return weft_lab.compare(links, seeds=2, duration=5)


def test_arrow_consumers_read_equal_tables(results):
    runs = results.runs()
    assert runs.columns == ["system", "seed", "metric", "value"]
    frame = polars.DataFrame(runs)
    assert frame.height == len(runs) > 100
    assert pandas.DataFrame.from_arrow(runs)["value"].tolist() == frame["value"].to_list()
    assert pyarrow.table(runs).column("value").to_pylist() == frame["value"].to_list()


def test_the_summary_has_the_means_of_the_runs(results):
    summary = polars.DataFrame(results.summary())
    row = summary.filter(system="weft", metric="throughput_mbps").to_dicts()[0]
    runs = polars.DataFrame(results.runs())
    own = runs.filter(system="weft", metric="throughput_mbps")["value"]
    assert own.len() == row["n"] == 2
    assert row["mean"] == pytest.approx(own.mean())
    assert row["low"] < row["mean"] < row["high"]
    assert row["unit"] == "Mbit/s"


def test_a_series_has_the_rate_of_a_run(results):
    series = polars.DataFrame(results.series("weft", 1))
    assert series["t"][-1] == pytest.approx(5.0)
    # Two links of 7 Mbit/s together: the call must use some, and cannot use more.
    assert 0.5 < series["rate_mbps.call"].max() < 7.5


def test_a_missing_series_is_named(results):
    with pytest.raises(weft_lab.LabError, match="no run of `weft` with seed 9.*seeds 1, 2"):
        results.series("weft", 9)
    with pytest.raises(weft_lab.LabError, match="no run of the system `wfet`.*weft"):
        results.series("wfet", 1)


def test_differences_are_from_the_best_single_link(results):
    differences = polars.DataFrame(results.differences())
    verdicts = {"better", "worse", "different", "same", "unclear"}
    assert set(differences["verdict"]) <= verdicts
    assert "weft" in set(differences["system"])


def test_the_text_has_the_answer(results):
    assert "weft" in results.answers[0] + results.answers[-1]
    assert results.answers[-1] in str(results)
    assert "2 seeds" not in repr(results) and repr(results).startswith("<weft_lab.Results of")
    assert "--" not in str(results) and "more metrics in summary()" in str(results)
    assert results._repr_html_().startswith("<pre>")


def test_the_report_is_a_page_in_a_frame(results, tmp_path):
    report = results.report()
    assert '"throughput_mbps"' in report.html
    frame = report._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "<script" not in frame
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.html


def test_the_number_of_threads_changes_nothing(links):
    one = weft_lab.compare(links, seeds=2, duration=3, jobs=1)
    two = weft_lab.compare(links, seeds=2, duration=3, jobs=2)
    assert one.to_json() == two.to_json()


def test_compare_gives_the_bytes_of_the_command_line(links, weft):
    results = weft_lab.compare(links, ["webrtc@wifi", "weft"], seeds=2, duration=4)
    named = [word for link in links.items() for word in ("--link", "=".join(link))]
    line = [weft, "lab", "compare", *named, "--systems", "webrtc@wifi,weft"]
    line += ["--seeds", "2", "--duration", "4", "--json"]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert of_any_version(said) == of_any_version(results.to_json())
    assert json.loads(said)["seeds"] == [1, 2]


def test_run_gives_the_bytes_of_the_command_line(weft, tmp_path):
    results = weft_lab.run(
        "demo/wifi-lte", set={"links.wifi.queue": "2bdp"}, seeds=1, duration=4
    )
    line = [weft, "lab", "run", "demo/wifi-lte", "--set", "links.wifi.queue=2bdp"]
    line += ["--seeds", "1", "--duration", "4", "--json"]
    # In an empty folder: there the program has only its own scenarios, too.
    said = subprocess.run(line, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert of_any_version(said.stdout) == of_any_version(results.to_json())
