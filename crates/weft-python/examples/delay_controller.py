"""A congestion controller by hand: it backs off when the queue grows.

Run it after installing the wheel: python delay_controller.py
"""

import weft_lab


class DelayController(weft_lab.Controller):
    """Grows by 20 % a second, and falls by 15 % when the queue exceeds 30 ms."""

    queue_limit = 0.030
    hold = 0.2

    def __init__(self, minimum: float, start: float, maximum: float) -> None:
        super().__init__(minimum, start, maximum)
        self.target = start
        self.least_delay = float("inf")
        self.last_fall = 0.0

    def on_feedback(self, now: float, feedback: weft_lab.Feedback) -> float:
        queue = 0.0
        if feedback.delay is not None:
            self.least_delay = min(self.least_delay, feedback.delay)
            queue = feedback.delay - self.least_delay
        if queue > self.queue_limit or feedback.lost > feedback.received:
            if now - self.last_fall > self.hold:
                self.target *= 0.85
                self.last_fall = now
        else:
            self.target *= 1.0 + 0.20 * (feedback.interval or 0.0)
        self.target = min(max(self.target, self.minimum), self.maximum)
        return self.target


def main() -> None:
    results = weft_lab.compare(
        links={"wifi": "rate=4mbit,delay=20ms,queue=300ms"},
        systems=["single/gcc", "single/delay"],
        controllers={"delay": DelayController},
        seeds=5,
        duration=30,
    )
    print(results)


if __name__ == "__main__":
    main()
