// Browsers in a room of the real server.

import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { brightness, framesShown, keepPeers, loudest, openPage, shown, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft } from './program';
import { startServer, type Server } from './server';

/** Starting the server may include building it. */
const BUILD = 600_000;

let browser: Browser;
let server: Server;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = await startServer();
}, BUILD);
afterEach(() => server.close());

const enter = (name: string) => openPage(browser, `${server.url}/r/e2e?name=${name}`);

it('two see each other move, and a third who comes later sees both', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(ada.page, 'Picture of Bob', 60);
  await framesShown(bob.page, 'Picture of Ada', 60);
  expect((await brightness(bob.page, 'Picture of Ada')).spread).toBeGreaterThan(15);

  const eve = await enter('Eve');
  for (const name of ['Ada', 'Bob']) await framesShown(eve.page, `Picture of ${name}`, 30);
  // Each of three participants has one connection to publish and one to receive both
  // others.
  expect(await server.metric('weft_publications')).toBe(3);
  expect(await server.metric('weft_playbacks')).toBe(3);

  await eve.context.close();
  const before = await shown(bob.page, 'Picture of Ada');
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await shown(bob.page, 'Picture of Ada')).toBeGreaterThan(before);
  for (const each of [ada, bob, eve]) expect(each.complaints).toEqual([]);
  await ada.context.close();
  await bob.context.close();
}));

it('pauses the camera while nobody watches it, and shows it to a newcomer at once', whereTheMachineKeepsUp(async () => {
  const ada = await openPage(browser, `${server.url}/r/e2e?name=Ada`, { before: [keepPeers] });
  const active = (): Promise<boolean[]> =>
    ada.page.evaluate(() => {
      const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
      const encodings = peers.flatMap((peer) => peer.getSenders()).map((sender) => sender.getParameters().encodings);
      return encodings.find(({ length }) => length === 3)?.map(({ active }) => active !== false) ?? [];
    });
  const sentIn = async (ms: number): Promise<number> => {
    const sent = (): Promise<number> =>
      ada.page.evaluate(async () => {
        const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
        let bytes = 0;
        for (const peer of peers) for (const report of (await peer.getStats()).values()) if (report.type === 'outbound-rtp' && report.kind === 'video') bytes += report.bytesSent;
        return bytes;
      });
    const before = await sent();
    await ada.page.waitForTimeout(ms);
    return (await sent()) - before;
  };
  await expect.poll(active).toEqual([false, false, false]);
  expect(await sentIn(2_000)).toBe(0);

  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await active()).toContain(true);
  await expect.poll(() => sentIn(2_000)).toBeGreaterThan(50_000);
  await bob.context.close();
  await expect.poll(active).toEqual([false, false, false]);
  expect(ada.complaints).toEqual([]);
  await ada.context.close();
}));

it('a small tile gets a small encoding, and a large one the whole picture', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  const phone = await enter('Cy');
  await phone.page.setViewportSize({ width: 320, height: 480 });
  const width = (page: Page): Promise<number> =>
    page.evaluate(() => document.querySelector<HTMLVideoElement>('[aria-label="Picture of Ada"] video, video[aria-label="Picture of Ada"]')?.videoWidth ?? 0);
  await framesShown(phone.page, 'Picture of Ada', 30);
  await expect.poll(() => width(phone.page), { timeout: 20_000 }).toBeLessThanOrEqual(320);
  await expect.poll(() => width(bob.page), { timeout: 20_000 }).toBeGreaterThan(320);
  for (const each of [ada, bob, phone]) {
    expect(each.complaints).toEqual([]);
    await each.context.close();
  }
}));

it('one who reloads the page is the same person, at once', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  const tiles = bob.page.getByLabel('Picture of Ada', { exact: true });
  await ada.page.reload();
  await framesShown(ada.page, 'Picture of Bob', 30);
  expect(await tiles.count()).toBe(1);
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await tiles.count()).toBe(1);
  await ada.context.close();
  await bob.context.close();
}));

it('a duplicated tab is somebody else and leaves the first one its call', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  // A tab opened by a script gets a copy of the opener's storage, like a duplicate.
  const opened = ada.context.waitForEvent('page');
  await ada.page.evaluate(() => void window.open(location.href));
  const twin = await opened;
  await framesShown(twin, 'Picture of Ada', 30);
  await framesShown(ada.page, 'Picture of Bob', 30);
  // Names are unique in a room.
  await framesShown(bob.page, 'Picture of Ada 2', 30);
  expect(await bob.page.getByLabel('Picture of Ada', { exact: true }).count()).toBe(1);
  expect(await server.metric('weft_publications')).toBe(3);
  await ada.context.close();
  await bob.context.close();
}));

it('the page says that the server is gone, and both see each other again when it is back', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  const { host } = new URL(server.url);
  await server.close();
  await ada.page.getByText('The weft server does not answer.').waitFor();
  server = await startServer(host);
  await expect.poll(() => server.metric('weft_publications'), { timeout: 30_000 }).toBe(2);
  await framesShown(bob.page, 'Picture of Ada', 30);
  await framesShown(ada.page, 'Picture of Bob', 30);
  expect(await ada.page.getByRole('alert').count()).toBe(0);
  await ada.context.close();
  await bob.context.close();
}));

/** Waits until a video with this label that is not marked `before` shows a picture. */
const shownAgain = (page: Page, label: string) =>
  page.waitForFunction(
    (of) => {
      const found = document.querySelector<HTMLVideoElement>(`video[aria-label="${of}"]:not(.before)`);
      return (found?.getVideoPlaybackQuality().totalVideoFrames ?? 0) > 0;
    },
    label,
    { timeout: 15_000 },
  );

it('both see each other again within three seconds after a server that was killed is back', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(ada.page, 'Picture of Bob', 30);
  await framesShown(bob.page, 'Picture of Ada', 30);
  const { host } = new URL(server.url);
  for (const { page } of [ada, bob]) await page.evaluate(() => document.querySelectorAll('video').forEach((each) => each.classList.add('before')));
  await server.kill();
  await ada.page.getByText('The weft server does not answer.').waitFor();
  server = await startServer(host);
  const back = performance.now();
  await Promise.all([shownAgain(bob.page, 'Picture of Ada'), shownAgain(ada.page, 'Picture of Bob')]);
  const took = performance.now() - back;
  console.log(`back after ${Math.round(took)} ms`);
  expect(took).toBeLessThan(3_000);
  await ada.context.close();
  await bob.context.close();
}));

it('sound arrives with the picture', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await loudest(bob.page, 'Picture of Ada')).toBeGreaterThan(0.01);
  await ada.context.close();
  await bob.context.close();
}));

it('the sound comes from the loudspeaker that is chosen, also that of people who come later', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(ada.page, 'Picture of Bob', 30);
  const sink = (label: string) => ada.page.getByLabel(label, { exact: true }).evaluate((video) => (video as HTMLVideoElement).sinkId);
  await ada.page.getByRole('button', { name: 'Devices' }).click();
  const menu = ada.page.getByLabel('Loudspeaker', { exact: true });
  const last = await menu.locator('option').last().getAttribute('value');
  await menu.selectOption(last);
  await expect.poll(() => sink('Picture of Bob')).toBe(last);
  expect(await menu.inputValue()).toBe(last);
  const eve = await enter('Eve');
  await framesShown(ada.page, 'Picture of Eve', 10);
  await expect.poll(() => sink('Picture of Eve')).toBe(last);
  for (const { context } of [ada, bob, eve]) await context.close();
}));

it('a closed page is gone within two seconds, and a speaker is marked', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(ada.page, 'Picture of Bob', 30);
  // The fake microphone beeps once a second.
  await ada.page.locator('.tile.speaks', { hasText: 'Bob' }).waitFor();
  // In a call of two, the other participant is large and we are small.
  const width = async (label: string) => (await ada.page.getByLabel(label, { exact: true }).boundingBox())!.width;
  expect(await width('Picture of Bob')).toBeGreaterThan(3 * (await width('Your own picture')));
  await bob.context.close();
  await ada.page.getByText('only you').waitFor({ timeout: 2_500 });
  expect(ada.complaints).toEqual([]);
  await ada.context.close();
}));

const weft = process.env['WEFT_BIN'];

it.runIf(weft !== undefined)('an invitation lets another browser and a native sender into a room with a token', { timeout: 60_000 }, async () => {
  const guarded = await startServer(undefined, ['--token', 'a-secret-of-ours']);
  const host = await openPage(browser, `${guarded.url}/r/e2e?name=Ada&token=a-secret-of-ours`);
  await host.context.grantPermissions(['camera', 'microphone', 'clipboard-read', 'clipboard-write'], { origin: new URL(guarded.url).origin });
  await host.page.getByRole('button', { name: 'Copy invitation' }).click();
  await host.page.getByText('Copied').waitFor();
  const address = await host.page.evaluate(() => navigator.clipboard.readText());
  expect(address).not.toContain('a-secret-of-ours');

  const guest = await openPage(browser, address);
  await guest.page.getByLabel('Your name').fill('Bob');
  await guest.page.getByRole('button', { name: 'Join' }).click();
  await framesShown(guest.page, 'Picture of Ada', 30);
  await framesShown(host.page, 'Picture of Bob', 30);
  // And a native sender.
  const van = startWeft(['join', address, '--name', 'Van', '--link', '127.0.0.1', '--camera', 'clip:360p', '--send-only']);
  await framesShown(host.page, 'Picture of Van', 10);
  expect(await van.close()).toBe(0);

  // The token is for this room, and a stranger has none.
  await guest.page.goto(`${guarded.url}/r/other`);
  await guest.page.getByLabel('Token', { exact: true }).waitFor();
  const stranger = await openPage(browser, `${guarded.url}/r/e2e`);
  await stranger.page.getByLabel('Token', { exact: true }).waitFor();
  expect(await stranger.page.getByLabel('Your own picture').count()).toBe(0);
  for (const { context } of [host, guest, stranger]) await context.close();
  await guarded.close();
});

/** Returns a token (RFC 7519, HS256) that expired a minute ago. */
function expired(key: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ room: 'e2e', may: 'take_part', exp: Math.floor(Date.now() / 1000) - 60 })}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

it.runIf(weft !== undefined)('a token of `weft token` lets watch and no more, and refused ones read differently', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-tokens-'));
  const key = join(folder, 'token.key');
  const guarded = await startServer(undefined, ['--token-key', key]);
  const sign = (room: string, ...options: string[]): string => execFileSync(weft ?? '', ['token', '--token-key', key, '--room', room, '--hours', '1', ...options], { encoding: 'utf8' }).trim();
  const host = await openPage(browser, `${guarded.url}/r/e2e?name=Ada&token=${sign('e2e')}`);
  const guest = await openPage(browser, `${guarded.url}/r/e2e`);
  const field = guest.page.getByLabel('Token', { exact: true });
  for (const [token, words] of [
    ['nonsense', 'The token is wrong'],
    [expired(readFileSync(key, 'utf8').trim()), 'This token has expired'],
    [sign('other'), "The token is for the room 'other'"],
  ] as const) {
    await field.fill(token);
    await guest.page.getByRole('button', { name: 'Continue' }).click();
    await guest.page.getByRole('alert').getByText(words).waitFor();
  }
  await field.fill(sign('e2e', '--watch'));
  await guest.page.getByRole('button', { name: 'Continue' }).click();
  await guest.page.getByText('You are invited to watch and listen').waitFor();
  await guest.page.getByLabel('Your name').fill('Eve');
  await guest.page.getByRole('button', { name: 'Join' }).click();
  await framesShown(guest.page, 'Picture of Ada', 30);
  expect(await guest.page.getByRole('button', { name: /Turn camera|microphone/ }).count()).toBe(0);
  await host.page.locator('.tile', { hasText: 'Eve' }).getByText('only watching').waitFor();
  for (const { context } of [host, guest]) await context.close();
  await guarded.close();
  rmSync(folder, { recursive: true });
});
