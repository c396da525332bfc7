// A native sender with two cameras in a room of the real server: a browser shows both,
// and another native endpoint records both.

import { readdir, readFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesShown, openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';
import { frameNumber } from './stamp';

/** The second camera is distinguished from the first by its pictures per second. */
const CAMERAS = ['--camera', 'Front=clip:360p@30', '--camera', 'Rear window=clip:360p@10#1'];
const FRONT = 'Picture of Rover: Front';
const REAR = 'Picture of Rover: Rear window';

let directory: string;
let browser: Browser;
let server: Program;
let rover: Program;
let archive: Program;
let kim: Opened;
let origin: string;

const sender = (name: string, more: readonly string[]) =>
  startWeft(['join', origin, '--room', 'e2e', '--name', name, '--link', '127.0.0.1', ...more]);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-e2e-'));
  browser = await startChromium();
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  origin = new URL(await server.url()).origin;
  rover = sender('Rover', [...CAMERAS, '--mic', 'tone']);
  archive = sender('Archive', ['--record', join(directory, 'room.webm'), '--stats', join(directory, 'stats.jsonl')]);
  kim = await openPage(browser, `${origin}/r/e2e?name=Kim`);
});
afterAll(async () => {
  await browser.close();
  await rover.close();
  await archive.close();
  await server.close();
  await rm(directory, { recursive: true });
});

/** Returns the number of pictures that a camera took between two readings. */
async function taken(page: Page, label: string, first: number): Promise<number> {
  let last = first;
  await expect.poll(async () => (last = (await frameNumber(page, label)) ?? first)).toBeGreaterThan(first);
  return last - first;
}

async function firstNumber(page: Page, label: string): Promise<number> {
  let number: number | null = null;
  await expect.poll(async () => (number = await frameNumber(page, label))).not.toBeNull();
  return number ?? 0;
}

it('a browser shows each camera under its name, and both move', whereTheMachineKeepsUp(async () => {
  const { page, complaints } = kim;
  for (const label of [FRONT, REAR]) await framesShown(page, label, 20, 40_000);
  const [front, rear] = [await firstNumber(page, FRONT), await firstNumber(page, REAR)];
  await page.waitForTimeout(4_000);
  const moved = [await taken(page, FRONT, front), await taken(page, REAR, rear)] as const;
  // 30 and 10 a second; a factor of two is enough to distinguish them.
  expect(moved[0]).toBeGreaterThan(2 * moved[1]);
  expect(moved[1]).toBeGreaterThan(10);
  expect(await page.getByLabel(/^Picture of Rover/).count()).toBe(2);
  await page.getByText('Rear window').waitFor();
  expect(complaints).toEqual([]);
}));

it('a phone and a laptop show all pictures without scrolling, and none jumps', whereTheMachineKeepsUp(async () => {
  const { page } = kim;
  for (const viewport of [{ width: 390, height: 844 }, { width: 1280, height: 860 }]) {
    await page.setViewportSize(viewport);
    const boxes = async () => Promise.all([FRONT, REAR].map((label) => page.getByLabel(label, { exact: true }).boundingBox()));
    await expect.poll(async () => (await boxes())[1]?.width ?? 0).toBeGreaterThan(150);
    const before = await boxes();
    await page.waitForTimeout(1_500);
    expect(await boxes()).toEqual(before);
    for (const box of before) {
      expect(box!.x).toBeGreaterThanOrEqual(0);
      expect(box!.x + box!.width).toBeLessThanOrEqual(viewport.width);
      expect(box!.y + box!.height).toBeLessThanOrEqual(viewport.height);
    }
  }
}));

interface Row {
  readonly stream: string;
  readonly frames: number;
}

interface Line {
  readonly peers: readonly { readonly received: readonly Row[] }[];
  readonly received: Readonly<Record<string, { readonly cameras: readonly { readonly frames: number }[] }>>;
}

it('a native endpoint records each camera to a file of its own and has figures of each', whereTheMachineKeepsUp(async () => {
  const line = async (): Promise<Line> => {
    const lines = (await readFile(join(directory, 'stats.jsonl'), 'utf8')).trimEnd().split('\n');
    return JSON.parse(lines.at(-1) || '{"peers":[],"received":{}}') as Line;
  };
  const ofTwo = async (): Promise<number> => {
    const two = Object.values((await line()).received).find((each) => each.cameras.length === 2);
    return Math.min(...(two?.cameras ?? [{ frames: 0 }]).map((camera) => camera.frames));
  };
  await expect.poll(ofTwo, { interval: 500 }).toBeGreaterThan(20);
  const rows = (await line()).peers.flatMap((peer) => peer.received.map((row) => row.stream));
  expect(rows).toEqual(expect.arrayContaining(['camera 1', 'camera 2', 'sound']));
  expect(await archive.close()).toBe(0);
  const files = (await readdir(directory)).filter((file) => file.endsWith('.webm'));
  expect(files.some((file) => file.includes('Rover-Rear_window'))).toBe(true);
  expect(files).toHaveLength(3);
  for (const file of files) expect((await stat(join(directory, file))).size).toBeGreaterThan(10_000);
}));

it.each([
  [Array.from({ length: 5 }, () => ['--camera', 'clip:360p']).flat(), /at most 4; remove some/],
  [['--camera', '/dev/video0', '--camera', '/dev/video0:360p'], /\/dev\/video0 is already in use.*remove one/],
  [['--camera', 'a=clip', '--camera', 'a=clip'], /another camera already has this name.*choose another/],
])('what cannot be sent together is refused with what to do: %j', async (cameras, words) => {
  const refused = sender('Van', cameras);
  await expect(refused.url()).rejects.toThrow('status 2');
  expect(refused.said.join(' ')).toMatch(words);
});
