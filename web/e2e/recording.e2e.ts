// Recording on the real server: a moderator starts and stops it, and everyone sees it.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesShown, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startServer, type Server } from './server';
import { skipped } from './skipped';

const weft = process.env['WEFT_BIN'];
let browser: Browser;
let server: Server;
let folder: string;

beforeAll(async () => {
  if (weft === undefined) return;
  browser = await startChromium();
  folder = mkdtempSync(join(tmpdir(), 'weft-recording-'));
  mkdirSync(join(folder, 'recordings'));
  server = await startServer(undefined, ['--token-key', join(folder, 'key'), '--recordings', join(folder, 'recordings'), '--compose', 'grid']);
});
afterAll(async () => {
  if (weft === undefined) return;
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

const token = (...options: string[]): string =>
  execFileSync(weft ?? '', ['token', '--token-key', join(folder, 'key'), '--room', 'r', '--hours', '1', ...options], { encoding: 'utf8' }).trim();
const enter = (name: string, as: string) => openPage(browser, `${server.url}/r/r?name=${name}&token=${as}`);

interface Track {
  readonly file: string;
  readonly name: string;
  readonly kind: string;
  readonly length_ms: number;
}

interface Recording {
  readonly id: string;
  readonly index: { readonly length_ms: number; readonly film?: string; readonly tracks: Track[] };
}

/** Returns the program installed by scripts/setup; null without it. */
function ffmpeg(): string | null {
  const python = fileURLToPath(new URL('../../.tools/ffmpeg/bin/python', import.meta.url));
  if (!existsSync(python)) return null;
  return execFileSync(python, ['-c', 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())'], { encoding: 'utf8' }).trim();
}

/** The picture at which the encoding changes may appear in both, with the same time. */
const TWICE = /^.*non monotonically increasing dts.*$/gm;

/** Decodes a file, and returns the time of its end in seconds. */
function decoded(program: string, file: string): number {
  const { status, stderr } = spawnSync(program, ['-v', 'error', '-stats', '-i', file, '-f', 'null', '-'], { encoding: 'utf8' });
  expect([status, stderr.replace(/^(frame|size)=.*$/gm, '').replace(TWICE, '').trim()]).toEqual([0, '']);
  const [, hours, minutes, seconds] = [...stderr.matchAll(/time=(\d+):(\d+):([\d.]+)/g)].at(-1) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

it.runIf(weft !== undefined)('a moderator records the room, a guest sees it, and the files play', whereTheMachineKeepsUp(async () => {
  const [host, guest] = [token('--moderate'), token()];
  const ada = await enter('Ada', host);
  const bob = await enter('Bob', guest);
  await framesShown(ada.page, 'Picture of Bob', 10);
  await framesShown(bob.page, 'Picture of Ada', 10);
  await bob.page.locator('#people-button').click();
  expect(await bob.page.getByLabel('Record on the server').count()).toBe(0);
  expect(await bob.page.getByText('Recording', { exact: true }).count()).toBe(0);
  await ada.page.locator('#people-button').click();
  await ada.page.getByLabel('Record on the server').check();
  for (const { page } of [ada, bob]) await page.getByText('Recording', { exact: true }).waitFor();
  const late = await enter('Late', token());
  await late.page.getByText('Recording', { exact: true }).waitFor();
  await ada.page.waitForTimeout(6_000);
  // The box follows the server, so it may be set again for a moment.
  await ada.page.getByLabel('Record on the server').click();
  await bob.page.getByText('Recording', { exact: true }).waitFor({ state: 'detached' });

  const url = `${server.url}/api/rooms/r/recordings`;
  const get = (path: string, as: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${as}` } });
  expect((await get('', guest)).status).toBe(403);
  const { recordings } = (await (await get('', host)).json()) as { recordings: Recording[] };
  expect(recordings.length).toBe(1);
  const { id, index } = recordings[0] ?? { id: '', index: { length_ms: 0, tracks: [] } };
  const all = index.tracks.map(({ name, kind }) => `${name} ${kind}`).sort();
  expect(all).toEqual(['Ada camera', 'Ada microphone', 'Bob camera', 'Bob microphone', 'Late camera', 'Late microphone']);
  expect(readdirSync(join(folder, 'recordings'))).toEqual([id]);
  const program = ffmpeg();
  if (program === null) skipped('no ffmpeg: scripts/setup --tests installs it');
  for (const { name, file, length_ms } of index.tracks) {
    const body = new Uint8Array(await (await get(`/${id}/${file}`, host)).arrayBuffer());
    const path = join(folder, 'recordings', id, file);
    expect(Buffer.compare(body, readFileSync(path))).toBe(0);
    if (program === null) continue;
    const seconds = decoded(program, path);
    expect(Math.abs(seconds - length_ms / 1_000)).toBeLessThan(0.5);
    if (name !== 'Late') expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(index.length_ms / 1_000 + 0.1);
  }
  const composed = async (): Promise<string | undefined> => {
    const listed = (await (await get('', host)).json()) as { recordings: Recording[] };
    return listed.recordings[0]?.index.film;
  };
  await expect.poll(composed, { timeout: 60_000, interval: 500 }).toBe('film.webm');
  expect((await get(`/${id}/film.webm`, guest)).status).toBe(403);
  const film = new Uint8Array(await (await get(`/${id}/film.webm`, host)).arrayBuffer());
  expect(film.length).toBeGreaterThan(100_000);
  if (program !== null) {
    const path = join(folder, 'recordings', id, 'film.webm');
    expect(Math.abs(decoded(program, path) - index.length_ms / 1_000)).toBeLessThan(0.3);
    const { stderr } = spawnSync(program, ['-i', path], { encoding: 'utf8' });
    expect(stderr).toMatch(/Video: vp8.*1280x720/);
    expect(stderr).toMatch(/Audio: opus, 48000 Hz, stereo/);
  }
  for (const path of ['/../key', `/${id}/..%2f..%2fkey`, `/..%2f/${id}`]) expect((await get(path, host)).status).toBe(404);
  for (const { context } of [ada, bob, late]) await context.close();
}));
