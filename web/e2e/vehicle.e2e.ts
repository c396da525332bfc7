// The local page of `weft join` in a browser beside the sender: it switches links and
// sources, and the room sees the effect.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';

let browser: Browser;
let server: Program;
let native: Program;
let kim: Program;
let tablet: Opened;
let folder: string;

beforeAll(async () => {
  browser = await startChromium();
  folder = mkdtempSync(join(tmpdir(), 'weft-'));
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  const { origin } = new URL(await server.url());
  const links = ['--link', 'wifi=127.0.0.1', '--link', 'lte=127.0.0.2'];
  native = startWeft(['join', origin, '--room', 'ride', '--name', 'Van', ...links, '--camera', 'clip:360p', '--mic', 'tone', '--page=127.0.0.1:0', '--record', join(folder, 'ride.webm')]);
  kim = startWeft(['join', origin, '--room', 'ride', '--name', 'Kim', '--link', '127.0.0.1', '--camera', 'clip:360p']);
  tablet = await openPage(browser, await native.url());
});
afterAll(async () => {
  await browser.close();
  await native.close();
  await kim.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

it('the others and the own camera are seen', whereTheMachineKeepsUp(async () => {
  const picture = tablet.page.getByAltText('Picture of Kim');
  for (const shown of [picture, tablet.page.getByAltText('Own camera 1')]) {
    const width = (): Promise<number> => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBeGreaterThan(100);
  }
  // Each picture is a new one.
  const first = await picture.getAttribute('src');
  await expect.poll(() => picture.getAttribute('src')).not.toBe(first);
}));

it('the recording is stopped, and started again in a new file', whereTheMachineKeepsUp(async () => {
  const { page } = tablet;
  const files = (): string[] => readdirSync(folder).sort();
  await expect.poll(files).toContain('ride.webm');
  const before = files().length;
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.getByRole('button', { name: 'Start recording' }).click();
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
  await expect.poll(() => files().length).toBeGreaterThan(before);
}));

it('a link is switched off and made a backup, the microphone is muted, and the call is left', whereTheMachineKeepsUp(async () => {
  const { page } = tablet;
  const lte = page.locator('.join-link', { hasText: 'lte' });
  await lte.getByText('up', { exact: true }).waitFor();
  await lte.getByText('Off', { exact: true }).click();
  await expect.poll(() => lte.locator('.links-head').innerText()).toMatch(/lte\s*off/);
  await lte.getByText('Backup', { exact: true }).click();
  await lte.getByText('Backup: used when no other link works.').waitFor();
  await lte.getByText('up', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Mute microphone' }).click();
  await page.getByRole('button', { name: 'Unmute microphone' }).waitFor();
  await page.getByRole('button', { name: 'Turn cameras off' }).click();
  await page.getByRole('button', { name: 'Turn cameras on' }).waitFor();
  const picture = process.env['WEFT_SHOT'];
  if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });
  expect(tablet.complaints).toEqual([]);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByText('You have left the call.').waitFor();
  expect(await native.close()).toBe(0);
}));
