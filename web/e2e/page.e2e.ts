// The built page in a real browser, against the mock: what a person sees and
// can do. Calls through the real server are tested beside it.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { startMock, type Mock } from '../mock/server.mjs';
import { brightness, framesShown, openPage, shown, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';

const WEFT = 'weft over wifi + lte';
const SINGLE = 'plain WebRTC over wifi alone';

let browser: Browser;
let mock: Mock;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  // Within the good stretch that the ride begins with, and past a whole one.
  mock = await startMock({ at: 126 });
});
afterEach(() => mock.close());

/** Pixels of a plot in exactly this colour of the style sheet. */
function inked(page: Page, plot: number, colour: string): Promise<number> {
  return page
    .locator('.plot canvas')
    .nth(plot)
    .evaluate((element, name) => {
      const canvas = element as HTMLCanvasElement;
      const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      const wanted = [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let pixel = 0; pixel < data.length; pixel += 4) {
        if (wanted.every((value, channel) => data[pixel + channel] === value)) count += 1;
      }
      return count;
    }, colour);
}

describe('the demo', () => {
  it('shows both pictures and draws every plot', whereTheMachineKeepsUp(async () => {
    const { page, complaints, context } = await openPage(browser, `${mock.url}/demo`, { viewport: { width: 1280, height: 1300 } });
    for (const label of [WEFT, SINGLE]) {
      await framesShown(page, label, 20);
      expect((await brightness(page, label)).spread).toBeGreaterThan(15);
    }
    await page.locator('.plot canvas').nth(6).waitFor();
    const link = ['plot-sent', 'plot-rtt', 'plot-loss'];
    // Each plot has a line in its own colour over the whole width, about 500 pixels or more.
    const expected = ['call-weft', ...link, ...link];
    expect(await page.locator('.plot canvas').count()).toBe(expected.length);
    for (const [at, colour] of expected.entries()) {
      expect(await inked(page, at, colour), `${colour} in plot ${at}`).toBeGreaterThan(300);
    }
    expect(complaints).toEqual([]);
    await context.close();
  }));

  it('freezes only the call of the link that is cut, says for how long, and moves again after', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/demo`);
    await framesShown(page, SINGLE, 20);
    const wifi = page.getByRole('group', { name: 'Link wifi' });
    await wifi.getByRole('button', { name: 'Cut' }).click();
    const single = page.locator('.call-single');
    await single.getByText(/^Frozen [1-9]/).waitFor();
    expect(await wifi.getByRole('button', { name: 'Cut' }).getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('.call-weft .freeze').count()).toBe(0);
    const before = await shown(page, SINGLE);
    await framesShown(page, WEFT, 20);
    expect(await shown(page, SINGLE)).toBe(before);
    await wifi.getByRole('button', { name: 'Restore' }).click();
    await framesShown(page, SINGLE, 20);
    expect(await single.locator('.freeze').count()).toBe(0);
    expect(await single.locator('.measured').innerText()).toMatch(/in 1 freeze,/);
    await context.close();
  }));
});

describe('a room', () => {
  it('is joined by keyboard from the start page', whereTheMachineKeepsUp(async () => {
    const { page, complaints, context } = await openPage(browser, `${mock.url}/`);
    await page.getByLabel('Room').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Give the room a name').waitFor();
    await page.keyboard.type('Stand Up');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Kim');
    await page.keyboard.press('Enter');
    await framesShown(page, 'Picture of Ada Lovelace', 20);
    expect(new URL(page.url()).pathname).toBe('/r/stand-up');
    await framesShown(page, 'Your own picture', 5);
    expect(complaints).toEqual([]);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'A call that goes on' }).waitFor();
    await context.close();
  }));

  it('shows the links of a native sender when asked', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    await page.getByLabel(/^Links of Rover 7/).click();
    await page.locator('.links li').nth(1).waitFor();
    expect(await page.locator('.links').innerText()).toMatch(/wlan0[\s\S]*up[\s\S]*Mbps[\s\S]*ms/);
    await context.close();
  }));

  it('switches microphone and camera by button and by key', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    const microphone = page.getByRole('button', { name: 'Microphone' });
    const camera = page.getByRole('button', { name: 'Camera' });
    await page.getByText('Camera on').waitFor();
    // Keys are listened to once the room has been drawn.
    await framesShown(page, 'Your own picture', 1);
    await page.keyboard.press('m');
    await page.getByText('Microphone off').waitFor();
    expect(await microphone.getAttribute('aria-pressed')).toBe('false');
    await camera.click();
    await page.getByText('Camera off').waitFor();
    await camera.click();
    await page.getByText('Camera on').waitFor();
    await framesShown(page, 'Your own picture', 5);
    await context.close();
  }));

  it('lets watch without camera and microphone, and says what to do', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`, { capture: 'refused' });
    await page.getByRole('alert').getByText('Allow them by the icon').waitFor();
    await framesShown(page, 'Picture of Ada Lovelace', 20);
    await context.close();
  }));
});

it('watches a direct call', whereTheMachineKeepsUp(async () => {
  const call = await startMock({ mode: 'call' });
  const { page, complaints, context } = await openPage(browser, `${call.url}/`);
  await framesShown(page, 'Picture of Rover 7', 20);
  await page.getByLabel(/^Links of Rover 7/).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
  await call.close();
}));

it('says so where the browser has no WebRTC', whereTheMachineKeepsUp(async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'));
  const page = await context.newPage();
  await page.goto(`${mock.url}/r/mock`);
  await page.getByRole('heading', { name: 'This browser has no WebRTC' }).waitFor();
  await context.close();
}));

it.each(['/', '/r/mock?name=Kim', '/demo'])('fits a phone without scrolling sideways: %s', async (path) => {
  const { page, context } = await openPage(browser, mock.url + path, { viewport: { width: 360, height: 740 }, isMobile: true });
  await page.waitForTimeout(1_500);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await context.close();
});
