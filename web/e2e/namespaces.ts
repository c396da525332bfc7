// Separate network for a test: a host with two interfaces, a host with one, and a router
// between them, each in a network namespace. Does not touch the machine's own network.
//
//   two  a0 10.77.1.2 ── 10.77.1.1 a1  router  c1 10.77.3.1 ── 10.77.3.2 c0  one
//        b0 10.77.2.2 ── 10.77.2.1 b1

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipped } from './skipped';

export const TWO = { a: '10.77.1.2', b: '10.77.2.2' } as const;
export const ONE = '10.77.3.2';
/** A public address for `one`, because Chromium opens no media connection to port 443 of a private
 *  address. */
export const PUBLIC = '203.0.113.2';

export type Side = keyof typeof TWO;
export type Place = 'two' | 'router' | 'one';

const GATEWAY = { a: '10.77.1.1', b: '10.77.2.1' } as const;

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

/** Whether namespaces can be created; if not, says so, so that the test is skipped. */
export function mayMakeNamespaces(): boolean {
  const name = `weft-${process.pid}-probe`;
  try {
    removeAbandoned();
    run('ip', 'netns', 'add', name);
    run('ip', 'netns', 'del', name);
    return true;
  } catch {
    skipped('no right to make network namespaces (run as root, with iproute2)');
    return false;
  }
}

/** Removes the namespaces of killed test runs. */
function removeAbandoned(): void {
  for (const line of run('ip', 'netns', 'list').split('\n')) {
    const [name, pid] = /^weft-(\d+)-\w+/.exec(line) ?? [];
    if (name === undefined || isRunning(Number(pid))) continue;
    try {
      run('ip', 'netns', 'del', name);
    } catch {
      // Another run that starts now has removed it.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may belong to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export class TwoLinks {
  readonly #prefix = `weft-${process.pid}`;
  readonly #directory = mkdtempSync(join(tmpdir(), 'weft-e2e-'));

  constructor() {
    for (const place of ['two', 'router', 'one'] as const) {
      run('ip', 'netns', 'add', this.#name(place));
      // Link-local addresses would appear a second later, at which point Chromium aborts its
      // requests (ERR_NETWORK_CHANGED).
      run('ip', 'netns', 'exec', this.#name(place), 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1');
      this.#ip(place, 'link', 'set', 'lo', 'up');
    }
    this.#cable('two', 'a0', `${TWO.a}/24`, 'router', 'a1', `${GATEWAY.a}/24`);
    this.#cable('two', 'b0', `${TWO.b}/24`, 'router', 'b1', `${GATEWAY.b}/24`);
    this.#cable('one', 'c0', `${ONE}/24`, 'router', 'c1', '10.77.3.1/24');
    run('ip', 'netns', 'exec', this.#name('router'), 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    this.#ip('one', 'route', 'add', 'default', 'via', '10.77.3.1');
    // Packets from the second address leave by its interface, even if no socket is bound to it.
    this.#ip('two', 'rule', 'add', 'from', TWO.b, 'table', '2');
    for (const side of ['a', 'b'] as const) this.#route(side);
  }

  /** Returns the command that runs a program there. */
  enter(place: Place): string[] {
    return ['ip', 'netns', 'exec', this.#name(place)];
  }

  /** Creates a program that runs another one there, for callers that start programs by path. */
  wrap(place: Place, program: string): string {
    const path = join(this.#directory, place);
    writeFileSync(path, `#!/bin/sh\nexec ${this.enter(place).join(' ')} ${program} "$@"\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** Returns a path for a file of this network. */
  file(name: string): string {
    return join(this.#directory, name);
  }

  /** Adds a public address to `one`. */
  addPublicAddress(): void {
    this.#ip('one', 'address', 'add', `${PUBLIC}/32`, 'dev', 'c0');
    this.#ip('router', 'route', 'add', PUBLIC, 'via', ONE);
  }

  /** Makes the router a firewall that passes only this port of the other side, and the answers from
   *  it. */
  passOnly(protocol: 'tcp' | 'udp', port: number): void {
    const rules = `table inet firewall { chain forward { type filter hook forward priority 0; policy drop; ${protocol} dport ${port} accept; ${protocol} sport ${port} accept; }; }`;
    run('ip', 'netns', 'exec', this.#name('router'), 'nft', rules);
  }

  /** Returns the bytes that have crossed this link in both directions. */
  carried(side: Side): number {
    const [link] = JSON.parse(this.#ip('router', '-j', '-s', 'link', 'show', 'dev', `${side}1`)) as [
      { stats64: { rx: { bytes: number }; tx: { bytes: number } } },
    ];
    return link.stats64.rx.bytes + link.stats64.tx.bytes;
  }

  /** Far: the router's end goes down; the host's interface stays up, without carrier. Near: the
   *  host's own interface goes down. */
  cut(side: Side, where: 'near' | 'far'): void {
    if (where === 'far') this.#ip('router', 'link', 'set', `${side}1`, 'down');
    else this.#ip('two', 'link', 'set', `${side}0`, 'down');
  }

  restore(side: Side, where: 'near' | 'far'): void {
    if (where === 'far') {
      this.#ip('router', 'link', 'set', `${side}1`, 'up');
      return;
    }
    this.#ip('two', 'link', 'set', `${side}0`, 'up');
    // Routes disappear with the interface; a machine's network manager adds them again.
    this.#route(side);
  }

  close(): void {
    for (const place of ['two', 'router', 'one'] as const) run('ip', 'netns', 'del', this.#name(place));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #name(place: Place): string {
    return `${this.#prefix}-${place}`;
  }

  #ip(place: Place, ...args: string[]): string {
    return run('ip', '-n', this.#name(place), ...args);
  }

  #cable(here: Place, name: string, address: string, there: Place, peer: string, gateway: string): void {
    run('ip', 'link', 'add', name, 'netns', this.#name(here), 'type', 'veth', 'peer', 'name', peer, 'netns', this.#name(there));
    for (const [place, end, its] of [[here, name, address], [there, peer, gateway]] as const) {
      this.#ip(place, 'address', 'add', its, 'dev', end);
      this.#ip(place, 'link', 'set', end, 'up');
    }
  }

  #route(side: Side): void {
    const metric = side === 'a' ? '100' : '200';
    this.#ip('two', 'route', 'replace', 'default', 'via', GATEWAY[side], 'dev', `${side}0`, 'metric', metric);
    if (side === 'b') this.#ip('two', 'route', 'replace', 'default', 'via', GATEWAY.b, 'dev', 'b0', 'table', '2');
  }
}
