// Starts the installed Chromium with a fake camera and microphone. No browser is
// downloaded; WEFT_CHROMIUM selects another one than the first in PATH.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type JSHandle, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Quiet: no background traffic of the browser itself. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const MEDIA = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  // Host candidates with addresses instead of names that only mDNS resolves.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];

export interface Options {
  /** A Y4M or MJPEG file instead of the browser's test picture. */
  readonly video?: string;
  /** A WAV file instead of the browser's beeps. */
  readonly sound?: string;
  readonly args?: readonly string[];
  /** Program that runs the browser, if it is not the browser itself. */
  readonly program?: string;
}

export function chromiumPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const installed = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const path = process.env['WEFT_CHROMIUM'] || installed.find((each) => existsSync(each));
  if (path === undefined) throw new Error(`none of ${NAMES.join(', ')} in PATH: install one or set WEFT_CHROMIUM`);
  return path;
}

/** Starts a browser with a fresh profile; `close` it. */
export function startChromium({ video, sound, args = [], program = chromiumPath() }: Options = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    headless: true,
    args: [
      ...QUIET,
      ...MEDIA,
      ...(video === undefined ? [] : [`--use-file-for-fake-video-capture=${video}`]),
      ...(sound === undefined ? [] : [`--use-file-for-fake-audio-capture=${sound}`]),
      ...args,
    ],
  });
}

export interface PageOptions extends BrowserContextOptions {
  /** Whether the page may use camera and microphone. */
  readonly capture?: 'allowed' | 'refused';
  /** Runs in the page before its own scripts. */
  readonly before?: readonly (() => void)[];
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Uncaught errors and console.error messages of the page. */
  readonly complaints: string[];
}

/** Opens a page that accepts a self-signed certificate. */
export async function openPage(browser: Browser, url: string, { capture = 'allowed', before = [], ...rest }: PageOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 860 }, ...rest });
  if (capture === 'allowed') await context.grantPermissions(['camera', 'microphone'], { origin: new URL(url).origin });
  else await context.addInitScript(refuseCapture);
  for (const each of before) await context.addInitScript(each);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(url);
  return { page, context, complaints };
}

/** Lets the test query the statistics of the page's connections. */
export function keepPeers(): void {
  const peers: RTCPeerConnection[] = [];
  Object.assign(globalThis, { peers });
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      peers.push(this);
    }
  };
}

/** Script that makes a page negotiate only this video codec, whatever it prefers. */
export function onlyCodec(codec: string): () => void {
  return new Function(`(${takeCodec.toString()})('${codec}')`) as () => void;
}

function takeCodec(codec: string): void {
  const { setCodecPreferences } = RTCRtpTransceiver.prototype;
  RTCRtpTransceiver.prototype.setCodecPreferences = function (this: RTCRtpTransceiver) {
    const { codecs } = RTCRtpSender.getCapabilities('video') ?? { codecs: [] };
    const wanted = codecs.filter(({ mimeType }) => [`video/${codec}`, 'video/rtx'].includes(mimeType));
    Reflect.apply(setCodecPreferences, this, [wanted]);
  } as typeof setCodecPreferences;
}

/** The fake permission prompt always allows, so a refusal is simulated. */
function refuseCapture(): void {
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('refused', 'NotAllowedError'));
}

/** Waits until the video with this label has shown `count` more frames. */
export async function framesShown(page: Page, label: string, count: number, timeout = 15_000): Promise<void> {
  const video = page.getByLabel(label, { exact: true });
  await video.waitFor({ state: 'attached', timeout });
  const start = await shown(page, label);
  await page.waitForFunction(
    ([of, goal]) => {
      const found = document.querySelector<HTMLVideoElement>(`video[aria-label="${CSS.escape(of)}"]`);
      return (found?.getVideoPlaybackQuality().totalVideoFrames ?? 0) >= goal;
    },
    [label, start + count] as const,
    { timeout },
  );
}

/** Returns the number of frames that the video with this label has shown so far. */
export function shown(page: Page, label: string): Promise<number> {
  return page
    .getByLabel(label, { exact: true })
    .evaluate((video) => (video as HTMLVideoElement).getVideoPlaybackQuality().totalVideoFrames);
}

/** Returns the brightness of the picture's pixels: mean and spread, 0 to 255. A spread near 0 means
 *  an empty picture. */
export function brightness(page: Page, label: string): Promise<{ mean: number; spread: number }> {
  return page.getByLabel(label, { exact: true }).evaluate((element) => {
    const canvas = document.createElement('canvas');
    canvas.width = 64;
    canvas.height = 36;
    const paint = canvas.getContext('2d');
    if (paint === null) throw new Error('no canvas');
    paint.drawImage(element as HTMLVideoElement, 0, 0, 64, 36);
    const { data } = paint.getImageData(0, 0, 64, 36);
    const values = Array.from({ length: data.length / 4 }, (_, at) => data[at * 4 + 1] ?? 0);
    const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
    const spread = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / values.length);
    return { mean, spread };
  });
}

/** Returns the loudest sample within 2.5 s: the fake microphone beeps once a second. */
export function loudest(page: Page, label: string): Promise<number> {
  return page.getByLabel(label, { exact: true }).evaluate(async (element) => {
    const stream = (element as HTMLVideoElement).srcObject as MediaStream;
    const audio = new AudioContext();
    const analyser = audio.createAnalyser();
    audio.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    let peak = 0;
    for (const start = performance.now(); performance.now() - start < 2_500; ) {
      await new Promise(requestAnimationFrame);
      analyser.getFloatTimeDomainData(samples);
      peak = Math.max(peak, ...samples.map(Math.abs));
    }
    await audio.close();
    return peak;
  });
}

/** Frames of a video as they appear. */
export interface Frames {
  readonly count: number;
  /** Longest time without a new frame until now, ms. */
  readonly largestGap: number;
}

interface Watched {
  count: number;
  last: number;
  largestGap: number;
}

/** Watches the video with this label from now on; each call of the result starts a new stretch. */
export async function watchFrames(page: Page, label: string): Promise<() => Promise<Frames>> {
  const watched: JSHandle<Watched> = await page.getByLabel(label, { exact: true }).evaluateHandle((element) => {
    const video = element as HTMLVideoElement;
    const state: Watched = { count: 0, last: performance.now(), largestGap: 0 };
    const step = (now: number): void => {
      state.count += 1;
      state.largestGap = Math.max(state.largestGap, now - state.last);
      state.last = now;
      video.requestVideoFrameCallback(step);
    };
    video.requestVideoFrameCallback(step);
    return state;
  });
  return () =>
    watched.evaluate((state) => {
      const seen = { count: state.count, largestGap: Math.max(state.largestGap, performance.now() - state.last) };
      Object.assign(state, { count: 0, largestGap: 0 });
      return seen;
    });
}

/** Returns the video codecs that a page with `keepPeers` decodes. */
export function decoded(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    const reports = await Promise.all(peers.map((each) => each.getStats()));
    const all = reports.flatMap((report) => [...report.values()] as Record<string, unknown>[]);
    const pictures = all.filter((each) => each['type'] === 'inbound-rtp' && each['kind'] === 'video' && Number(each['framesDecoded']) > 0);
    return pictures.map((each) => String(all.find((other) => other['id'] === each['codecId'])?.['mimeType']));
  });
}
