"""A scheduler by hand: each frame on the path that would deliver it first.

Run it after installing the wheel: python shortest_wait.py
"""

import weft_lab


class ShortestWait(weft_lab.Scheduler):
    """Sends all packets of a frame over the path where they arrive first."""

    def assign(
        self, now: float, packets: weft_lab.Packets, paths: list[weft_lab.Path]
    ) -> int:
        size = sum(packets.sizes)

        def arrival(path: weft_lab.Path) -> float:
            return path.delay + 8 * (path.queued + size) / max(path.rate, 1.0)

        return min(paths, key=arrival).id


def main() -> None:
    results = weft_lab.compare(
        links={"wifi": "rate=4mbit,delay=20ms", "lte": "rate=3mbit,delay=40ms"},
        systems=["webrtc@wifi", "shortest", "weft"],
        schedulers={"shortest": ShortestWait},
        seeds=5,
        duration=30,
    )
    print(results)


if __name__ == "__main__":
    main()
