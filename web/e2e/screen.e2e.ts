// Sharing a screen in a room of the real server, with the browser's fake screen.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesShown, openPage, startChromium, type Opened } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startServer, type Server } from './server';

let browser: Browser;
let server: Server;

beforeAll(async () => {
  browser = await startChromium();
  server = await startServer();
}, 600_000);
afterAll(async () => {
  await browser.close();
  await server.close();
});

const enter = (room: string, name: string): Promise<Opened> => openPage(browser, `${server.url}/r/${room}?name=${name}`);
const share = (page: Page) => page.getByRole('button', { name: 'Share screen' });

it('everybody sees a shared screen large until it ends, also while the camera is off', whereTheMachineKeepsUp(async () => {
  const ada = await enter('screens', 'Ada');
  const bob = await enter('screens', 'Bob');
  await framesShown(bob.page, 'Picture of Ada', 10);
  await share(ada.page).click();
  await framesShown(bob.page, 'Picture of Ada: screen', 10);
  const tiles = bob.page.locator('.tiles > .tile:not(.self)');
  expect(await tiles.count()).toBe(2);
  const large = bob.page.locator('.tile.pinned');
  await large.getByText('screen').waitFor();

  await ada.page.getByRole('button', { name: 'Turn camera off' }).click();
  await tiles.first().locator('.avatar').waitFor();
  await framesShown(bob.page, 'Picture of Ada: screen', 10);
  // A later participant sees it too.
  const cy = await enter('screens', 'Cy');
  await framesShown(cy.page, 'Picture of Ada: screen', 10);

  await ada.page.getByRole('button', { name: 'Stop sharing' }).click();
  await expect.poll(() => tiles.filter({ hasText: 'Ada' }).count()).toBe(1);
  await share(ada.page).waitFor();
  for (const { context } of [ada, bob, cy]) await context.close();
}));
