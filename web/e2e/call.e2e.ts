// `weft call` to a browser without multipath, where one of the two has two real interfaces.
// Checks that Chromium merges the paths (weft-secure describes its ICE rules), and that the
// failure of either link is not seen, and is heard only briefly by the sender.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { brightness, chromiumPath, framesShown, keepPeers, openPage, startChromium, watchFrames } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { mayMakeNamespaces, ONE, TWO, TwoLinks, type Place, type Side } from './namespaces';
import { startWeft, type Program } from './program';

const PICTURE = 'Picture of weft';

/** A failure is detected after 200 ms of silence; a busy machine may take longer. */
const LARGEST_GAP_MS = 1_000;

/**
 * libwebrtc forgets a pair that has received nothing for 30 s
 * (p2p/base/p2p_constants.h, DEAD_CONNECTION_RECEIVE_TIMEOUT).
 */
const IDLE_MS = 35_000;
const LOOK_MS = 5_000;
/** Promised to Chromium by weft-secure. */
const CHECKS_APART_MS = 2_500;
/** Maximum; media packets are larger. */
const CHECK_BYTES = 150;

const permitted = mayMakeNamespaces();

let network: TwoLinks;
let browser: Browser | undefined;
let sender: Program | undefined;

beforeAll(() => {
  if (permitted) network = new TwoLinks();
});
afterEach(async () => {
  await browser?.close();
  await sender?.close();
});
afterAll(() => network?.close());

/** Files of the sound in the return direction. */
interface Back {
  readonly microphone: string;
  readonly speaker: string;
}

/** Makes a call from one host of the network to a browser on the other. */
async function call(from: Place, listen: string, links: readonly string[], to: Place, back?: Back): Promise<Page> {
  const args = links.flatMap((each) => ['--link', each]);
  if (back !== undefined) args.push('--speaker', back.speaker);
  sender = startWeft(['call', '--listen', listen, ...args, '--camera', 'clip:360p', '--max-rate', '2mbit'], network.enter(from));
  browser = await startChromium({ program: network.wrap(to, chromiumPath()), ...(back === undefined ? {} : { sound: back.microphone }) });
  const { page } = await openPage(browser, await sender.url(), { before: [keepPeers] });
  await framesShown(page, PICTURE, 30);
  expect((await brightness(page, PICTURE)).spread).toBeGreaterThan(15);
  return page;
}

/** The page's connections negotiate no transport-wide numbers, so weft sends over one path, and
 *  only checks over the others. */
function withoutNumbers(): void {
  const take = RTCPeerConnection.prototype.setRemoteDescription as (this: RTCPeerConnection, it: RTCSessionDescriptionInit) => Promise<void>;
  RTCPeerConnection.prototype.setRemoteDescription = function (this: RTCPeerConnection, { type, sdp = '' }: RTCSessionDescriptionInit) {
    return take.call(this, { type, sdp: sdp.replace(/^a=(extmap|rtcp-fb):.*transport-(wide-)?cc.*\r\n/gm, '') });
  };
}

interface Statistics {
  readonly connections: number;
  readonly pairChanges: number;
  /** Bytes received from each of the sender's addresses. */
  readonly receivedFrom: Record<string, number>;
  readonly pairs: readonly Pair[];
}

/** A pair that the browser knows; a pair that it forgets and finds again has another id. */
interface Pair {
  readonly id: string;
  readonly from: string;
  readonly state: string;
  /** Number of the sender's checks that arrived. */
  readonly checks: number;
  /** All received bytes, including checks. */
  readonly bytes: number;
}

function statistics(page: Page): Promise<Statistics> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    const all = new Map<string, Record<string, unknown>>();
    for (const peer of peers) (await peer.getStats()).forEach((each: Record<string, unknown>) => all.set(String(each['id']), each));
    const receivedFrom: Record<string, number> = {};
    const pairs: Pair[] = [];
    let pairChanges = 0;
    for (const each of all.values()) {
      if (each['type'] === 'transport') pairChanges += Number(each['selectedCandidatePairChanges']);
      if (each['type'] !== 'candidate-pair') continue;
      const from = String(all.get(String(each['remoteCandidateId']))?.['address']);
      receivedFrom[from] = (receivedFrom[from] ?? 0) + Number(each['bytesReceived']);
      pairs.push({ id: String(each['id']), from, state: String(each['state']), checks: Number(each['requestsReceived']), bytes: Number(each['bytesReceived']) });
    }
    return { connections: peers.length, pairChanges, receivedFrom, pairs };
  });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the bytes that cross each link within this time. */
async function carriedWithin(ms: number): Promise<Record<Side, number>> {
  const [a, b] = [network.carried('a'), network.carried('b')];
  await sleep(ms);
  return { a: network.carried('a') - a, b: network.carried('b') - b };
}

/** More than checks and reports, so media. */
const MEDIA_PER_SECOND = 10_000;

async function bothCarry(): Promise<void> {
  const least = async (): Promise<number> => {
    const { a, b } = await carriedWithin(1_000);
    return Math.min(a, b);
  };
  await expect.poll(least, { timeout: 15_000, interval: 100 }).toBeGreaterThan(MEDIA_PER_SECOND);
}

/** Cuts each link in turn: neither failure is visible, and each link is used again afterwards. */
async function survives(page: Page, deaths: readonly (readonly [Side, 'near' | 'far'])[]): Promise<void> {
  await bothCarry();
  const frames = await watchFrames(page, PICTURE);
  for (const [side, where] of deaths) {
    const other = side === 'a' ? 'b' : 'a';
    await frames();
    network.cut(side, where);
    const carried = await carriedWithin(4_000);
    const seen = await frames();
    console.log(`link ${side} cut (${where}): ${seen.count} frames in 4 s, the largest gap ${Math.round(seen.largestGap)} ms`);
    expect(seen.largestGap, `the largest gap after link ${side} was cut`).toBeLessThan(LARGEST_GAP_MS);
    expect(seen.count, `frames in 4 s without link ${side}`).toBeGreaterThan(40);
    expect(carried[side], 'a link that is cut carries nothing').toBeLessThan(MEDIA_PER_SECOND);
    expect(carried[other]).toBeGreaterThan(4 * MEDIA_PER_SECOND);
    network.restore(side, where);
    await bothCarry();
    expect((await frames()).largestGap, `the largest gap while link ${side} came back`).toBeLessThan(LARGEST_GAP_MS);
  }
  const { connections, pairChanges } = await statistics(page);
  console.log(`${pairChanges} changes of the selected pair`);
  expect(connections, 'nothing was negotiated again').toBe(1);
  // One at the start, and two for each cut (away and back); a second nominated pair would
  // cause hundreds.
  expect(pairChanges).toBeLessThanOrEqual(8);
}

it.skipIf(!permitted)('plays over two links in a browser with one, and continues when either dies', whereTheMachineKeepsUp(async () => {
  const page = await call('two', `${TWO.b}:8443`, ['wifi=a0', 'lte=b0'], 'one');
  await survives(page, [['a', 'far'], ['b', 'near']]);
  const { receivedFrom } = await statistics(page);
  for (const address of Object.values(TWO)) expect(receivedFrom[address]).toBeGreaterThan(50_000);
}));

it.skipIf(!permitted)('plays over both networks of a browser from a sender with one, and continues when either dies', whereTheMachineKeepsUp(async () => {
  const page = await call('one', `${ONE}:8443`, ['c0'], 'two');
  await survives(page, [['a', 'far'], ['b', 'far']]);
}));

/** Returns the pair of this page with an address of the sender. */
async function pairWith(page: Page, address: string): Promise<Pair> {
  const found = (await statistics(page)).pairs.filter((each) => each.from === address && each.state === 'succeeded');
  expect(found, `pairs with ${address}`).toHaveLength(1);
  return found[0] as Pair;
}

it.skipIf(!permitted)('keeps a pair by checks alone for longer than Chromium waits, and continues over it', { timeout: 150_000 }, whereTheMachineKeepsUp(async () => {
  // The pages are loaded over the link that they play over.
  const page = await call('two', `${TWO.a}:8443`, ['wifi=a0', 'lte=b0'], 'one');
  if (browser === undefined || sender === undefined) throw new Error('the call has begun');
  const { page: plain } = await openPage(browser, await sender.url(), { before: [keepPeers, withoutNumbers] });
  await framesShown(plain, PICTURE, 30);
  const frames = await watchFrames(page, PICTURE);
  const start = await vi.waitFor(() => pairWith(plain, TWO.b), { timeout: 10_000 });
  for (let before = start, at = 0; at < IDLE_MS; at += LOOK_MS) {
    await sleep(LOOK_MS);
    const pair = await pairWith(plain, TWO.b);
    expect(pair.id, 'the pair was not forgotten').toBe(start.id);
    expect(pair.checks - before.checks, `checks in ${LOOK_MS} ms`).toBeGreaterThanOrEqual(LOOK_MS / CHECKS_APART_MS);
    before = pair;
  }
  const idle = await pairWith(plain, TWO.b);
  expect(idle.bytes - start.bytes, 'nothing but checks').toBeLessThanOrEqual((idle.checks - start.checks) * CHECK_BYTES);
  expect((await pairWith(plain, TWO.a)).bytes).toBeGreaterThan((IDLE_MS / 1_000) * MEDIA_PER_SECOND);
  // Only one pair is nominated, so there is nothing to flip between.
  for (const each of [page, plain]) expect((await statistics(each)).pairChanges, 'selected once, or at first another').toBeLessThanOrEqual(2);

  const kept = await pairWith(page, TWO.b);
  const shown = await watchFrames(plain, PICTURE);
  await frames();
  network.cut('a', 'far');
  await sleep(5_000);
  const [seen, plainly] = [await frames(), await shown()];
  network.restore('a', 'far');
  console.log(`after ${IDLE_MS / 1_000} s: the largest gap ${Math.round(seen.largestGap)} ms, without numbers ${Math.round(plainly.largestGap)} ms`);
  expect(seen.largestGap).toBeLessThan(LARGEST_GAP_MS);
  // Without reports, only the regular checks show that a path is dead.
  expect(plainly.largestGap).toBeLessThan(CHECKS_APART_MS + LARGEST_GAP_MS);
  for (const [each, { id }] of [[page, kept], [plain, start]] as const) {
    expect((await pairWith(each, TWO.b)).id, 'the pair that was kept').toBe(id);
    expect((await statistics(each)).pairChanges, 'and moved once').toBeLessThanOrEqual(4);
  }
}));

/** Samples per second of a WAV file, and octets per sample of both channels. */
const SAMPLES = 48_000;
const STEREO = 4;
/** Length of the windows for measuring the sound that the sender plays. */
const WINDOW_MS = 50;
/** A burst of noise starts this often: noise suppressors pass it, unlike a tone. */
const BURST_MS = 200;

/** Ten seconds of noise bursts, 16 bits mono. */
function bursts(): Buffer {
  const samples = 10 * SAMPLES;
  const bytes = Buffer.alloc(44 + 2 * samples);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + 2 * samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(SAMPLES, 24);
  bytes.writeUInt32LE(2 * SAMPLES, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(2 * samples, 40);
  for (let at = 0; at < samples; at += 1) {
    const isLoud = ((at * 1_000) / SAMPLES) % BURST_MS < 80;
    if (isLoud) bytes.writeInt16LE(Math.round((Math.random() - 0.5) * 40_000), 44 + 2 * at);
  }
  return bytes;
}

/** Returns the longest time in ms without a loud window in the sound played from an offset of the
 *  file. */
function largestSilence(file: string, from: number): number {
  const bytes = readFileSync(file).subarray(from);
  const length = (SAMPLES * STEREO * WINDOW_MS) / 1_000;
  let [silence, largest] = [0, 0];
  for (let window = 0; (window + 1) * length <= bytes.length; window += 1) {
    let peak = 0;
    for (let at = window * length; at < (window + 1) * length; at += 2) peak = Math.max(peak, Math.abs(bytes.readInt16LE(at)));
    silence = peak > 500 ? 0 : silence + WINDOW_MS;
    largest = Math.max(largest, silence);
  }
  return largest;
}

it.skipIf(!permitted)('the sound that comes back continues when either link dies', whereTheMachineKeepsUp(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-'));
  const [microphone, speaker] = [join(folder, 'bursts.wav'), join(folder, `heard-${Date.now()}.wav`)];
  writeFileSync(microphone, bursts());
  const page = await call('two', `${TWO.b}:8443`, ['wifi=a0', 'lte=b0'], 'one', { microphone, speaker });
  await bothCarry();
  await page.getByRole('button', { name: 'Unmute microphone' }).click();
  const end = (): number => statSync(speaker).size & ~3;
  const heardFor = async (ms: number): Promise<number> => {
    const from = end();
    await sleep(ms);
    return largestSilence(speaker, Math.max(from, 44));
  };
  await expect.poll(() => heardFor(1_000), { timeout: 15_000 }).toBeLessThan(BURST_MS * 2);
  for (const side of ['a', 'b'] as const) {
    network.cut(side, 'far');
    const silence = await heardFor(5_000);
    console.log(`link ${side} cut: ${silence} ms without sound from the browser`);
    expect(silence, `silence after link ${side} was cut`).toBeLessThan(LARGEST_GAP_MS);
    network.restore(side, 'far');
    await bothCarry();
  }
  expect((await statistics(page)).connections, 'nothing was negotiated again').toBe(1);
  rmSync(folder, { recursive: true });
}));
