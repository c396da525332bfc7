"""Steps per second of weft_lab.gym, with a policy that does nothing."""

import math
import time

import numpy as np
import weft_lab.gym

ONE = {"wifi": "rate=3mbit,delay=25ms,queue=300ms"}
TWO = {"wifi": "rate=3mbit,delay=25ms", "lte": "rate=1mbit,delay=40ms"}
RATES = (100e3, 10e6)


def action(*mbps):
    low, high = RATES
    rates = [2 * math.log(rate * 1e6 / low) / math.log(high / low) - 1 for rate in mbps]
    weights = [0.0] * len(mbps) if len(mbps) > 1 else []
    return np.array(rates + weights, np.float32)


def speed(links, *mbps, episodes=3):
    env = weft_lab.gym.CallEnv(links, duration=60, rates=RATES)
    same = action(*mbps)
    steps, begun = 0, time.perf_counter()
    for seed in range(episodes):
        env.reset(seed=seed)
        ended = False
        while not ended:
            *_, ended, _ = env.step(same)
            steps += 1
    return steps / (time.perf_counter() - begun)


if __name__ == "__main__":
    for mbps in (0.3, 1.0, 2.5):
        print(f"one path, {mbps} Mbit/s: {speed(ONE, mbps):.0f} steps/s")
    print(f"two paths, 2 and 0.7 Mbit/s: {speed(TWO, 2.0, 0.7):.0f} steps/s")
