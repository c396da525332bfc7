// Starts a real server for tests: `weft serve` of the program named by WEFT_BIN, or the
// server's example.

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ANY_PORT = '127.0.0.1:0';
const EXAMPLE = ['cargo', 'run', '--quiet', '--package', 'weft-server', '--example', 'serve', '--'];

export interface Server {
  readonly url: string;
  /** Returns one of the metrics for operators. */
  metric(name: string): Promise<number>;
  close(): Promise<void>;
  /** Ends it like a crash, without notifying anyone. */
  kill(): Promise<void>;
}

/** Serves on loopback, on a free port or the requested one; only the program accepts options. */
export async function startServer(listen = ANY_PORT, options: readonly string[] = []): Promise<Server> {
  const weft = process.env['WEFT_BIN'];
  const [program = '', ...args] = weft === undefined ? [...EXAMPLE, listen] : [weft, 'serve', '--listen', listen, ...options];
  const child = spawn(program, args, { cwd: ROOT, stdio: 'pipe' });
  const url = await printedUrl(child);
  return {
    url,
    async metric(name) {
      const text = await (await fetch(`${url}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.split(' ')[1]);
    },
    close: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // The example ends with its input; a signal would end only cargo.
    child.stdin?.end();
    if (weft !== undefined) child.kill(signal);
    await ended;
  }
}

/** Returns the first URL that the program prints, without its path. */
function printedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with status ${code}: ${said.join('\n')}`)));
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) continue;
      createInterface(output).on('line', (line) => {
        said.push(line);
        const url = /https?:\/\/[^\s]+/.exec(line)?.[0];
        if (url !== undefined) resolve(new URL(url).origin);
      });
    }
  });
}
