"""Sweeps over the cores of this machine or over a Ray cluster.

`sweep` runs every system with every combination of values and every seed, as
`weft_lab.run(scenario, grid=...)` does, on worker processes. A worker that dies costs its
unfinished runs a second attempt; finished runs are kept in a folder, and the same call
continues from there. The results are those of a single process, byte for byte.
"""

from __future__ import annotations

import hashlib
import inspect
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from os import PathLike, fspath
from typing import Any

from . import Controller, Progress, Scheduler, _native, _options
from ._native import LabError, Results, RunError, ScenarioError

__all__ = ["sweep"]

_DEATHS = 3
"""Deaths of workers in a row, without a finished run between them, that end a sweep."""

Ended = Callable[[int, bytes | None, str], None]


def sweep(
    scenario: str | PathLike[str] | Mapping[str, str],
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | None = None,
    *,
    out: str | PathLike[str] | None = None,
    systems: Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    duration: float | None = None,
    workers: int | None = None,
    batch: int = 1,
    on: str | None = None,
    progress: Progress | None = None,
    controllers: Mapping[str, Callable[..., Controller]] | None = None,
    schedulers: Mapping[str, Callable[..., Scheduler]] | None = None,
) -> Results:
    """Runs a sweep on worker processes.

    scenario: name or path of a scenario, or links by name.
    grid: values of each field by its dotted path; all combinations run.
    out: folder for the results, as `weft lab run --out` writes it. Finished runs are kept
        in it, and the same call continues after an interruption.
    workers: number of worker processes. Default: one for each processor.
    batch: runs of one task. Give a worker at least a second of work with Ray.
    on: "processes" or "ray". Default: Ray if `ray.init()` was called before.
    progress: as in `weft_lab.run`.

    Raises `ScenarioError` if an argument is invalid, and `RunError` if a run failed or
    workers keep dying; its `results` are the finished runs.
    """
    if on not in (None, "processes", "ray"):
        raise ScenarioError(f'on: there is no `{on}`: give "processes" or "ray"')
    for name, number in (("workers", workers), ("batch", batch)):
        if number is not None and number < 1:
            raise ScenarioError(f"{name}: {number} is below 1")
    workers = workers or len(os.sched_getaffinity(0))
    options = _options(systems, seeds, duration, None, progress, controllers, schedulers)
    progress, options["progress"] = options["progress"], None
    named = dict(scenario) if isinstance(scenario, Mapping) else None
    recipe = {
        "version": _native.__version__,
        "arguments": (
            None if named is not None else fspath(scenario),
            named,
            dict(set or {}),
            dict(grid or {}),
            options,
        ),
    }
    plan = _native.Plan(*recipe["arguments"])
    finished: dict[int, bytes] = {}
    failed: dict[int, str] = {}
    if out is not None:
        finished.update(plan.open(fspath(out), _build(options)))

    def ended(number: int, run: bytes | None, error: str) -> None:
        if run is None:
            failed[number] = error
        elif number not in finished:
            plan.keep(run)
            finished[number] = run
        if progress is not None:
            progress(len(finished) + len(failed), len(plan))

    missing = [number for number in range(len(plan)) if number not in finished]
    batches = [missing[at : at + batch] for at in range(0, len(missing), batch)]
    run = _on_ray if (on == "ray" or on is None and _has_ray()) else _on_processes
    try:
        run(recipe, batches, workers, ended)
    except RunError as error:
        try:
            error.results = plan.merge(list(finished.values()), list(failed.items()), workers)
        except RunError as partial:
            error.results = partial.results
        raise
    return plan.merge(list(finished.values()), list(failed.items()), workers)


def _on_processes(
    recipe: dict[str, Any], batches: list[list[int]], workers: int, ended: Ended
) -> None:
    try:
        pickle.dumps(recipe)
    except Exception as error:
        raise ScenarioError(
            f"controllers, schedulers: a class cannot be sent to a process ({error}): put it "
            'into a module of its own, or use on="ray"'
        ) from error
    # Threads and locks of this process are not for its children.
    context = multiprocessing.get_context("spawn")
    waiting = dict(enumerate(batches))
    deaths = 0
    while waiting:
        has_died = False
        pool = ProcessPoolExecutor(min(workers, len(waiting)), mp_context=context)
        try:
            futures = {pool.submit(_work, recipe, tasks): at for at, tasks in waiting.items()}
            for future in as_completed(futures):
                try:
                    results = future.result()
                except BrokenProcessPool:
                    has_died = True
                    continue
                deaths = 0
                del waiting[futures[future]]
                for each in results:
                    ended(*each)
        except BrokenProcessPool:
            # It died before all tasks were submitted.
            has_died = True
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        deaths += has_died
        if has_died and deaths == _DEATHS:
            raise RunError(
                f"workers died {deaths} times in a row: is the memory full? Give fewer `workers`"
            )


def _on_ray(recipe: dict[str, Any], batches: list[list[int]], workers: int, ended: Ended) -> None:
    try:
        import ray
    except ImportError as error:
        raise ImportError('on="ray" needs Ray: run `pip install ray`') from error
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR")
    try:
        work = ray.remote(max_retries=_DEATHS)(_work)
        shared = ray.put(recipe)
        futures = [work.remote(shared, tasks) for tasks in batches]
        while futures:
            done, futures = ray.wait(futures)
            for results in ray.get(done):
                for each in results:
                    ended(*each)
    except ray.exceptions.WorkerCrashedError as error:
        raise RunError(f"workers of Ray keep dying: {error}") from error
    finally:
        if is_ours:
            ray.shutdown()


def _has_ray() -> bool:
    try:
        import ray
    except ImportError:
        return False
    return bool(ray.is_initialized())


def _work(recipe: dict[str, Any], tasks: Iterable[int]) -> list[tuple[int, bytes | None, str]]:
    """Executes some runs in a worker."""
    if recipe["version"] != _native.__version__:
        raise LabError(
            f"a worker has weft-lab {_native.__version__}, and the sweep began with "
            f"{recipe['version']}: install the same wheel on all machines"
        )
    plan = _native.Plan(*recipe["arguments"])
    return [(task, *plan.run(task)) for task in tasks]


def _build(options: dict[str, Any]) -> str:
    """Returns the identity of this build and of your classes: results of others are not
    continued."""
    file = os.stat(_native.__file__)
    texts = [f"weft_lab {_native.__version__} of {file.st_size} bytes, {file.st_mtime_ns}"]
    for classes in (options["controllers"], options["schedulers"]):
        for name, one in sorted(classes.items()):
            try:
                source = inspect.getsource(one)
            except (OSError, TypeError):
                source = repr(one)
            texts.append(f"{name} {hashlib.sha256(source.encode()).hexdigest()}")
    return "\n".join(texts)
