// Whether the machine gave a test the processor: a virtual machine with a busy host
// stalls for tens of milliseconds at a time.

import { cpus } from 'node:os';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { skipped } from './skipped';

/** Share of the processor time that the host may take in a test of times. Chosen by us. */
const MOST_TAKEN = 0.03;

/** Seconds so far in which another machine ran on our processors while we had work: "steal",
 *  proc(5). */
function taken(): number {
  const all = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ') ?? [];
  return Number(all[7] ?? 0) / 100;
}

/** Skips a test whose last attempt fails, if the host took the processors in that time. */
export function whereTheMachineKeepsUp(test: () => Promise<void>): (context: TestContext) => Promise<void> {
  return async (context) => {
    const [began, before] = [performance.now(), taken()];
    try {
      await test();
    } catch (error) {
      const share = (taken() - before) / ((performance.now() - began) / 1_000) / cpus().length;
      const { result, retry } = context.task;
      if (share < MOST_TAKEN || result?.retryCount !== retry) throw error;
      const reason = `the host took ${Math.round(share * 100)} % of the processors`;
      skipped(reason);
      context.skip(reason);
    }
  };
}
