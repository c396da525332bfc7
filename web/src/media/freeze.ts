// Freezes from the viewer's perspective, computed from the times of frames.

/** Number of frames in the mean interval. The W3C's statistic (webrtc-stats, freezeCount) uses the
 *  mean of the last 30 frames before the freeze. */
const WINDOW = 30;

/** A gap of at least max(3 δ, δ + 150 ms) is a freeze, where δ is the mean interval (webrtc-stats,
 *  freezeCount). */
const FACTOR = 3;
const MARGIN_MS = 150;

export interface Standing {
  /** Whether there has been a picture since `begin`. */
  readonly seen: boolean;
  /** Whether the picture is frozen now. */
  readonly frozen: boolean;
  /** Length of the present freeze in ms; 0 while the picture moves. */
  readonly forMs: number;
  /** Total length of all freezes including the present one, in ms. */
  readonly totalMs: number;
  readonly count: number;
  /** Frames in the last second. */
  readonly fps: number;
}

export class FreezeMeter {
  readonly #intervals: number[] = [];
  #recent: number[] = [];
  #last: number | null = null;
  #totalMs = 0;
  #count = 0;
  #seen = false;

  /** Records a frame at `now`, in ms of a monotonic clock. */
  onFrame(now: number): void {
    this.#seen = true;
    if (this.#last !== null) {
      const gap = now - this.#last;
      if (gap >= this.#threshold()) {
        this.#totalMs += gap;
        this.#count += 1;
      } else {
        this.#intervals.push(gap);
        if (this.#intervals.length > WINDOW) this.#intervals.shift();
      }
    }
    this.#last = now;
    this.#recent.push(now);
    this.#forget(now);
  }

  /** Starts a new playback, without a picture yet. */
  begin(): void {
    this.interrupt();
    this.#seen = false;
  }

  /** The page was hidden, so the next gap does not count. */
  interrupt(): void {
    this.#last = null;
    this.#recent = [];
  }

  at(now: number): Standing {
    this.#forget(now);
    const gap = this.#last === null ? 0 : now - this.#last;
    const frozen = this.#last !== null && gap >= this.#threshold();
    return {
      seen: this.#seen,
      frozen,
      forMs: frozen ? gap : 0,
      totalMs: this.#totalMs + (frozen ? gap : 0),
      count: this.#count + (frozen ? 1 : 0),
      fps: this.#recent.length,
    };
  }

  #threshold(): number {
    // Until a mean exists, uses that of a slow picture, 10 a second.
    const mean =
      this.#intervals.length === 0 ? 100 : this.#intervals.reduce((sum, each) => sum + each, 0) / this.#intervals.length;
    return Math.max(FACTOR * mean, mean + MARGIN_MS);
  }

  #forget(now: number): void {
    while (this.#recent.length > 0 && (this.#recent[0] ?? now) <= now - 1000) this.#recent.shift();
  }
}
