// Starts the program under test, which WEFT_BIN names, for tests in which it
// does more than serve rooms.

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Longer than any test runs: nothing outlives a test run that was killed. */
const LIFETIME_S = '180';

export interface Program {
  /** What it has printed so far, line by line. */
  readonly said: readonly string[];
  /** The first address that it prints. */
  url(): Promise<string>;
  /** Ends it as Ctrl-C would, and tells its exit status. */
  close(): Promise<number | null>;
}

/** `enter` is a command in front of the program, such as that of a network namespace. */
export function startWeft(args: readonly string[], enter: readonly string[] = []): Program {
  const weft = process.env['WEFT_BIN'];
  if (weft === undefined) throw new Error('WEFT_BIN must name the program to test; `make e2e` builds it and does so');
  const sends = ['call', 'join', 'demo'].includes(args[0] ?? '');
  const lifetime = sends && !args.includes('--seconds') ? ['--seconds', LIFETIME_S] : [];
  const [program = '', ...rest] = [...enter, weft, ...args, ...lifetime];
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  const url = printedUrl(child, said, ended);
  // Not every program prints one, and whoever waits for it hears of it.
  url.catch(() => undefined);
  return {
    said,
    url: () => url,
    close() {
      child.kill('SIGINT');
      return ended;
    },
  };
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
