// Moderation in a room of the real server.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesShown, loudest, openPage, startChromium, type PageOptions } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startServer, type Server } from './server';

const weft = process.env['WEFT_BIN'];
let browser: Browser;
let server: Server;
let folder: string;

beforeAll(async () => {
  if (weft === undefined) return;
  browser = await startChromium();
  folder = mkdtempSync(join(tmpdir(), 'weft-roles-'));
  server = await startServer(undefined, ['--token-key', join(folder, 'key')]);
});
afterAll(async () => {
  if (weft === undefined) return;
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

const token = (room: string, ...options: string[]): string =>
  execFileSync(weft ?? '', ['token', '--token-key', join(folder, 'key'), '--room', room, '--hours', '1', ...options], { encoding: 'utf8' }).trim();
const enter = (room: string, name: string, as: string, options: PageOptions = {}) => openPage(browser, `${server.url}/r/${room}?name=${name}&token=${as}`, options);
/** A microphone that the page cannot switch off, so only the server keeps its sound from the
 *  others. */
const stubborn = { before: [() => Object.defineProperty(MediaStreamTrack.prototype, 'enabled', { get: () => true, set: () => undefined })] };
let rooms = 0;
const newRoom = () => `roles-${(rooms += 1)}`;
const tile = (page: Page, name: string) => page.locator('.tile', { hasText: name });
/** Whether someone's sound is heard here: the fake microphones beep once a second. */
const speaks = (page: Page, name: string) => page.locator('.tile.speaks', { hasText: name });

it.runIf(weft !== undefined)('a moderator mutes somebody, who unmutes by hand, and removes somebody, who does not come back', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const guest = token(room);
  const ada = await enter(room, 'Ada', token(room, '--moderate'));
  const bob = await enter(room, 'Bob', guest, stubborn);
  const cy = await enter(room, 'Cy', token(room));
  await framesShown(ada.page, 'Picture of Bob', 10);
  await speaks(cy.page, 'Bob').waitFor({ timeout: 20_000 });
  await ada.page.locator('#people-button').click();
  await bob.page.locator('#people-button').click();
  expect(await bob.page.getByRole('button', { name: /^(Mute|Remove) (Ada|Cy)/ }).count()).toBe(0);
  await ada.page.getByRole('button', { name: 'Mute Bob' }).click();
  await tile(cy.page, 'Bob').getByText('muted by a moderator').waitFor();
  await bob.page.getByText('A moderator has muted you.').first().waitFor();
  // Earlier packets have been played out by then.
  await cy.page.waitForTimeout(1_000);
  expect(await loudest(cy.page, 'Picture of Bob')).toBeLessThan(0.001);
  await bob.page.getByRole('button', { name: 'Unmute microphone' }).click();
  await tile(cy.page, 'Bob').getByText('muted by a moderator').waitFor({ state: 'detached' });
  await speaks(cy.page, 'Bob').waitFor({ timeout: 20_000 });
  expect(await loudest(cy.page, 'Picture of Bob')).toBeGreaterThan(0.01);

  await ada.page.getByRole('button', { name: 'Remove Bob' }).click();
  await ada.page.getByRole('button', { name: 'Really remove Bob' }).click();
  await tile(cy.page, 'Bob').waitFor({ state: 'detached' });
  await bob.page.getByText('This token was revoked.').waitFor();
  const again = await enter(room, 'Bob', guest);
  await again.page.getByText('This token was revoked.').waitFor();
  for (const { context } of [ada, bob, cy, again]) await context.close();
}));

it.runIf(weft !== undefined)('who waits sees nothing and is not seen until a moderator lets them in, and a locked room says so', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada', token(room, '--moderate'));
  await ada.page.locator('#people-button').click();
  await ada.page.getByLabel('Waiting room').check();
  const bob = await enter(room, 'Bob', token(room));
  await bob.page.getByText('Waiting to be let into').waitFor();
  await ada.page.getByText('Bob', { exact: true }).waitFor();
  expect(await tile(ada.page, 'Bob').count()).toBe(0);
  await ada.page.getByRole('button', { name: 'Admit Bob' }).click();
  await framesShown(bob.page, 'Picture of Ada', 10);
  await framesShown(ada.page, 'Picture of Bob', 10);
  await ada.page.getByLabel('Lock the room').check();
  await bob.page.getByText('Locked', { exact: true }).waitFor();
  const late = await enter(room, 'Late', token(room));
  await late.page.getByText('The room is locked.').waitFor();
  for (const { context } of [ada, bob, late]) await context.close();
}));
