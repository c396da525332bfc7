// `weft join` over two real interfaces to a server and a subscriber in another network:
// the failure of either interface does not stop the subscriber's frames.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { whereTheMachineKeepsUp } from './machine';
import { mayMakeNamespaces, TwoLinks, ONE } from './namespaces';
import { startWeft, type Program } from './program';

const permitted = mayMakeNamespaces();

const programs: Program[] = [];
let network: TwoLinks;
let stats: string;
let roverStats: string;
let start: (args: readonly string[], place: 'two' | 'one') => Program;
let url: string;

beforeAll(async () => {
  if (!permitted) return;
  network = new TwoLinks();
  stats = network.file('subscriber.jsonl');
  roverStats = network.file('rover.jsonl');
  start = (args, place) => {
    const program = startWeft(args, network.enter(place));
    programs.unshift(program);
    return program;
  };
  const server = start(['serve', '--listen', `${ONE}:8080`, '--insecure-http'], 'one');
  url = await server.url();
  const links = ['--link', 'a0', '--link', 'b0'];
  start(['join', url, '--room', 'e2e', '--name', 'Rover', ...links, '--camera', 'clip:360p', '--max-rate', '1mbit', '--stats', roverStats], 'two');
  start(['join', url, '--room', 'e2e', '--name', 'Eve', '--link', 'c0', '--stats', stats], 'one');
});
afterAll(async () => {
  for (const program of programs) await program.close();
  network?.close();
});

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the frames received in each second of the subscriber's statistics. */
async function perSecond(file = stats): Promise<number[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const totals = text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const { received } = JSON.parse(line) as { received: Record<string, { frames: number }> };
    return Object.values(received).reduce((sum, each) => sum + each.frames, 0);
  });
  return totals.map((total, at) => total - (totals[at - 1] ?? 0));
}

it.skipIf(!permitted)('a subscriber gets frames in every second while each interface goes down and comes back', whereTheMachineKeepsUp(async () => {
  const latest = async (): Promise<number> => (await perSecond()).at(-1) ?? 0;
  await expect.poll(latest, { timeout: 30_000, interval: 500 }).toBeGreaterThan(25);
  const before = (await perSecond()).length;
  for (const side of ['a', 'b'] as const) {
    const other = side === 'a' ? 'b' : 'a';
    network.cut(side, 'near');
    const sent = network.carried(other);
    await sleep(4_000);
    expect(network.carried(other) - sent, `bytes over the other link while ${side} is down`).toBeGreaterThan(100_000);
    network.restore(side, 'near');
    const back = network.carried(side);
    await expect.poll(() => network.carried(side) - back, { timeout: 15_000 }).toBeGreaterThan(50_000);
  }
  const seen = (await perSecond()).slice(before);
  expect(seen.length).toBeGreaterThanOrEqual(8);
  // 30 a second are sent; a failure may cost the time until its detection.
  expect(Math.min(...seen), seen.join(' ')).toBeGreaterThanOrEqual(10);
}));

it.skipIf(!permitted)('hears of the room over the other link when the one that signalling began on is dead', whereTheMachineKeepsUp(async () => {
  // Requests use the first link. Its far end goes down, which the host does not see.
  network.cut('a', 'far');
  await sleep(1_000);
  start(['join', url, '--room', 'e2e', '--name', 'Late', '--link', 'c0', '--camera', 'clip:360p', '--send-only'], 'one');
  // Well below the 35 s of silence after which the client would abandon the event stream.
  const seen = async (): Promise<number> => (await perSecond(roverStats)).at(-1) ?? 0;
  await expect.poll(seen, { timeout: 15_000, interval: 500 }).toBeGreaterThan(10);
  network.restore('a', 'far');
}));
