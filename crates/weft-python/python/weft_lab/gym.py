"""Calls as Gymnasium environments: an agent sets the target rate of a call every 60 ms,
and with several paths also how its packets are split among them.

    env = weft_lab.gym.CallEnv({"wifi": "rate=4mbit,delay=20ms,queue=300ms"})
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Needs Gymnasium: `pip install gymnasium`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

try:
    import gymnasium
    import numpy as np
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(
        'weft_lab.gym needs gymnasium: run `pip install gymnasium`'
    ) from error

from . import _native
from ._native import ScenarioError

__all__ = ["FIGURES", "CallEnv", "CallVectorEnv", "default_reward"]

FIGURES = ("received_mbps", "loss", "queueing_s", "rtt_s", "target_mbps")
"""Figures of each path in an observation."""

Links = str | PathLike[str] | Mapping[str, str]
Reward = Callable[[np.ndarray], float]


def default_reward(figures: np.ndarray) -> float:
    """Returns received Mbit/s, less 10 for each second of queueing delay and 20 for the
    loss of everything. `figures` has a row for each path with the columns `FIGURES`;
    delay and loss are those of the paths, weighted by what they received."""
    received = figures[:, 0].tolist()
    total = sum(received)
    if total <= 0.0:
        return -10.0 * float(figures[:, 2].max()) - 20.0 * float(figures[:, 1].max())
    bad = 10.0 * figures[:, 2] + 20.0 * figures[:, 1]
    return total - sum(one * part / total for one, part in zip(bad.tolist(), received))


class _Calls:
    """Meaning of the actions and observations of a call over some paths."""

    def __init__(
        self, paths: int, rates: tuple[float, float], step_ms: int, reward: Reward | None
    ) -> None:
        low, high = rates
        if not 0 < low < high < float("inf"):
            raise ScenarioError(f"rates: {rates} is not a range: give (low, high) in bit/s")
        if not 1 <= step_ms <= 10_000:
            raise ScenarioError(f"step_ms: {step_ms} is not between 1 and 10000")
        self.paths, self.low, self.ratio = paths, low, high / low
        self.seconds = step_ms / 1000
        self.reward = reward or default_reward
        size = 1 if paths == 1 else 2 * paths
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (size,), np.float32)
        self.observation_space = gymnasium.spaces.Box(
            0.0, np.inf, (paths * len(FIGURES),), np.float32
        )

    def native(self, action: Any) -> tuple[list[float], list[float], float]:
        values = [float(value) for value in action]
        if len(values) != self.action_space.shape[0] or any(value != value for value in values):
            raise ValueError(f"the action {action} does not fit {self.action_space}")
        values = [min(max(value, -1.0), 1.0) for value in values]
        rates = [self.low * self.ratio ** ((value + 1) / 2) for value in values[: self.paths]]
        shares = [(value + 1) / 2 for value in values[self.paths :]] or [1.0]
        return rates, shares, self.seconds

    def told(self, figures: list[float]) -> tuple[np.ndarray, float]:
        observation = np.array(figures, np.float32)
        return observation, float(self.reward(observation.reshape(self.paths, len(FIGURES))))


class CallEnv(gymnasium.Env):
    """A call in virtual time whose target rates an agent sets.

    scenario: links by name (`{"wifi": "rate=4mbit,delay=20ms"}`), or the name or path of
        a scenario with one call under test.
    paths: links that the call may use. Default: all.
    set: changes to fields of the scenario, as in `weft_lab.run`.
    duration: length of an episode in seconds. Default: the scenario's; 60 for links.
    step_ms: length of a step.
    rates: range of the target rate of a path, bit/s.
    reward: your own reward, a function of the observation's figures: an array with a row
        for each path and the columns `FIGURES`.

    Action, each value from -1 to 1: for one path its target rate, from `rates[0]` (-1) to
    `rates[1]` (1) on a logarithmic scale. For n paths n target rates, then n weights: a
    path gets the share of the packets that `weight + 1` is of their sum.

    Observation: for each path the figures `FIGURES` of the feedback that arrived during
    the step. Without any, `received_mbps` and `loss` are 0, the others as before.

    An episode is truncated at its end. `info` of the last step has `metrics`, those of
    `weft lab run`. `reset(options={"run_seed": 7})` runs the lab's seed 7; otherwise the
    seeds of the runs are drawn from the seed of the environment.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Links,
        *,
        paths: Sequence[str] | None = None,
        set: Mapping[str, Any] | None = None,
        duration: float | None = None,
        step_ms: int = 60,
        rates: tuple[float, float] = (100e3, 10e6),
        reward: Reward | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise ScenarioError(f"render_mode: there is no `{render_mode}`: leave it out")
        if isinstance(paths, str):
            raise ScenarioError(f"paths: `{paths}` is a text: give a list of names")
        changes = dict(set or {})
        if duration is not None:
            changes["duration"] = f"{duration}s"
        named = dict(scenario) if isinstance(scenario, Mapping) else None
        name = None if named is not None else fspath(scenario)
        start = min(max(300e3, rates[0]), rates[1])
        chosen = None if paths is None else list(paths)
        self._native = _native.Environment(name, named, changes, chosen, start)
        self._calls = _Calls(len(self._native.links), rates, step_ms, reward)
        self._time = 0.0
        self.action_space = self._calls.action_space
        self.observation_space = self._calls.observation_space
        self.render_mode = None

    @property
    def links(self) -> list[str]:
        """Names of the links, in the order of the paths."""
        return self._native.links

    @property
    def duration(self) -> float:
        """Length of an episode, seconds."""
        return self._native.duration

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        run_seed = (options or {}).get("run_seed")
        if run_seed is None:
            run_seed = int(self.np_random.integers(1, 2**31))
        self._native.reset(run_seed)
        self._time = 0.0
        zeros = np.zeros(self.observation_space.shape, np.float32)
        return zeros, {"run_seed": run_seed, "time": 0.0}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Runs the call for a step."""
        figures, ended = self._native.step(self._calls.native(action))
        return self._told(figures, ended)

    def _told(
        self, figures: list[float], ended: bool
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observation, reward = self._calls.told(figures)
        self._time += self._calls.seconds
        info: dict[str, Any] = {"time": self._time}
        if ended:
            info["metrics"] = dict(self._native.metrics())
        return observation, reward, False, ended, info


class CallVectorEnv(gymnasium.vector.VectorEnv):
    """Several `CallEnv` that step at once, on threads without Python's lock.

    num_envs: their number. threads: by default one for each processor. The other arguments
    are those of `CallEnv`. An environment that has ended is reset by the next step, whose
    action it ignores, and environment i of `reset(seed=s)` has the seed s + i.
    """

    metadata: dict[str, Any] = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(
        self, scenario: Links, num_envs: int, *, threads: int | None = None, **arguments: Any
    ) -> None:
        if num_envs < 1:
            raise ScenarioError(f"num_envs: {num_envs} is below 1")
        self.envs = [CallEnv(scenario, **arguments) for _ in range(num_envs)]
        self.num_envs = num_envs
        self.threads = threads or len(os.sched_getaffinity(0))
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.render_mode = None
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode in each environment."""
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        seeds = seeds or [None] * self.num_envs
        told = [env.reset(seed=each, options=options) for env, each in zip(self.envs, seeds)]
        self._ended[:] = False
        infos: dict[str, Any] = {}
        for place, (_, info) in enumerate(told):
            infos = self._add_info(infos, info, place)
        return np.stack([observation for observation, _ in told]), infos

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Runs each call for a step."""
        places = [place for place in range(self.num_envs) if not self._ended[place]]
        running = [self.envs[place] for place in places]
        native = [env._calls.native(actions[place]) for env, place in zip(running, places)]
        stepped = _native.step_all([env._native for env in running], native, self.threads)
        observations = np.zeros(self.observation_space.shape, np.float32)
        rewards = np.zeros(self.num_envs)
        ended = np.zeros(self.num_envs, bool)
        infos: dict[str, Any] = {}
        for place, env, (figures, end) in zip(places, running, stepped):
            observations[place], rewards[place], _, ended[place], info = env._told(figures, end)
            infos = self._add_info(infos, info, place)
        for place in np.flatnonzero(self._ended):
            observations[place], info = self.envs[place].reset()
            infos = self._add_info(infos, info, int(place))
        self._ended = ended.copy()
        return observations, rewards, np.zeros(self.num_envs, bool), ended, infos


gymnasium.register(
    "weft/Call-v0",
    entry_point="weft_lab.gym:CallEnv",
    vector_entry_point="weft_lab.gym:CallVectorEnv",
)
