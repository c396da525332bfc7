// Browsers in a room of the real server.

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { brightness, framesShown, loudest, openPage, shown, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startServer, type Server } from './server';

/** Building the server may be part of starting it. */
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
  // Each of three publishes once and plays two others.
  expect(await server.metric('weft_publications')).toBe(3);
  expect(await server.metric('weft_playbacks')).toBe(6);

  await eve.context.close();
  const before = await shown(bob.page, 'Picture of Ada');
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await shown(bob.page, 'Picture of Ada')).toBeGreaterThan(before);
  for (const each of [ada, bob, eve]) expect(each.complaints).toEqual([]);
  await ada.context.close();
  await bob.context.close();
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
  // Opened by a script, a tab gets a copy of the opener's storage, as a duplicate does.
  const opened = ada.context.waitForEvent('page');
  await ada.page.evaluate(() => void window.open(location.href));
  const twin = await opened;
  await framesShown(twin, 'Picture of Ada', 30);
  await framesShown(ada.page, 'Picture of Bob', 30);
  const tiles = bob.page.getByLabel('Picture of Ada', { exact: true });
  await expect.poll(() => tiles.count()).toBe(2);
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

it('sound arrives with the picture', whereTheMachineKeepsUp(async () => {
  const ada = await enter('Ada');
  const bob = await enter('Bob');
  await framesShown(bob.page, 'Picture of Ada', 30);
  expect(await loudest(bob.page, 'Picture of Ada')).toBeGreaterThan(0.01);
  await ada.context.close();
  await bob.context.close();
}));
