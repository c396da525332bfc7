// `weft call` over two links to a browser with two addresses, which makes four pairs.
// Checks that the browser soon keeps one of them, and that it is not metered.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { chromiumPath, framesShown, keepPeers, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { mayMakeNamespaces, TWO, TwoLinks } from './namespaces';
import { startWeft, type Program } from './program';

const PICTURE = 'Picture of weft';
/** The number of changes varies from call to call. */
const CALLS = 5;
const MOST_CHANGES = 2;
const permitted = mayMakeNamespaces();

let network: TwoLinks;
let browser: Browser | undefined;
let sender: Program | undefined;

beforeAll(() => {
  if (!permitted) return;
  network = new TwoLinks();
  network.addPublicAddress();
});
afterEach(async () => {
  await browser?.close();
  await sender?.close();
});
afterAll(() => network?.close());

interface Pairs {
  readonly count: number;
  readonly changes: number;
  /** Address of the sender that the browser sends to. */
  readonly chosen: string | undefined;
}

function pairs(page: Page): Promise<Pairs> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    let [count, changes] = [0, 0];
    let chosen: string | undefined;
    for (const peer of peers) {
      const all = new Map<string, Record<string, unknown>>();
      (await peer.getStats()).forEach((each: Record<string, unknown>) => all.set(String(each['id']), each));
      for (const each of all.values()) {
        if (each['type'] === 'candidate-pair') count += 1;
        if (each['type'] !== 'transport') continue;
        changes += Number(each['selectedCandidatePairChanges']);
        const pair = all.get(String(each['selectedCandidatePairId']));
        chosen = String(all.get(String(pair?.['remoteCandidateId']))?.['address']);
      }
    }
    return { count, changes, chosen };
  });
}

/** Starts the sender with these links, and a browser for its page. */
async function start(links: readonly string[]): Promise<() => Promise<Page>> {
  const args = links.flatMap((each) => ['--link', each]);
  sender = startWeft(['call', '--listen', `${TWO.b}:8443`, ...args, '--camera', 'clip:360p', '--max-rate', '2mbit'], network.enter('two'));
  const url = await sender.url();
  const started = (browser = await startChromium({ program: network.wrap('one', chromiumPath()) }));
  return async () => {
    const { page } = await openPage(started, url, { before: [keepPeers] });
    await framesShown(page, PICTURE, 90);
    return page;
  };
}

it.skipIf(!permitted)('plays over four pairs in a browser that soon stays with one of them', { timeout: 120_000 }, whereTheMachineKeepsUp(async () => {
  const call = await start(['wifi=a0', 'lte=b0']);
  for (let calls = 0; calls < CALLS; calls += 1) {
    const page = await call();
    const { count, changes } = await pairs(page);
    console.log(`${changes} changes of the selected pair`);
    expect(count).toBe(4);
    expect(changes).toBeLessThanOrEqual(MOST_CHANGES);
    await page.close();
  }
}));

for (const [metered, free] of [['a', 'b'], ['b', 'a']] as const) {
  it.skipIf(!permitted)(`the browser sends over link ${free} while ${metered} is metered`, { timeout: 120_000 }, whereTheMachineKeepsUp(async () => {
    const call = await start([`${metered}0,metered`, `${free}0`]);
    for (let calls = 0; calls < CALLS; calls += 1) {
      const page = await call();
      const { chosen, changes } = await pairs(page);
      console.log(`metered ${metered}: sends to ${chosen === TWO[free] ? 'the free link' : chosen}, ${changes} changes`);
      expect(chosen).toBe(TWO[free]);
      await page.close();
    }
  }));
}
