// A native sender of H.264 in a room of the real server: a browser shows it, and one
// without a decoder says what is missing. WEFT_CHROMIUM may name a build without H.264;
// Debian's supports it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { brightness, decoded, framesShown, keepPeers, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';
import { frameNumber } from './stamp';

const PICTURE = 'Picture of Rover';

let browser: Browser;
let server: Program;
let native: Program;
let room: string;

beforeAll(async () => {
  browser = await startChromium();
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  const { origin } = new URL(await server.url());
  native = startWeft(['join', origin, '--room', 'e2e', '--name', 'Rover', '--link', '127.0.0.1', '--camera', 'clip:360p', '--codec', 'h264']);
  room = `${origin}/r/e2e`;
});
afterAll(async () => {
  await browser.close();
  await native.close();
  await server.close();
});

it('a browser decodes H.264 and shows the numbered pictures', whereTheMachineKeepsUp(async () => {
  const { page, complaints, context } = await openPage(browser, `${room}?name=Kim`, { before: [keepPeers] });
  await framesShown(page, PICTURE, 60);
  expect((await brightness(page, PICTURE)).spread).toBeGreaterThan(15);
  expect(await decoded(page)).toEqual(['video/H264']);
  const first = await frameNumber(page, PICTURE);
  await framesShown(page, PICTURE, 30);
  const second = await frameNumber(page, PICTURE);
  expect(first, 'a number that can be read').not.toBeNull();
  expect(second).toBeGreaterThanOrEqual((first ?? 0) + 29);
  expect(complaints).toEqual([]);
  await context.close();
}));

/** A browser without the decoder does not know its name. */
function misreadH264(): void {
  const { setRemoteDescription } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.setRemoteDescription = function (this: RTCPeerConnection, { type, sdp }: RTCSessionDescriptionInit) {
    const misread = { type, sdp: sdp?.replaceAll('H264/', 'X264/') ?? '' };
    return Reflect.apply(setRemoteDescription, this, [misread]) as Promise<void>;
  } as typeof setRemoteDescription;
}

it('a browser without H.264 says so, and what helps', whereTheMachineKeepsUp(async () => {
  const { page, context } = await openPage(browser, `${room}?name=Sam`, { before: [misreadH264] });
  await page.getByText('They send H264, which this browser cannot show.').waitFor();
  await page.getByText('weft join --codec').waitFor();
  await context.close();
}));
