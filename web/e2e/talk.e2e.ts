// Chat, hands, reactions and names in a room of the real server.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPage, startChromium, type Opened } from './chromium';
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

let rooms = 0;
const newRoom = () => `talk-${(rooms += 1)}`;
const enter = (room: string, name: string, options = {}): Promise<Opened> => openPage(browser, `${server.url}/r/${room}?name=${name}`, options);
const chatButton = (page: Page) => page.locator('#chat-button');
const field = (page: Page) => page.getByLabel('Message to everybody');
const messages = (page: Page) => page.locator('.message-text').allTextContents();

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

it('a message reaches everybody as plain text, is counted while the chat is closed, and is there for those who come later', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada');
  const bob = await enter(room, 'Bob');
  await bob.page.getByRole('list', { name: 'Participants' }).getByText('Ada').waitFor();
  await ada.page.keyboard.press('c');
  await expect.poll(() => field(ada.page).evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await field(ada.page).inputValue()).toBe('');
  const text = '<img src=x onerror="document.title=1"> & "hi"';
  await say(ada.page, text);
  await say(ada.page, 'second');
  expect(await field(ada.page).inputValue()).toBe('');
  await bob.page.getByRole('button', { name: 'Chat, 2 unread' }).waitFor();
  // Announced to screen readers.
  await bob.page.locator('[role=status]', { hasText: 'Message from Ada: second' }).waitFor({ state: 'attached' });
  await chatButton(bob.page).click();
  await expect.poll(() => messages(bob.page)).toEqual([text, 'second']);
  expect(await bob.page.locator('.messages img').count()).toBe(0);
  await bob.page.getByRole('button', { name: 'Chat', exact: true }).waitFor();
  // Escape closes it and returns the focus.
  await bob.page.keyboard.press('Escape');
  expect(await field(bob.page).count()).toBe(0);
  expect(await bob.page.evaluate(() => document.activeElement?.id)).toBe('chat-button');
  const late = await enter(room, 'Cy');
  await late.page.getByRole('button', { name: 'Chat, 2 unread' }).click();
  await expect.poll(() => messages(late.page)).toEqual([text, 'second']);
  for (const each of [ada, bob, late]) {
    expect(each.complaints).toEqual([]);
    await each.context.close();
  }
}));

it('loses and doubles no message while the connection is cut', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada');
  const bob = await enter(room, 'Bob');
  await chatButton(ada.page).click();
  await chatButton(bob.page).click();
  await say(ada.page, 'before');
  await expect.poll(() => messages(bob.page)).toEqual(['before']);
  await bob.context.setOffline(true);
  await say(ada.page, 'meanwhile');
  await say(bob.page, 'from the tunnel');
  await bob.page.getByText('Sending…').waitFor();
  await expect.poll(() => messages(ada.page)).toEqual(['before', 'meanwhile']);
  await bob.context.setOffline(false);
  await expect.poll(() => messages(ada.page)).toEqual(['before', 'meanwhile', 'from the tunnel']);
  await expect.poll(() => messages(bob.page)).toEqual(['before', 'meanwhile', 'from the tunnel']);
  for (const { context } of [ada, bob]) await context.close();
}));

it('says how long to wait to somebody who floods the chat, and sends it then', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada');
  const bob = await enter(room, 'Bob');
  await chatButton(ada.page).click();
  await chatButton(bob.page).click();
  // Runs in the page, because typing on a busy machine is too slow to be a flood.
  await field(ada.page).evaluate(async (element) => {
    const text = element as HTMLTextAreaElement;
    for (let n = 0; n < 13; n += 1) {
      text.value = `line ${n}`;
      text.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => setTimeout(done, 10));
      text.form!.requestSubmit();
      await new Promise((done) => setTimeout(done, 10));
    }
  });
  await ada.page.getByText('too fast').first().waitFor();
  await expect.poll(() => messages(bob.page)).toEqual(Array.from({ length: 13 }, (_, n) => `line ${n}`));
  for (const { context } of [ada, bob]) await context.close();
}));

it('raises a hand, reacts, and changes a name that stays after a reload', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada');
  const bob = await enter(room, 'Bob');
  const tile = (page: Page, name: string) => page.locator('.tile', { hasText: name });
  await tile(ada.page, 'Bob').waitFor();
  await bob.page.keyboard.press('h');
  await tile(ada.page, 'Bob').getByText('Hand raised').waitFor({ state: 'attached' });
  await ada.page.keyboard.press('h');
  await ada.page.locator('#people-button').click();
  const people = ada.page.getByRole('list', { name: 'People in the room' }).getByRole('listitem');
  await expect.poll(() => people.allTextContents()).toEqual([expect.stringMatching(/^Bob.*first raised hand/), expect.stringMatching(/^Ada.*raised hand number 2/)]);
  await bob.page.getByRole('button', { name: 'Reactions' }).click();
  await bob.page.getByRole('button', { name: 'Applause' }).click();
  await tile(ada.page, 'Bob').getByRole('img', { name: 'Applause' }).waitFor();
  await tile(ada.page, 'Bob').getByRole('img', { name: 'Applause' }).waitFor({ state: 'detached', timeout: 8_000 });

  await bob.page.keyboard.press('Escape');
  await bob.page.locator('#people-button').click();
  await bob.page.getByRole('button', { name: 'Rename' }).click();
  await bob.page.getByLabel('New name').fill('Ada');
  await bob.page.getByRole('button', { name: 'Save' }).click();
  await tile(ada.page, 'Ada 2').getByText('Hand raised').waitFor({ state: 'attached' });
  await bob.page.reload();
  await bob.page.locator('.self', { hasText: 'Ada 2' }).waitFor();
  await tile(ada.page, 'Ada 2').getByText('Hand raised').waitFor({ state: 'attached' });
  await bob.context.close();
  await ada.page.getByText('only you').waitFor();
  expect(await people.count()).toBe(1);
  expect(ada.complaints).toEqual([]);
  await ada.context.close();
}));

it('covers the tiles on a phone, and everything can be reached', whereTheMachineKeepsUp(async () => {
  const room = newRoom();
  const ada = await enter(room, 'Ada', { viewport: { width: 360, height: 640 }, hasTouch: true });
  await chatButton(ada.page).click();
  await say(ada.page, 'x'.repeat(300));
  await ada.page.locator('.message-text').first().waitFor();
  const wide = () => ada.page.evaluate(() => document.documentElement.scrollWidth);
  expect(await wide()).toBeLessThanOrEqual(360);
  const buttons = await ada.page.locator('.controls button:visible').all();
  expect(buttons.length).toBeGreaterThan(4);
  for (const button of buttons) {
    const box = (await button.boundingBox())!;
    expect(box.width).toBeGreaterThanOrEqual(40);
    expect(box.x + box.width).toBeLessThanOrEqual(360);
  }
  await ada.page.getByRole('button', { name: 'Close chat' }).click();
  expect(await wide()).toBeLessThanOrEqual(360);
  await ada.context.close();
}));
