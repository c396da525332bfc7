/** First wait and upper bound between attempts, in ms. Chosen by us: the first
 *  retry is not noticed, the last does no harm to a server that restarts. */
const FIRST_MS = 500;
const LONGEST_MS = 8_000;

/** Doubling waits; `reset` after a success. */
export class Backoff {
  #attempt = 0;

  next(): number {
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#attempt);
    this.#attempt += 1;
    return wait;
  }

  reset(): void {
    this.#attempt = 0;
  }
}
