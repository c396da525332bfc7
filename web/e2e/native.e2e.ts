// A native sender over two links and a browser in one room of the real server:
// each sees the other.

import { readFile, rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { brightness, framesShown, keepPeers, loudest, openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';

const PICTURE = 'Picture of Rover';

let directory: string;
let browser: Browser;
let server: Program;
let native: Program;
let kim: Opened;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-e2e-'));
  browser = await startChromium();
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  const { origin } = new URL(await server.url());
  const links = ['--link', 'wifi=127.0.0.1', '--link', 'lte=127.0.0.2'];
  const files = ['--record', join(directory, 'room.webm'), '--stats', join(directory, 'stats.jsonl')];
  native = startWeft(['join', origin, '--room', 'e2e', '--name', 'Rover', ...links, '--camera', 'clip:360p', '--mic', 'tone', ...files]);
  kim = await openPage(browser, `${origin}/r/e2e?name=Kim`, { before: [keepPeers] });
});
afterAll(async () => {
  await browser.close();
  await native.close();
  await server.close();
  await rm(directory, { recursive: true });
});

it('the browser sees and hears the native sender, and how its links are', whereTheMachineKeepsUp(async () => {
  await framesShown(kim.page, PICTURE, 60);
  expect((await brightness(kim.page, PICTURE)).spread).toBeGreaterThan(15);
  expect(await loudest(kim.page, PICTURE)).toBeGreaterThan(0.01);
  const badge = kim.page.getByLabel('Links of Rover: 2 links');
  await badge.waitFor();
  const shown = kim.page.locator('.links');
  // A second attempt finds it already open.
  if (!(await shown.isVisible())) await badge.click();
  await expect.poll(() => shown.innerText()).toMatch(/wifi[\s\S]*up[\s\S]*Mbps[\s\S]*ms[\s\S]*lte[\s\S]*up[\s\S]*Mbps[\s\S]*ms/);
  expect(kim.complaints).toEqual([]);
}));

it('the native sender says how loud its sound is, and is marked as the speaker', whereTheMachineKeepsUp(async () => {
  const told = (): Promise<number | undefined> =>
    kim.page.evaluate(() => {
      const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
      const sources = peers.flatMap((peer) => peer.getReceivers()).flatMap((receiver) => receiver.getSynchronizationSources());
      return sources.find(({ audioLevel }) => audioLevel !== undefined)?.audioLevel;
    });
  // The tone is 17 dB below overload; this is its level as a fraction.
  await expect.poll(told).toBeCloseTo(10 ** (-17 / 20), 3);
  await kim.page.locator('.tile.speaks', { hasText: 'Rover' }).waitFor();
}));

interface Line {
  readonly t: number;
  readonly received: Readonly<Record<string, { readonly frames: number; readonly audio_packets: number }>>;
}

it('the native endpoint receives and records the browser', whereTheMachineKeepsUp(async () => {
  const frames = async (): Promise<number> => {
    const lines = (await readFile(join(directory, 'stats.jsonl'), 'utf8')).trimEnd().split('\n');
    const { received } = JSON.parse(lines.at(-1) || '{"received":{}}') as Line;
    const [one] = Object.values(received);
    return Math.min(one?.frames ?? 0, one?.audio_packets ?? 0);
  };
  await expect.poll(frames, { interval: 500 }).toBeGreaterThan(90);
  expect(await native.close()).toBe(0);

  const recording = await readFile(join(directory, 'room.webm'));
  // EBML's magic number (RFC 8794, section 11.2.1).
  expect(recording.subarray(0, 4)).toEqual(Buffer.from([0x1a, 0x45, 0xdf, 0xa3]));
  const played = await play(recording);
  expect(played.width).toBeGreaterThanOrEqual(160);
  expect(played.seconds).toBeGreaterThan(2);
  expect(played.colours).toBeGreaterThan(10);
}));

/** Plays the recording in a third-party player. */
async function play(recording: Buffer): Promise<{ width: number; seconds: number; colours: number }> {
  const page = await browser.newPage();
  const site = 'http://recording.test/';
  await page.route(`${site}**`, (route) =>
    route.fulfill(route.request().url() === site ? { contentType: 'text/html', body: '' } : { contentType: 'video/webm', body: recording }),
  );
  await page.goto(site);
  const played = await page.evaluate(async () => {
    const video = document.createElement('video');
    video.muted = true;
    video.src = 'room.webm';
    const ended = new Promise((resolve, reject) => {
      video.onended = resolve;
      video.onerror = () => reject(new Error(video.error?.message));
    });
    video.playbackRate = 4;
    await video.play();
    await ended;
    const canvas = new OffscreenCanvas(64, 36);
    const paint = canvas.getContext('2d')!;
    paint.drawImage(video, 0, 0, 64, 36);
    const colours = new Set(new Uint32Array(paint.getImageData(0, 0, 64, 36).data.buffer)).size;
    return { width: video.videoWidth, seconds: video.currentTime, colours };
  });
  await page.close();
  return played;
}
