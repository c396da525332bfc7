// Starts the program under test, named by WEFT_BIN, for tests in which it does more than
// serve rooms.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Longer than any test, so that nothing outlives a killed test run. */
const LIFETIME_S = '180';

export interface Program {
  /** Lines that it has printed so far. */
  readonly said: readonly string[];
  /** Returns the first URL that it prints. */
  url(): Promise<string>;
  /** Returns the seconds of processor time so far, of the program and its prefix command. */
  processorTime(): number;
  /** Ends it like Ctrl-C, and returns its exit status. */
  close(): Promise<number | null>;
}

/** Prefix for a program without `--seconds`, which ends it after a time. */
export const ENDS = ['timeout', '--signal=INT', LIFETIME_S];

/** `enter` is a prefix command, such as that of a network namespace. */
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
  // Not every program prints one; callers that wait for it get the error.
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

/** Returns the seconds of processor time that a process and its children have used: proc(5). */
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
