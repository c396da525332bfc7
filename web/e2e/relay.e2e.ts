// Two browsers that may use only a TURN server over TCP, in a room of the real server:
// the server's own, and coturn with credentials from the server.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesShown, openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startServer, type Server } from './server';
import { skipped } from './skipped';

const installed = spawnSync('turnserver', ['--version']).error === undefined;
if (!installed) skipped('no turnserver (coturn)');

/** Time until pictures arrive over the relay, ms: the goal for a browser behind a firewall. */
const MOST_MS = 4_000;

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

const real = process.env['WEFT_BIN'] !== undefined;

it.skipIf(!real)('pictures come over TCP through the server itself', whereTheMachineKeepsUp(async () => {
  const server = await startServer(undefined, ['--turn']);
  try {
    await pictureOverRelay(server);
  } finally {
    await server.close();
  }
}));

it.skipIf(!real || !installed)('pictures come over TCP through a TURN server alone', whereTheMachineKeepsUp(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-turn-'));
  const secret = join(directory, 'secret');
  writeFileSync(secret, 'north\n');
  const port = await freePort();
  const options = ['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`, '--no-udp', '--no-tls', '--no-dtls', '--no-cli', '--realm=weft'];
  const files = [`--userdb=${join(directory, 'users')}`, `--pidfile=${join(directory, 'pid')}`, '--log-file=stdout'];
  const turn = spawn('turnserver', ['-n', ...options, ...files, '--allow-loopback-peers', '--use-auth-secret', '--static-auth-secret=north'], { stdio: 'ignore' });
  const server = await startServer(undefined, ['--ice-server', `turn:127.0.0.1:${port}?transport=tcp,secret=${secret}`]);
  try {
    await pictureOverRelay(server);
  } finally {
    await server.close();
    turn.kill();
    rmSync(directory, { recursive: true });
  }
}));

/** Two pages see each other soon enough over relays alone. */
async function pictureOverRelay(server: Server): Promise<void> {
  const enter = (name: string): Promise<Opened> => openPage(browser, `${server.url}/r/relayed?name=${name}`, { before: [onlyRelay] });
  const ada = await enter('Ada');
  const start = Date.now();
  const kim = await enter('Kim');
  try {
    await framesShown(kim.page, 'Picture of Ada', 1);
    const took = Date.now() - start;
    console.log(`first picture over the relay after ${took} ms`);
    await framesShown(kim.page, 'Picture of Ada', 30);
    const pairs = await kim.page.evaluate(usedCandidates);
    expect(pairs.length).toBeGreaterThan(0);
    expect(new Set(pairs)).toEqual(new Set(['relay/tcp']));
    expect(took).toBeLessThan(MOST_MS);
  } finally {
    await ada.page.context().close();
    await kim.page.context().close();
  }
}

/** Makes every connection of the page use only TURN servers, and keeps the connections. */
function onlyRelay(): void {
  const peers: RTCPeerConnection[] = [];
  Object.assign(globalThis, { peers });
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super({ ...configuration, iceTransportPolicy: 'relay' });
      peers.push(this);
    }
  };
}

/** Returns type and relay protocol of the local candidates in use. */
async function usedCandidates(): Promise<string[]> {
  const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
  const used: string[] = [];
  for (const peer of peers) {
    const stats = await peer.getStats();
    stats.forEach((each: Record<string, unknown>) => {
      if (each['type'] !== 'candidate-pair' || each['nominated'] !== true) return;
      const local = stats.get(each['localCandidateId'] as string) as { candidateType: string; relayProtocol: string };
      used.push(`${local.candidateType}/${local.relayProtocol}`);
    });
  }
  return used;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
