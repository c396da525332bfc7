// `weft call` over two real interfaces to a browser that has one and knows
// nothing of paths: pins how Chromium merges them (its ICE rules stand in
// weft-secure), and that neither death of a link is seen.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { brightness, chromiumPath, framesShown, openPage, startChromium, watchFrames, type Opened } from './chromium';
import { mayMakeNamespaces, SENDER, TwoLinks, type Side } from './namespaces';
import { startWeft, type Program } from './program';

const PICTURE = 'Picture of weft';

/** A death is found by 200 ms of silence; a loaded machine may take its time. */
const LARGEST_GAP_MS = 1_000;

const permitted = mayMakeNamespaces();

let network: TwoLinks;
let browser: Browser;
let sender: Program;
let opened: Opened;

beforeAll(async () => {
  if (!permitted) return;
  network = new TwoLinks();
  browser = await startChromium({ program: network.wrap('viewer', chromiumPath()) });
});
afterAll(async () => {
  await browser?.close();
  network?.close();
});
beforeEach(async () => {
  if (!permitted) return;
  const links = ['--link', 'wifi=a0', '--link', 'lte=b0'];
  sender = startWeft(['call', '--listen', `${SENDER.b}:8443`, ...links, '--camera', 'clip:360p'], network.enter('sender'));
  opened = await openPage(browser, await sender.url(), { before: keepPeers });
  await framesShown(opened.page, PICTURE, 30);
});
afterEach(async () => {
  await opened?.context.close();
  await sender?.close();
});

/** Lets the test ask the page's connections for their statistics. */
function keepPeers(): void {
  const peers: RTCPeerConnection[] = [];
  Object.assign(globalThis, { peers });
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      peers.push(this);
    }
  };
}

interface Statistics {
  readonly connections: number;
  readonly pairChanges: number;
  /** Bytes received from each of the sender's addresses. */
  readonly receivedFrom: Record<string, number>;
}

function statistics(page: Page): Promise<Statistics> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    const all = new Map<string, Record<string, unknown>>();
    for (const peer of peers) (await peer.getStats()).forEach((each: Record<string, unknown>) => all.set(String(each['id']), each));
    const receivedFrom: Record<string, number> = {};
    let pairChanges = 0;
    for (const each of all.values()) {
      if (each['type'] === 'transport') pairChanges += Number(each['selectedCandidatePairChanges']);
      if (each['type'] !== 'candidate-pair') continue;
      const address = String(all.get(String(each['remoteCandidateId']))?.['address']);
      receivedFrom[address] = (receivedFrom[address] ?? 0) + Number(each['bytesReceived']);
    }
    return { connections: peers.length, pairChanges, receivedFrom };
  });
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Bytes that come through on each link within this time. */
async function arrivedWithin(ms: number): Promise<Record<Side, number>> {
  const [a, b] = [network.arrived('a'), network.arrived('b')];
  await sleep(ms);
  return { a: network.arrived('a') - a, b: network.arrived('b') - b };
}

/** More than checks and reports: media. */
const MEDIA_PER_SECOND = 10_000;

async function bothCarry(): Promise<void> {
  const least = async (): Promise<number> => {
    const { a, b } = await arrivedWithin(1_000);
    return Math.min(a, b);
  };
  await expect.poll(least, { timeout: 15_000, interval: 100 }).toBeGreaterThan(MEDIA_PER_SECOND);
}

it.skipIf(!permitted)('plays over two links in a browser with one, and goes on when either dies', async () => {
  const { page } = opened;
  expect((await brightness(page, PICTURE)).spread).toBeGreaterThan(15);
  await bothCarry();

  const frames = await watchFrames(page, PICTURE);
  for (const [side, where] of [['a', 'far'], ['b', 'near']] as const) {
    const other = side === 'a' ? 'b' : 'a';
    await frames();
    network.cut(side, where);
    const arrived = await arrivedWithin(4_000);
    const seen = await frames();
    expect(seen.largestGap, `the largest gap after link ${side} was cut`).toBeLessThan(LARGEST_GAP_MS);
    expect(seen.count, `frames in 4 s without link ${side}`).toBeGreaterThan(60);
    expect(arrived[side], 'a link that is cut carries nothing').toBeLessThan(MEDIA_PER_SECOND);
    expect(arrived[other]).toBeGreaterThan(4 * MEDIA_PER_SECOND);
    network.restore(side, where);
    await bothCarry();
    expect((await frames()).largestGap, `the largest gap while link ${side} came back`).toBeLessThan(LARGEST_GAP_MS);
  }

  const { connections, pairChanges, receivedFrom } = await statistics(page);
  expect(connections, 'nothing was negotiated anew').toBe(1);
  // One to begin with, and away and back for each cut: a second nominated pair
  // would make hundreds.
  expect(pairChanges).toBeLessThanOrEqual(8);
  expect(receivedFrom[SENDER.a]).toBeGreaterThan(50_000);
  expect(receivedFrom[SENDER.b]).toBeGreaterThan(50_000);
});
