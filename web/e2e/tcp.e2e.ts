// Two browsers behind a firewall that passes only TCP port 443 to the server, in one of
// its rooms, without a TURN server.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromiumPath, framesShown, keepPeers, openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { mayMakeNamespaces, PUBLIC, TwoLinks } from './namespaces';
import { ENDS, startWeft, type Program } from './program';

/** Time until pictures arrive, ms: the goal for a browser behind a firewall. */
const MOST_MS = 4_000;

const permitted = process.env['WEFT_BIN'] !== undefined && mayMakeNamespaces();

let network: TwoLinks;
let browser: Browser;
let server: Program;

beforeAll(async () => {
  if (!permitted) return;
  network = new TwoLinks();
  network.addPublicAddress();
  network.passOnly('tcp', 443);
  server = startWeft(['serve', '--listen', `${PUBLIC}:443`, '--threads', '2'], [...ENDS, ...network.enter('one')]);
  browser = await startChromium({ program: network.wrap('two', chromiumPath()) });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  network?.close();
});

it.skipIf(!permitted)('pictures go both ways over the HTTPS port', whereTheMachineKeepsUp(async () => {
  const { origin } = new URL(await server.url());
  const enter = (name: string): Promise<Opened> => openPage(browser, `${origin}/r/hotel?name=${name}`, { before: [keepPeers] });
  const ada = await enter('Ada');
  const start = Date.now();
  const kim = await enter('Kim');
  await framesShown(kim.page, 'Picture of Ada', 1);
  const took = Date.now() - start;
  console.log(`first picture over TCP after ${took} ms`);
  await framesShown(kim.page, 'Picture of Ada', 60);
  await framesShown(ada.page, 'Picture of Kim', 60);
  for (const { page } of [ada, kim]) {
    const used = await usedProtocols(page);
    expect(used.length).toBeGreaterThan(1);
    expect(new Set(used)).toEqual(new Set(['tcp host']));
  }
  expect(took).toBeLessThan(MOST_MS);
}));

/** Returns protocol and type of the server's candidates in use. */
function usedProtocols(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    const used: string[] = [];
    for (const peer of peers.filter((each) => each.connectionState === 'connected')) {
      const stats = await peer.getStats();
      stats.forEach((each: Record<string, unknown>) => {
        if (each['type'] !== 'candidate-pair' || each['nominated'] !== true) return;
        const remote = stats.get(each['remoteCandidateId'] as string) as { candidateType: string; protocol: string };
        used.push(`${remote.protocol} ${remote.candidateType}`);
      });
    }
    return used;
  });
}
