"""Calls as Gymnasium environments."""

import warnings

import numpy as np
import pytest
import weft_lab

gymnasium = pytest.importorskip("gymnasium")
gym = pytest.importorskip("weft_lab.gym")
from gymnasium.utils.env_checker import check_env  # noqa: E402

ONE = {"wifi": "rate=3mbit,delay=25ms,queue=300ms"}
TWO = {"wifi": "rate=3mbit,delay=25ms", "lte": "rate=1mbit,delay=40ms"}


def episode(env, act, seed=1):
    """Runs an episode; returns observations, rewards and the last info."""
    env.reset(seed=seed)
    seen, rewards, ended = [], [], False
    while not ended:
        observation, reward, terminated, ended, info = env.step(act())
        assert not terminated
        seen.append(observation)
        rewards.append(reward)
    return np.array(seen), np.array(rewards), info


def constant(env, *values):
    """Returns a policy that always does the same."""
    assert env.action_space.shape == (len(values),)
    return lambda: np.array(values, np.float32)


def at(env, mbps):
    """Returns the action for a rate."""
    low, ratio = env._calls.low, env._calls.ratio
    return 2 * np.log(mbps * 1e6 / low) / np.log(ratio) - 1


@pytest.mark.parametrize("links", [ONE, TWO])
def test_gymnasium_s_checks_pass(links):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Infinite bounds are what rates and times have.
        warnings.filterwarnings("ignore", message=".*maximum value is infinity.*")
        check_env(gym.CallEnv(links, duration=3), skip_render_check=True)


def test_an_episode_is_as_long_as_the_call_and_ends_with_metrics():
    env = gym.CallEnv(ONE, duration=6)
    seen, rewards, info = episode(env, constant(env, at(env, 1.5)))
    assert len(seen) == 100 and env.duration == 6
    metrics = info["metrics"]
    # The rate is the agent's: what it sends arrives.
    assert 1.2 < metrics["throughput_mbps"] < 1.9
    late = seen[50:]
    received, loss, queueing, rtt, target = late.mean(axis=0)
    assert received == pytest.approx(metrics["throughput_mbps"], rel=0.3)
    assert target == pytest.approx(1.5, rel=1e-3)
    assert loss == 0 and queueing < 0.05 and 0.05 < rtt < 0.2
    assert rewards[50:].mean() == pytest.approx(received - 10 * queueing, rel=0.2)


def test_more_than_the_link_carries_costs_delay_and_loss():
    env = gym.CallEnv(ONE, duration=10)
    fits, good, _ = episode(env, constant(env, at(env, 2.0)))
    above, bad, _ = episode(env, constant(env, at(env, 6.0)))
    assert above[-50:, 2].mean() > 0.15 > 0.05 > fits[-50:, 2].mean()
    assert above[-50:, 1].max() > 0 == fits[-50:, 1].max()
    assert bad[-50:].mean() < good[-50:].mean()


def test_equal_seeds_give_equal_episodes():
    def run(seed):
        env = gym.CallEnv({"wifi": "rate=3mbit,delay=25ms,loss=2%"}, duration=4)
        env.action_space.seed(5)
        seen, rewards, info = episode(env, env.action_space.sample, seed)
        return seen.tobytes(), rewards.tobytes(), info["metrics"]

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_packets_are_split_as_the_agent_says():
    env = gym.CallEnv(TWO, duration=10)
    assert env.links == ["wifi", "lte"] and env.action_space.shape == (4,)
    rates = [at(env, 1.5), at(env, 0.6)]
    both, _, _ = episode(env, constant(env, *rates, 1.0, -0.5))
    # Weights of 1 and 0.25.
    wifi, lte = both[80:, 0].mean(), both[80:, 5].mean()
    assert lte / (wifi + lte) == pytest.approx(0.2, abs=0.05)
    one, _, _ = episode(env, constant(env, *rates, 1.0, -1.0))
    assert one[80:, 0].mean() > 0.8 and one[80:, 5].mean() < 0.1
    none, _, _ = episode(env, constant(env, *rates, -1.0, -1.0))
    wifi, lte = none[80:, 0].mean(), none[80:, 5].mean()
    assert lte / (wifi + lte) == pytest.approx(0.5, abs=0.1)


def test_a_scenario_and_a_seed_of_the_lab():
    env = gym.CallEnv("demo/wifi-lte", paths=["wifi"], set={"links.wifi.queue": "2bdp"}, duration=3)
    assert env.links == ["wifi"] and env.action_space.shape == (1,)
    _, info = env.reset(options={"run_seed": 7})
    assert info["run_seed"] == 7


def test_a_reward_of_one_s_own():
    env = gym.CallEnv(TWO, duration=1, reward=lambda figures: figures[1, 4])
    _, rewards, _ = episode(env, constant(env, 0.0, at(env, 0.7), 1.0, 1.0))
    assert rewards == pytest.approx(0.7)


def test_a_vector_steps_like_its_parts():
    def actions(seed):
        return np.random.default_rng(seed).uniform(-1, 1, (60, 3, 1)).astype(np.float32)

    vector = gym.CallVectorEnv(ONE, 3, duration=3, threads=2)
    seen, _ = vector.reset(seed=11)
    assert seen.shape == (3, 5) and not seen.any()
    told = [vector.step(action) for action in actions(0)]
    for place in range(3):
        env = gym.CallEnv(ONE, duration=3)
        env.reset(seed=11 + place)
        for action, (seen, rewards, _, ended, infos) in zip(actions(0)[:50], told):
            own = env.step(action[place])
            assert (seen[place] == own[0]).all() and rewards[place] == own[1]
            assert ended[place] == own[3]
        assert infos["metrics"]["fps"][place] == own[4]["metrics"]["fps"]
        # The next step begins a new episode.
        assert not told[50][0][place].any() and not told[50][3][place]
        assert told[51][4]["time"][place] == pytest.approx(0.06)


def test_gymnasium_makes_it_by_its_name():
    env = gymnasium.make("weft/Call-v0", scenario=ONE, duration=1)
    assert env.reset(seed=1)[0].shape == (5,)
    vector = gymnasium.make_vec("weft/Call-v0", num_envs=2, scenario=ONE, duration=1)
    assert vector.reset(seed=1)[0].shape == (2, 5)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"scenario": {"a": "rate=1mbi"}}, ["rate=1mbi"]),
        ({"scenario": ONE, "paths": ["wfi"]}, ["wfi", "wifi"]),
        ({"scenario": ONE, "paths": "wifi"}, ["give a list"]),
        ({"scenario": ONE, "paths": []}, ["at least one"]),
        ({"scenario": ONE, "rates": (5, 1)}, ["rates", "bit/s"]),
        ({"scenario": ONE, "step_ms": 0}, ["step_ms"]),
        ({"scenario": "demo/aqm"}, ["one call under test", "0 calls"]),
        ({"scenario": "nowhere.toml"}, ["nowhere.toml"]),
    ],
)
def test_a_bad_argument_names_place_and_remedy(arguments, parts):
    with pytest.raises(weft_lab.ScenarioError) as error:
        gym.CallEnv(**arguments)
    assert all(part in str(error.value) for part in parts), error.value


def test_a_bad_action_is_refused():
    env = gym.CallEnv(ONE, duration=1)
    with pytest.raises(weft_lab.LabError, match="call reset"):
        env.step(np.zeros(1, np.float32))
    env.reset(seed=1)
    for action in ([0.0, 0.0], [np.nan]):
        with pytest.raises(ValueError, match="does not fit"):
            env.step(np.array(action, np.float32))
