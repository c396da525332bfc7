/** Delays between attempts, in ms. Chosen by us: the first retry is imperceptible; within a minute
 *  of a restart, a client finds the server within 3 s of its return; later ones do not harm a
 *  server that stays down. */
const FIRST_MS = 500;
const SOON_MS = 2_000;
const LONGEST_MS = 8_000;
const SOON_FOR_MS = 60_000;

/** Doubling delays; call `reset` after a success. */
export class Backoff {
  #last = 0;
  #waited = 0;

  next(): number {
    const longest = this.#waited < SOON_FOR_MS ? SOON_MS : LONGEST_MS;
    this.#last = Math.min(longest, Math.max(FIRST_MS, this.#last * 2));
    this.#waited += this.#last;
    return this.#last;
  }

  reset(): void {
    this.#last = 0;
    this.#waited = 0;
  }
}
