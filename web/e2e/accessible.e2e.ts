// Checks each of the page's views with axe, in both colour schemes.

import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startMock, type Mock } from '../mock/server.mjs';
import { framesShown, openPage, startChromium } from './chromium';

let browser: Browser;
const mocks: Mock[] = [];

beforeAll(async () => {
  browser = await startChromium();
  mocks.push(await startMock({ at: 160 }), await startMock({ mode: 'call' }), await startMock({ token: 'right' }), await startMock({ mode: 'demo' }));
});
afterAll(async () => {
  await browser.close();
  for (const mock of mocks) await mock.close();
});

const VIEWS: readonly (readonly [string, number, string, (page: Page) => Promise<unknown>])[] = [
  ['start', 0, '/', (page) => page.getByLabel('Room').waitFor()],
  ['start of the demo', 3, '/', (page) => page.getByRole('link', { name: 'Watch the demo' }).waitFor()],
  ['lobby', 0, '/r/mock', (page) => framesShown(page, 'Your own picture', 5)],
  ['room', 0, '/r/mock?name=Kim', (page) => framesShown(page, 'Picture of Ada Lovelace', 5)],
  [
    'devices of a room',
    0,
    '/r/crowd?name=Kim',
    async (page) => {
      await page.getByRole('button', { name: 'Devices' }).click();
      await page.getByRole('meter').waitFor();
    },
  ],
  [
    'chat',
    0,
    '/r/moderated?name=Kim',
    async (page) => {
      await page.locator('#chat-button').click();
      await page.getByText('Good morning').waitFor();
    },
  ],
  [
    'people and moderation',
    0,
    '/r/moderated?name=Kim',
    async (page) => {
      await page.locator('#people-button').click();
      await page.getByRole('button', { name: 'Admit Eve' }).waitFor();
      await page.getByRole('button', { name: 'Rename' }).click();
    },
  ],
  [
    'reactions',
    0,
    '/r/moderated?name=Kim',
    async (page) => {
      await page.getByRole('button', { name: 'Reactions' }).click();
      await page.getByRole('button', { name: 'Raise hand' }).waitFor();
    },
  ],
  ['waiting room', 0, '/r/waiting?name=Kim', (page) => page.getByText('Waiting to be let into').waitFor()],
  [
    'demo',
    0,
    '/demo',
    async (page) => {
      await page.getByText('Expert: how the left call sends').click();
      await page.getByText('Frozen for').first().waitFor();
    },
  ],
  ['door', 2, '/r/mock?token=wrong', (page) => page.getByRole('alert').waitFor()],
  ['call', 1, '/', (page) => framesShown(page, 'Picture of Rover 7', 5)],
];

for (const colorScheme of ['light', 'dark'] as const) {
  it.each(VIEWS)(`has nothing to complain of in the view %s (${colorScheme})`, async (_, server, path, ready) => {
    const { page, context } = await openPage(browser, mocks[server]!.url + path, { colorScheme, bypassCSP: true });
    await ready(page);
    await page.addScriptTag({ content: axe.source });
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    expect(violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(' | ')}`)).toEqual([]);
    await context.close();
  });
}
