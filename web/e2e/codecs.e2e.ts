// Browsers that publish VP9 or AV1 with three temporal layers through the real server, and
// one that shows them.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { brightness, decoded, framesShown, keepPeers, onlyCodec, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';

let browser: Browser;
let server: Program;
let origin: string;

beforeAll(async () => {
  browser = await startChromium();
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  ({ origin } = new URL(await server.url()));
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Publishes one encoding of three temporal layers, whatever the page prefers. */
function publishLayers(): void {
  const { addTransceiver } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.addTransceiver = function (this: RTCPeerConnection, what: MediaStreamTrack | string, init?: RTCRtpTransceiverInit) {
    const isVideo = (typeof what === 'string' ? what : what.kind) === 'video';
    const sendEncodings = [{ scalabilityMode: 'L1T3' } as RTCRtpEncodingParameters];
    return Reflect.apply(addTransceiver, this, [what, isVideo ? { ...init, sendEncodings } : init]) as RTCRtpTransceiver;
  } as typeof addTransceiver;
}

for (const codec of ['VP9', 'AV1']) {
  it(`a browser shows ${codec}`, whereTheMachineKeepsUp(async () => {
    const room = `${origin}/r/${codec}`;
    const before = [onlyCodec(codec), publishLayers];
    const ada = await openPage(browser, `${room}?name=Ada`, { before });
    const kim = await openPage(browser, `${room}?name=Kim`, { before: [keepPeers] });
    await framesShown(kim.page, 'Picture of Ada', 90, 30_000);
    expect((await brightness(kim.page, 'Picture of Ada')).spread).toBeGreaterThan(15);
    expect(await decoded(kim.page)).toEqual([`video/${codec}`]);
    expect(kim.complaints).toEqual([]);
    await ada.context.close();
    await kim.context.close();
  }));
}
