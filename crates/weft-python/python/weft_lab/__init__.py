"""Video calls over several links in virtual time.

`compare` runs a call over links that you describe, `run` runs a scenario. Both run
every system with every seed on all processors, and return `Results`. The same seeds
give the same bytes as the command line `weft lab`.

Put your own congestion controller or scheduler into the call by a subclass of
`Controller` or `Scheduler`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from . import _native
from ._native import (
    Feedback,
    LabError,
    Packets,
    Path,
    Report,
    Results,
    RunError,
    ScenarioError,
    Table,
    __version__,
)

__all__ = [
    "Controller",
    "Feedback",
    "LabError",
    "Packets",
    "Path",
    "Report",
    "Results",
    "RunError",
    "ScenarioError",
    "Scheduler",
    "Table",
    "__version__",
    "compare",
    "run",
    "scenario_text",
    "scenarios",
]

Progress = bool | Callable[[int, int], object]
"""Called with the number of ended runs and that of all runs; `True` prints a line."""


class Controller:
    """Base class of a congestion controller: one instance for each path of each run.

    Name it in `systems` after a scheduler, such as `weft/mine` with
    `controllers={"mine": Mine}`.
    """

    pacing_gain: float = 1.5
    """Rate at which queued packets leave, over the target rate."""

    def __init__(self, minimum: float, start: float, maximum: float) -> None:
        """Takes the range and the start value of the target rate, in bit/s."""
        self.minimum = minimum
        self.start = start
        self.maximum = maximum

    def on_feedback(self, now: float, feedback: Feedback) -> float:
        """Returns the target rate in bit/s. `now` is the time in seconds."""
        raise NotImplementedError(f"{type(self).__name__} has no on_feedback(now, feedback)")

    def on_path_restored(self, now: float) -> None:
        """Forgets the estimates of a path that failed and is restored."""


class Scheduler:
    """Base class of a scheduler: one instance for each end of each call.

    Name it in `systems`, such as `mine` or `mine/gcc`, with
    `schedulers={"mine": Mine}`.
    """

    def assign(self, now: float, packets: Packets, paths: list[Path]) -> int | list[int]:
        """Returns the id of the path for all packets, or a list with one for each."""
        raise NotImplementedError(f"{type(self).__name__} has no assign(now, packets, paths)")


def compare(
    links: Mapping[str, str],
    systems: Sequence[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | None = None,
    duration: float | None = None,
    streams: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
    controllers: Mapping[str, Callable[..., Controller]] | None = None,
    schedulers: Mapping[str, Callable[..., Scheduler]] | None = None,
) -> Results:
    """Compares systems in a call over your own links, like `weft lab compare`.

    links: specification of each link by its name, such as
        `{"wifi": "rate=10mbit,delay=15ms,loss=1%", "lte": "trace=lte.csv"}`.
    systems: such as `["webrtc@wifi", "weft"]`. Default: plain WebRTC over each link,
        and weft over all.
    set: changes to fields by their dotted path, such as `{"links.wifi.queue": "2bdp"}`.
    grid: several values of a field, such as `{"links.wifi.delay": ["10ms", "50ms"]}`:
        every system runs with each, and with those of other fields in every combination.
    seeds: seeds 1 to this number. Default: 20, or one for each trace of a pattern.
    duration: length of each run in seconds. Default: 60.
    streams: number of cameras.
    jobs: number of parallel runs. Default: one for each processor.

    Raises `ScenarioError` if an argument is invalid, and `RunError` if a run failed.
    """
    options = _options(systems, seeds, duration, jobs, progress, controllers, schedulers)
    return _native.compare(dict(links), streams, _copied(set), _copied(grid), options)


def run(
    scenario: str | PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    systems: Sequence[str] | None = None,
    seeds: int | None = None,
    duration: float | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    controllers: Mapping[str, Callable[..., Controller]] | None = None,
    schedulers: Mapping[str, Callable[..., Scheduler]] | None = None,
) -> Results:
    """Runs a scenario, like `weft lab run`.

    scenario: path of a scenario file, or the name of one from `scenarios()`.
    set: changes to fields by their dotted path, such as
        `{"links.wifi.queue": "2bdp"}`.
    grid: several values of a field, as in `compare`.

    The other arguments are those of `compare`; their defaults are the scenario's.
    """
    options = _options(systems, seeds, duration, jobs, progress, controllers, schedulers)
    return _native.run(fspath(scenario), _copied(set), _copied(grid), options)


def scenarios() -> dict[str, str]:
    """Returns the title of each scenario that comes with the package, by its name."""
    return dict(_native.scenarios())


def scenario_text(scenario: str | PathLike[str]) -> str:
    """Returns the TOML text of a scenario, to save and edit."""
    return _native.scenario_text(fspath(scenario))


def _copied(changes: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if changes is None else dict(changes)


def _options(
    systems: Sequence[str] | None,
    seeds: int | None,
    duration: float | None,
    jobs: int | None,
    progress: Progress | None,
    controllers: Mapping[str, Callable[..., Controller]] | None,
    schedulers: Mapping[str, Callable[..., Scheduler]] | None,
) -> dict[str, Any]:
    if isinstance(systems, str):
        raise ScenarioError(f"systems: `{systems}` is a text: give a list of names")
    for name, number in (("seeds", seeds), ("jobs", jobs)):
        if number is not None and number < 1:
            raise ScenarioError(f"{name}: {number} is below 1")
    if progress is True:
        progress = _print_progress
    return {
        "systems": None if systems is None else list(systems),
        "seeds": seeds,
        "duration": duration,
        "jobs": jobs,
        "progress": progress or None,
        "controllers": dict(controllers or {}),
        "schedulers": dict(schedulers or {}),
    }


def _print_progress(ended: int, planned: int) -> None:
    end = "\n" if ended == planned else ""
    print(f"\r{ended} of {planned} runs", end=end, file=sys.stderr, flush=True)
