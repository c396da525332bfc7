// Tests the built page in a real browser against the mock: what a person sees and can do.
// Calls through the real server have their own tests.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { startMock, type Mock } from '../mock/server.mjs';
import { brightness, framesShown, openPage, shown, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';

const WEFT = 'weft: WiFi and LTE together';
const SINGLE = 'Plain WebRTC: WiFi alone';

let browser: Browser;
let mock: Mock;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  // Within the good stretch at the start of the ride, and after a whole ride.
  mock = await startMock({ at: 126 });
});
afterEach(() => mock.close());

/** Returns the number of pixels of a plot in exactly this colour of the style sheet. */
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

/** Records which parts of the page move by themselves, in words. */
function watchShifts(): void {
  const shifts: string[] = [];
  Object.assign(globalThis, { shifts });
  interface Shift extends PerformanceEntry {
    readonly value: number;
    readonly hadRecentInput: boolean;
    readonly sources: readonly { readonly node: Node | null }[];
  }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Shift[]) {
      if (!entry.hadRecentInput) shifts.push(`${entry.startTime.toFixed(0)} ms: ${entry.sources.map(({ node }) => node?.nodeName + ' ' + node?.textContent).join(', ')}`);
    }
  }).observe({ type: 'layout-shift', buffered: true });
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
    await page.getByRole('button', { name: 'Cut WiFi' }).click();
    const single = page.locator('.call-single');
    await single.getByText(/^Frozen [1-9]/).waitFor();
    await page.getByText('WiFi is cut by hand').waitFor();
    await page.getByRole('status').getByText('The call over WiFi alone is frozen. weft continues over LTE.').waitFor();
    expect(await page.locator('.call-weft .freeze').count()).toBe(0);
    const before = await shown(page, SINGLE);
    await framesShown(page, WEFT, 20);
    expect(await shown(page, SINGLE)).toBe(before);
    await page.getByRole('button', { name: 'Restore WiFi' }).click();
    await framesShown(page, SINGLE, 20);
    expect(await single.locator('.freeze').count()).toBe(0);
    // The ride froze it earlier, for another visitor: that does not count here.
    expect(await single.locator('.loud dd').innerText()).toMatch(/^[1-9][0-9.]* s\s*once$/);
    expect(await page.locator('.call-weft .loud dd').innerText()).toBe('0.0 s');
    await page.getByRole('button', { name: 'Restart' }).click();
    await page.locator('.call-single .loud dd').getByText('0.0 s').waitFor();
    await context.close();
  }));

  const SCREENS = [
    { width: 1280, height: 800 },
    { width: 390, height: 844, isMobile: true },
  ].map(({ isMobile = false, ...viewport }) => ({ viewport, isMobile }));

  it.each(SCREENS)('keeps pictures and buttons in view, and moves nothing through a whole ride: $viewport', async (screen) => {
    // A minute of ticks within a few seconds.
    const fast = await startMock({ at: 126, pace: 12 });
    const { page, context } = await openPage(browser, `${fast.url}/demo`, { ...screen, before: [watchShifts] });
    await framesShown(page, SINGLE, 5);
    for (const phase of ['WiFi fades', 'WiFi is dead', 'LTE is congested', 'LTE is dead', 'Both links are good']) {
      await page.getByText(phase, { exact: true }).waitFor();
      for (const seen of [page.locator('.calls .tile').last(), page.getByRole('button', { name: 'Cut WiFi' }), page.getByRole('button', { name: 'Cut LTE' })]) {
        const box = await seen.boundingBox();
        expect(box!.y + box!.height).toBeLessThanOrEqual(screen.viewport.height);
      }
    }
    await page.getByRole('button', { name: 'Cut WiFi' }).click();
    await page.getByText('WiFi is cut by hand, LTE is congested', { exact: true }).waitFor();
    await page.getByText('WiFi is cut by hand, LTE is dead', { exact: true }).waitFor();
    await page.getByText('WiFi is cut by hand', { exact: true }).waitFor();
    expect(await page.evaluate(() => (globalThis as unknown as { shifts: unknown[] }).shifts)).toEqual([]);
    await context.close();
    await fast.close();
  });

  it('says what there is instead of a black picture', whereTheMachineKeepsUp(async () => {
    const dead = await startMock({ at: 144 + 19 });
    const { page, context } = await openPage(browser, `${dead.url}/demo`);
    await page.locator('.call-single').getByText('No picture yet: WiFi is down.').waitFor();
    await framesShown(page, WEFT, 20);
    await context.close();
    await dead.close();
  }));
});

describe('a room', () => {
  it('is joined by keyboard from the start page', whereTheMachineKeepsUp(async () => {
    const { page, complaints, context } = await openPage(browser, `${mock.url}/`);
    await page.getByLabel('Room').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Give the room a name').waitFor();
    await page.keyboard.type('Stand Up');
    await page.keyboard.press('Enter');
    // We see ourselves before anyone else sees us.
    await framesShown(page, 'Your own picture', 5);
    await page.keyboard.press('Enter');
    await page.getByText('Enter a name').waitFor();
    await page.keyboard.type('Kim');
    await page.keyboard.press('Enter');
    await framesShown(page, 'Picture of Ada Lovelace', 20);
    expect(new URL(page.url()).pathname).toBe('/r/stand-up');
    await framesShown(page, 'Your own picture', 5);
    expect(complaints).toEqual([]);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'A call that continues' }).waitFor();
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
    const camera = (turn: 'off' | 'on') => page.getByRole('button', { name: `Turn camera ${turn}` });
    await camera('off').waitFor();
    // Keys work once the room has been drawn.
    await framesShown(page, 'Your own picture', 1);
    await page.keyboard.press('m');
    await page.getByRole('button', { name: 'Unmute microphone' }).waitFor();
    await camera('off').click();
    await camera('on').click();
    await framesShown(page, 'Your own picture', 5);
    await page.getByRole('button', { name: 'Unmute microphone' }).waitFor();
    await context.close();
  }));

  it('changes devices during the call, by keyboard, and shows how loud we are', whereTheMachineKeepsUp(async () => {
    const { page, complaints, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    await framesShown(page, 'Your own picture', 1);
    await page.keyboard.press('d');
    const panel = page.getByRole('dialog', { name: 'Devices' });
    await panel.waitFor();
    for (const label of ['Camera', 'Microphone', 'Loudspeaker']) {
      const menu = panel.getByLabel(label, { exact: true });
      const options = menu.locator('option');
      await options.first().waitFor({ state: 'attached' });
      const last = await options.last().getAttribute('value');
      await menu.selectOption(last);
      await expect.poll(() => menu.inputValue()).toBe(last);
    }
    await framesShown(page, 'Your own picture', 5);
    // Two choices in quick succession, as with the arrow keys: the last one counts, and we stay
    // audible.
    const microphones = panel.getByLabel('Microphone', { exact: true });
    const values = await microphones.locator('option').evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    await microphones.evaluate((menu, chosen) => {
      for (const value of chosen) {
        (menu as HTMLSelectElement).value = value;
        menu.dispatchEvent(new Event('change', { bubbles: true }));
      }
    }, values.slice(0, 2));
    await expect.poll(() => microphones.inputValue()).toBe(values[1]);
    expect(await page.getByRole('button', { name: 'Mute microphone' }).count()).toBe(1);
    // The fake microphone beeps once a second.
    await expect.poll(() => panel.getByRole('meter').evaluate((meter) => (meter as HTMLMeterElement).value), { interval: 20 }).toBeGreaterThan(0.3);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
    await context.close();
  }));

  it('makes one large without a pin in the speaker view, and all of one size again', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    const width = async (name: string) => (await page.locator('.tile', { has: page.getByText(name, { exact: true }) }).boundingBox())!.width;
    await page.locator('.tile', { has: page.getByText('Lin', { exact: true }) }).waitFor();
    await page.keyboard.press('s');
    await expect.poll(async () => (await width('Ada Lovelace')) / (await width('Lin'))).toBeGreaterThan(1.9);
    // A pin takes precedence; removing it also removes it from the view.
    await page.getByRole('button', { name: 'Pin: Picture of Lin' }).click();
    await expect.poll(async () => (await width('Lin')) / (await width('Ada Lovelace'))).toBeGreaterThan(1.9);
    await page.getByRole('button', { name: 'Unpin: Picture of Lin' }).click();
    await expect.poll(async () => (await width('Ada Lovelace')) / (await width('Lin'))).toBeGreaterThan(1.9);
    await page.getByRole('button', { name: 'Show everybody' }).click();
    await expect.poll(async () => (await width('Ada Lovelace')) / (await width('Lin'))).toBe(1);
    await context.close();
  }));

  it('is joined with the camera off and the microphone of choice', whereTheMachineKeepsUp(async () => {
    const { page, complaints, context } = await openPage(browser, `${mock.url}/r/mock`);
    const microphones = page.getByLabel('Microphone', { exact: true });
    await microphones.locator('option').nth(1).waitFor({ state: 'attached' });
    const second = await microphones.locator('option').nth(1).getAttribute('value');
    await microphones.selectOption(second);
    await page.getByRole('button', { name: 'Turn camera off' }).click();
    await page.getByText('Your camera is off.').waitFor();
    await page.getByLabel('Your name').fill('Kim');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('button', { name: 'Turn camera on' }).waitFor();
    await page.getByRole('button', { name: 'Mute microphone' }).waitFor();
    await page.getByRole('button', { name: 'Turn camera on' }).click();
    await framesShown(page, 'Your own picture', 5);
    expect(complaints).toEqual([]);
    await context.close();
  }));

  it('makes one picture large, and fills the screen with it', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    const ada = page.locator('.tile', { hasText: 'Ada Lovelace' });
    const width = async () => (await ada.boundingBox())!.width;
    // The last one to join.
    await page.locator('.tile', { hasText: 'Lin' }).waitFor();
    const before = await width();
    await page.getByRole('button', { name: 'Pin: Picture of Ada Lovelace' }).click();
    await expect.poll(width).toBeGreaterThan(before * 1.3);
    const large = await width();
    // Below it are the others, complete: none is beside it or as high.
    for (const tile of await page.locator('.tile').all()) {
      const box = (await tile.boundingBox())!;
      expect(box.width / box.height).toBeCloseTo(16 / 9, 1);
    }
    await page.getByRole('button', { name: 'Unpin: Picture of Ada Lovelace' }).click();
    await expect.poll(width).toBeLessThan(large / 1.3);
    await page.getByRole('button', { name: 'Full screen: Picture of Ada Lovelace' }).click();
    await expect.poll(() => page.evaluate(() => document.fullscreenElement?.className)).toMatch(/tile/);
    await context.close();
  }));

  /** Interface of the mock's script within the page. */
  interface MockInPage {
    readonly moves: Record<string, boolean>;
    view(): readonly { readonly participant: string; readonly camera: number; readonly width: number; readonly height: number }[];
  }
  const view = (page: Page) => page.evaluate(() => (globalThis as unknown as { mock: MockInPage }).mock.view());
  const viewed = async (page: Page) => (await view(page)).map(({ participant, camera }) => `${participant}/${camera}`);

  it('asks for the cameras on the screen, in the size of their tiles, the pinned one first', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`, { deviceScaleFactor: 2 });
    await page.locator('.tile', { hasText: 'Lin' }).waitFor();
    // Without Lin, who has no camera, and without ourselves.
    await expect.poll(() => viewed(page)).toEqual(['ada/0', 'rover/0', 'rover/1']);
    const rear = page.locator('.tile', { hasText: 'camera 2' });
    await page.getByRole('button', { name: 'Pin: Picture of Rover 7: camera 2' }).click();
    await expect.poll(() => viewed(page)).toEqual(['rover/1', 'ada/0', 'rover/0']);
    const box = (await rear.boundingBox())!;
    expect((await view(page))[0]).toMatchObject({ width: 2 * box.width, height: 2 * box.height });
    await page.getByRole('button', { name: 'Full screen: Picture of Ada Lovelace' }).click();
    await expect.poll(() => viewed(page)).toEqual(['ada/0']);
    await page.evaluate(() => document.exitFullscreen());
    await expect.poll(() => viewed(page)).toEqual(['rover/1', 'ada/0', 'rover/0']);
    await framesShown(page, 'Picture of Rover 7: camera 2', 10);
    await context.close();
  }));

  it('asks for no camera while the page is hidden, and for all when it is back', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    const hide = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await framesShown(page, 'Picture of Ada Lovelace', 10);
    await hide(true);
    await expect.poll(() => viewed(page)).toEqual([]);
    await hide(false);
    await expect.poll(() => viewed(page)).toEqual(['ada/0', 'rover/0', 'rover/1']);
    await framesShown(page, 'Picture of Ada Lovelace', 10);
    await context.close();
  }));

  it('shows nothing of the picture that a line carried before, until the new one comes', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`);
    const tile = page.locator('.tile', { hasText: 'Front' });
    for (const camera of ['Front', 'camera 2']) await framesShown(page, `Picture of Rover 7: ${camera}`, 10);
    const moves = (on: boolean) => page.evaluate((value) => Object.assign((globalThis as unknown as { mock: MockInPage }).mock.moves, { rover: value }), on);
    await page.getByRole('button', { name: 'Full screen: Picture of Ada Lovelace' }).click();
    await expect.poll(() => viewed(page)).toEqual(['ada/0']);
    await moves(false);
    await page.evaluate(() => document.exitFullscreen());
    // The other camera's line brings its pictures back; this line does not.
    await framesShown(page, 'Picture of Rover 7: camera 2', 10);
    const veil = tile.getByText('Waiting for the first picture…');
    await veil.waitFor();
    expect(await veil.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(23, 24, 29)');
    await moves(true);
    await veil.waitFor({ state: 'detached' });
    await framesShown(page, 'Picture of Rover 7: Front', 10);
    await context.close();
  }));

  it('says which pictures the connection is too slow for', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/slow?name=Kim`);
    await framesShown(page, 'Picture of Ada Lovelace', 10);
    const paused = page.getByText('Paused: your connection is too slow.');
    await expect.poll(() => paused.count()).toBe(2);
    expect(await paused.first().evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(23, 24, 29)');
    await context.close();
  }));

  it.each(['mock', 'the-weekly-meeting-of-everybody-who-is-on-the-road'])('keeps its head on one line of a phone: %s', async (room) => {
    const { page, context } = await openPage(browser, `${mock.url}/r/${room}?name=Kim`, { viewport: { width: 360, height: 740 }, isMobile: true });
    const [brand, invite] = [page.getByRole('link', { name: 'weft' }), page.getByRole('button', { name: 'Copy invitation' })];
    const [left, right] = [(await brand.boundingBox())!, (await invite.boundingBox())!];
    expect(right.y).toBeLessThan(left.y + left.height);
    expect(right.x + right.width).toBeLessThanOrEqual(360);
    expect((await page.locator('.room-name').boundingBox())!.width).toBeGreaterThan(25);
    await context.close();
  });

  it('names twelve people on a phone, and says what is true of each', async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/crowd?name=Kim`, { viewport: { width: 360, height: 740 }, isMobile: true });
    const tiles = page.getByRole('listitem');
    await expect.poll(() => tiles.count()).toBe(12);
    const of = (name: string) => tiles.filter({ has: page.getByText(name, { exact: true }) });
    for (const [name, words] of [
      ['Grace Hopper', 'muted, camera off'],
      ['Jo', 'connection lost'],
      ['Priya Raghunathan', 'sends nothing yet'],
      ['Guest', 'only watching'],
    ] as const) {
      await of(name).getByText(words).waitFor();
    }
    expect(await page.getByText('watches').count()).toBe(0);
    // Each name is within its tile, and wide enough to be read.
    for (const name of ['Ada Lovelace', 'Lin', 'Maximiliane Oberhuber', 'Rover 7', 'Bartholomew', 'Kim']) {
      const tile = (await of(name).boundingBox())!;
      const box = (await of(name).getByText(name, { exact: true }).first().boundingBox())!;
      expect(box.width, name).toBeGreaterThan(Math.min(30, 7 * name.length - 8));
      expect(box.height, name).toBeGreaterThan(10);
      expect(box.x + box.width, name).toBeLessThanOrEqual(tile.x + tile.width + 1);
      expect(box.y + box.height, name).toBeLessThanOrEqual(tile.y + tile.height + 1);
    }
    await context.close();
  });

  it('lets watch without camera and microphone, and says what to do', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${mock.url}/r/mock?name=Kim`, { capture: 'refused' });
    await page.getByRole('alert').getByText('Allow them with the icon').waitFor();
    await framesShown(page, 'Picture of Ada Lovelace', 20);
    await context.close();
  }));
});

describe('the door of a server with a token', () => {
  let guarded: Mock;
  beforeEach(async () => {
    guarded = await startMock({ token: 'right' });
  });
  afterEach(() => guarded.close());

  /** Counts how often the page requests a camera. */
  function countCaptures(): void {
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    Object.assign(globalThis, { captures: 0 });
    navigator.mediaDevices.getUserMedia = (wanted) => {
      Object.assign(globalThis, { captures: (globalThis as unknown as { captures: number }).captures + 1 });
      return ask(wanted);
    };
  }
  const captures = (page: Page) => page.evaluate(() => (globalThis as unknown as { captures: number }).captures);

  it('asks for it in a field, before the camera, and tells wrong ones apart', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${guarded.url}/r/mock`, { before: [countCaptures] });
    const [field, alert] = [page.getByLabel('Token', { exact: true }), page.getByRole('alert')];
    await field.waitFor();
    expect(await alert.count()).toBe(0);
    for (const [token, words] of [
      ['', 'Enter the token'],
      ['wrong', 'The token is wrong'],
      ['expired', 'token has expired'],
      ['other', "for the room 'other'"],
    ] as const) {
      await field.fill(token);
      await page.getByRole('button', { name: 'Continue' }).click();
      await alert.getByText(words).waitFor();
    }
    expect(await captures(page)).toBe(0);
    await field.fill(`${guarded.url}/r/mock?token=right`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await framesShown(page, 'Your own picture', 5);
    expect(new URL(page.url()).search).toBe('');
    await context.close();
  }));

  it('does not ask spectators for a camera', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${guarded.url}/r/mock?token=watch`, { before: [countCaptures] });
    await page.getByText('You are invited to watch and listen').waitFor();
    await page.getByLabel('Your name').fill('Kim');
    await page.getByRole('button', { name: 'Join' }).click();
    await framesShown(page, 'Picture of Ada Lovelace', 10);
    expect(await captures(page)).toBe(0);
    expect(await page.getByRole('button', { name: /Turn camera/ }).count()).toBe(0);
    await context.close();
  }));

  it('says of an address with a wrong token that it is wrong', whereTheMachineKeepsUp(async () => {
    const { page, context } = await openPage(browser, `${guarded.url}/r/mock?token=old`);
    await page.getByRole('alert').getByText('is wrong for this server').waitFor();
    await context.close();
  }));
});

it('watches a direct call', whereTheMachineKeepsUp(async () => {
  const call = await startMock({ mode: 'call' });
  const { page, complaints, context } = await openPage(browser, `${call.url}/`);
  await framesShown(page, 'Picture of Rover 7', 20);
  await page.getByLabel(/^Links of Rover 7/).waitFor();
  await page.getByRole('button', { name: 'Turn sound off' }).click();
  await page.getByRole('button', { name: 'Turn sound on' }).click();
  expect(complaints).toEqual([]);
  await call.close();
  await page.getByLabel(/^Links of Rover 7: .*, as they were$/).waitFor();
  await page.getByRole('button', { name: 'Full screen: Picture of Rover 7' }).click();
  await expect.poll(() => page.evaluate(() => document.fullscreenElement?.className)).toMatch(/tile/);
  await context.close();
}));

it('says so where the browser has no WebRTC', whereTheMachineKeepsUp(async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'));
  const page = await context.newPage();
  await page.goto(`${mock.url}/r/mock`);
  await page.getByRole('heading', { name: 'This browser has no WebRTC' }).waitFor();
  await context.close();
}));

it.each(['/', '/r/mock', '/r/mock?name=Kim', '/demo'])('fits a phone without scrolling sideways: %s', async (path) => {
  const { page, context } = await openPage(browser, mock.url + path, { viewport: { width: 360, height: 740 }, isMobile: true });
  await page.waitForTimeout(1_500);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await context.close();
});
