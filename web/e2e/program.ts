// Starts the program under test, which WEFT_BIN names, for tests in which it
// does more than serve rooms.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Longer than any test runs: nothing outlives a test run that was killed. */
const LIFETIME_S = '180';

export interface Program {
  /** What it has printed so far, line by line. */
  readonly said: readonly string[];
  /** The first address that it prints. */
  url(): Promise<string>;
  /** Seconds of processor time so far, of what was started in front of it and of itself. */
  processorTime(): number;
  /** Ends it as Ctrl-C would, and tells its exit status. */
  close(): Promise<number | null>;
}

/** In front of a program that is told no `--seconds`: it ends all the same. */
export const ENDS = ['timeout', '--signal=INT', LIFETIME_S];

/** `enter` is a command in front of the program, such as that of a network namespace. */
export function startWeft(args: readonly string[], enter: readonly string[] = []): Program {
  const weft = process.env['WEFT_BIN'];
  if (weft === undefined) throw new Error('WEFT_BIN must name the program to test; `make e2e` builds it and does so');
  const sends = ['call', 'join', 'demo'].includes(args[0] ?? '');
  const lifetime = sends && !args.includes('--seconds') && enter[0] !== 'timeout' ? ['--seconds', LIFETIME_S] : [];
  const [program = '', ...rest] = [...enter, weft, ...args, ...lifetime];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  const url = printedUrl(child, said, ended);
  // Not every program prints one, and anyone who waits for it learns of it.
  url.catch(() => undefined);
  return {
    said,
    url: () => url,
    processorTime: () => processorTime(child.pid!),
    close() {
      child.kill('SIGINT');
      return ended;
    },
  };
}

/** Seconds that a process and its children have used: proc(5). */
function processorTime(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ').slice(11, 13).map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((child) => child !== '');
  return (user! + system!) / 100 + children.reduce((sum, child) => sum + processorTime(Number(child)), 0);
}

function printedUrl(child: ChildProcess, said: string[], ended: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) continue;
      createInterface(output).on('line', (line) => {
        said.push(line);
        const url = /https?:\/\/[^\s]+/.exec(line)?.[0];
        if (url !== undefined) resolve(url);
      });
    }
    ended.then((status) => reject(new Error(`weft ended with status ${String(status)}: ${said.join('\n')}`)), reject);
  });
}
