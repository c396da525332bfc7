// `weft call` with a loudspeaker and a page in the vehicle: browsers are heard and seen.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { framesShown, keepPeers, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';

let browser: Browser;
let folder: string;
let sender: Program | undefined;

beforeAll(async () => {
  browser = await startChromium();
  folder = mkdtempSync(join(tmpdir(), 'weft-'));
});
afterEach(() => sender?.close());
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

function call(...args: readonly string[]): Program {
  sender = startWeft(['call', '--listen', '127.0.0.1:0', '--name', 'Van', '--link', '127.0.0.1', '--camera', 'clip:360p', ...args]);
  return sender;
}

/** Returns the second URL that it prints: that of the page in the vehicle. */
async function vehicleUrl({ said }: Program): Promise<string> {
  const urls = (): string[] => said.flatMap((line) => /^https?:\S+/.exec(line)?.[0] ?? []);
  await expect.poll(() => urls().length).toBeGreaterThan(1);
  return urls()[1]!;
}

/** Loudest sample of the last 2 s of a WAV file, 16 bits stereo at 48 kHz: the fake microphones
 *  beep once a second. */
function loudest(file: string): number {
  const bytes = readFileSync(file).subarray(44);
  const whole = bytes.subarray(0, bytes.length & ~1).subarray(-2 * 48_000 * 4);
  let peak = 0;
  for (let at = 0; at + 1 < whole.length; at += 2) peak = Math.max(peak, Math.abs(whole.readInt16LE(at)));
  return peak;
}
const LOUD = 1_000;
const QUIET = 50;

const toggle = (page: Page, name: string) => page.getByRole('button', { name }).click();

it('browsers talk back, mixed, and are seen in the vehicle', whereTheMachineKeepsUp(async () => {
  const file = join(folder, `${Date.now()}.wav`);
  const program = call('--mic', 'tone', '--speaker', file, '--page=127.0.0.1:0');
  const url = await program.url();
  const vehicle = await openPage(browser, await vehicleUrl(program));
  await vehicle.page.getByText('No browser is connected.').waitFor();
  const ada = await openPage(browser, url, { before: [keepPeers] });
  const bob = await openPage(browser, url);
  for (const { page } of [ada, bob]) await framesShown(page, 'Picture of Van', 20);
  await vehicle.page.getByText('with Browser 1, Browser 2').waitFor();
  // Nobody sends anything until they ask for it.
  expect(loudest(file)).toBeLessThan(QUIET);
  expect(await vehicle.page.getByAltText('Picture of Browser').count()).toBe(0);

  await toggle(ada.page, 'Unmute microphone');
  await expect.poll(() => loudest(file), { timeout: 15_000 }).toBeGreaterThan(LOUD);
  await ada.page.keyboard.press('m');
  await expect.poll(() => loudest(file), { timeout: 15_000 }).toBeLessThan(QUIET);
  await toggle(bob.page, 'Unmute microphone');
  await expect.poll(() => loudest(file), { timeout: 15_000 }).toBeGreaterThan(LOUD);
  await toggle(bob.page, 'Mute microphone');
  await expect.poll(() => loudest(file), { timeout: 15_000 }).toBeLessThan(QUIET);
  await toggle(ada.page, 'Unmute microphone');
  await expect.poll(() => loudest(file), { timeout: 15_000 }).toBeGreaterThan(LOUD);

  await toggle(ada.page, 'Turn camera on');
  await ada.page.getByLabel('Your own picture').waitFor();
  const picture = vehicle.page.getByAltText(/^Picture of Browser/);
  await expect.poll(() => picture.count(), { timeout: 15_000 }).toBe(1);
  // The fake camera draws on green, so its picture is green, not black or grey.
  const greenest = (): Promise<number> =>
    picture.evaluate((image) => {
      const canvas = document.createElement('canvas');
      const paint = canvas.getContext('2d')!;
      paint.drawImage(image as HTMLImageElement, 0, 0, 16, 9);
      const [red = 0, green = 0, blue = 0] = paint.getImageData(8, 2, 1, 1).data;
      return green - Math.max(red, blue);
    });
  await expect.poll(greenest, { timeout: 15_000 }).toBeGreaterThan(50);
  const shot = process.env['WEFT_SHOT'];
  if (shot !== undefined) for (const [name, { page }] of Object.entries({ ada, vehicle })) await page.screenshot({ path: `${shot}-${name}.png` });
  // Over a single connection.
  expect(await ada.page.evaluate(() => (globalThis as unknown as { peers: unknown[] }).peers.length)).toBe(1);
  await toggle(ada.page, 'Turn camera off');
  await expect.poll(() => picture.count(), { timeout: 15_000 }).toBe(0);

  await toggle(vehicle.page, 'Turn cameras off');
  await ada.page.getByText('The camera is off.').waitFor();
  await bob.context.close();
  await vehicle.page.getByText('with Browser').filter({ hasNotText: ',' }).waitFor();
  for (const { complaints } of [ada, bob, vehicle]) expect(complaints).toEqual([]);
  vehicle.page.once('dialog', (dialog) => void dialog.accept());
  await toggle(vehicle.page, 'Leave');
  await vehicle.page.getByText('You have left the call.').waitFor();
  expect(await program.close()).toBe(0);
  // The file is complete.
  const bytes = readFileSync(file);
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  await ada.context.close();
  await vehicle.context.close();
}));

it('says that nobody hears, without a loudspeaker, and what a refused microphone needs', whereTheMachineKeepsUp(async () => {
  const deaf = call('--mic', 'tone');
  const { page, context, complaints } = await openPage(browser, await deaf.url());
  await framesShown(page, 'Picture of Van', 20);
  await page.getByText('Nobody hears you: the sender has no loudspeaker.').waitFor();
  expect(await page.getByRole('button', { name: /microphone|camera/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await context.close();
  await deaf.close();

  const hearing = call('--speaker', join(folder, `refused-${Date.now()}.wav`));
  const refused = await openPage(browser, await hearing.url(), { capture: 'refused' });
  await toggle(refused.page, 'Unmute microphone');
  await refused.page.getByRole('alert').getByText('Allow them with the icon').waitFor();
  await framesShown(refused.page, 'Picture of Van', 20);
  expect(await refused.page.getByRole('button', { name: /camera/ }).count()).toBe(0);
  await refused.context.close();
}));

it('chooses camera, microphone and loudspeaker during the call', whereTheMachineKeepsUp(async () => {
  const two = await startChromium({ args: ['--use-fake-device-for-media-stream=device-count=2'] });
  const program = call('--mic', 'tone', '--speaker', join(folder, `devices-${Date.now()}.wav`), '--page=127.0.0.1:0');
  const { page, complaints } = await openPage(two, await program.url(), { before: [keepPeers] });
  await framesShown(page, 'Picture of Van', 20);
  await toggle(page, 'Turn camera on');
  await toggle(page, 'Unmute microphone');
  await framesShown(page, 'Your own picture', 5);
  await page.keyboard.press('d');
  const panel = page.getByRole('dialog', { name: 'Devices' });
  const sent = (kind: string): Promise<string | undefined> =>
    page.evaluate((of) => {
      const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
      const senders = peers.flatMap((peer) => peer.getSenders());
      return senders.find(({ track }) => track?.kind === of && track.readyState === 'live')?.track?.getSettings().deviceId;
    }, kind);
  for (const [label, kind] of [['Camera', 'video'], ['Microphone', 'audio']] as const) {
    const menu = panel.getByLabel(label, { exact: true });
    await expect.poll(() => menu.locator('option').count()).toBeGreaterThan(1);
    const before = await sent(kind);
    const values = await menu.locator('option').evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    const other = values.find((value) => value !== before && value !== 'default')!;
    await menu.selectOption(other);
    await expect.poll(() => sent(kind)).toBe(other);
    expect(await menu.inputValue()).toBe(other);
  }
  await framesShown(page, 'Your own picture', 5);
  await expect.poll(() => panel.getByRole('meter').evaluate((meter) => (meter as HTMLMeterElement).value), { interval: 20 }).toBeGreaterThan(0.1);
  const loudspeakers = panel.getByLabel('Loudspeaker', { exact: true });
  const last = await loudspeakers.locator('option').last().getAttribute('value');
  await loudspeakers.selectOption(last);
  await expect.poll(() => page.getByLabel('Picture of Van', { exact: true }).evaluate((video) => (video as HTMLVideoElement).sinkId)).toBe(last);
  // A choice while the camera is off opens nothing, and applies the next time.
  await page.keyboard.press('v');
  await page.getByRole('button', { name: 'Turn camera on' }).waitFor();
  const cameras = panel.getByLabel('Camera', { exact: true });
  const first = await cameras.locator('option').first().getAttribute('value');
  await cameras.selectOption(first);
  expect(await sent('video')).toBeUndefined();
  await page.keyboard.press('v');
  await expect.poll(() => sent('video')).toBe(first);
  const shot = process.env['WEFT_SHOT'];
  if (shot !== undefined) await page.screenshot({ path: `${shot}-devices.png` });
  expect(complaints).toEqual([]);
  await two.close();
}));

it('does not repeat the name of the program as that of the sender', whereTheMachineKeepsUp(async () => {
  const program = startWeft(['call', '--listen', '127.0.0.1:0', '--link', '127.0.0.1', '--camera', 'clip:360p']);
  sender = program;
  const { page, context } = await openPage(browser, await program.url());
  await page.getByRole('heading', { name: 'Call', exact: true }).waitFor();
  expect(await page.locator('header').innerText()).not.toMatch(/weft\s+weft/);
  expect(await page.title()).toBe('Call · weft');
  await context.close();
  await program.close();
  const named = call('--mic', 'tone');
  const other = await openPage(browser, await named.url());
  await other.page.getByRole('heading', { name: 'Van' }).waitFor();
  await expect.poll(() => other.page.title()).toBe('Van · weft');
  await other.context.close();
}));
