// Browsers that publish VP9 in spatial and temporal layers through the real server to
// two viewers: one with a weak link, who gets the layers that fit, and one who gets all.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort, startBottleneck } from './bottleneck';
import { framesShown, keepPeers, onlyCodec, openPage, startChromium } from './chromium';
import { whereTheMachineKeepsUp } from './machine';
import { startWeft, type Program } from './program';

// AV1's encoder of three spatial layers needs more than two cores can spare beside three
// pages.
const CODEC = 'VP9';
const MODE = 'L3T3_KEY';
/** Height of the pictures, which are 16:9. */
const HEIGHT = 540;
/** Rate of all layers, bit/s. */
const WHOLE = 1_200_000;
/** Rate of the weak link, bit/s. */
const WEAK = 500_000;
/** Pictures per second. */
const FPS = 20;
/** Time for links and encoder to settle, ms. */
const SETTLES = 12_000;
/** Duration of the measurement, ms. */
const MEASURED = 8_000;

let browser: Browser;
let server: Program;
let origin: string;
let port: number;

beforeAll(async () => {
  browser = await startChromium();
  port = await freePort();
  server = startWeft(['serve', '--listen', '127.0.0.1:0', '--media-port', `${port}`]);
  ({ origin } = new URL(await server.url()));
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Publishes a restless picture in one encoding with these layers, whatever the page prefers. */
function publishLayers(mode: string, height: number, whole: number, fps: number): void {
  const { addTransceiver } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.addTransceiver = function (this: RTCPeerConnection, what: MediaStreamTrack | string, init?: RTCRtpTransceiverInit) {
    const isVideo = (typeof what === 'string' ? what : what.kind) === 'video';
    const sendEncodings = [{ scalabilityMode: mode, maxBitrate: whole } as RTCRtpEncodingParameters];
    const transceiver = Reflect.apply(addTransceiver, this, [what, isVideo ? { ...init, sendEncodings } : init]) as RTCRtpTransceiver;
    // On a busy machine, the encoder would reduce the size of the pictures.
    const parameters = { ...transceiver.sender.getParameters(), degradationPreference: 'maintain-resolution' as const };
    if (isVideo) void transceiver.sender.setParameters(parameters);
    return transceiver;
  } as typeof addTransceiver;
  const { getUserMedia } = MediaDevices.prototype;
  MediaDevices.prototype.getUserMedia = async function (this: MediaDevices, constraints?: MediaStreamConstraints) {
    const stream = (await Reflect.apply(getUserMedia, this, [constraints])) as MediaStream;
    const [camera] = stream.getVideoTracks();
    if (camera === undefined) return stream;
    const canvas = Object.assign(document.createElement('canvas'), { width: (height * 16) / 9, height });
    const paint = canvas.getContext('2d');
    const some = (most: number): number => Math.floor(Math.random() * most);
    setInterval(() => {
      for (let each = 0; paint !== null && each < 4; each++) {
        paint.fillStyle = `rgb(${some(256)} ${some(256)} ${some(256)})`;
        paint.fillRect(some(canvas.width), some(canvas.height), canvas.width / 16, canvas.height / 9);
      }
    }, 1_000 / fps);
    stream.removeTrack(camera);
    for (const track of canvas.captureStream(fps).getVideoTracks()) stream.addTrack(track);
    return stream;
  };
}

interface Shown {
  readonly height: number;
  readonly frames: number;
  readonly frozen: number;
  readonly bytes: number;
}

/** Returns the figures so far of the picture that a page with `keepPeers` receives. */
function received(page: Page): Promise<Shown> {
  return page.evaluate(async () => {
    const { peers } = globalThis as unknown as { peers: RTCPeerConnection[] };
    const reports = await Promise.all(peers.map((each) => each.getStats()));
    const all = reports.flatMap((report) => [...report.values()] as Record<string, unknown>[]);
    const pictures = all.filter((each) => each['type'] === 'inbound-rtp' && each['kind'] === 'video');
    const [best] = pictures.sort((a, b) => Number(b['framesDecoded']) - Number(a['framesDecoded']));
    const figure = (name: string): number => Number(best?.[name] ?? 0);
    return {
      height: figure('frameHeight'),
      frames: figure('framesDecoded'),
      frozen: figure('totalFreezesDuration'),
      bytes: figure('bytesReceived'),
    };
  });
}

it(`viewers of ${CODEC} in ${MODE} get the layers that fit their links`, { retry: 2, timeout: 180_000 }, whereTheMachineKeepsUp(async () => {
  const room = `${origin}/r/${CODEC}-${MODE}`;
  const link = await startBottleneck(port, WEAK);
  const publish = new Function(`(${publishLayers.toString()})('${MODE}', ${HEIGHT}, ${WHOLE}, ${FPS})`) as () => void;
  const ada = await openPage(browser, `${room}?name=Ada`, { before: [onlyCodec(CODEC), publish] });
  const viewer = (name: string, first: (() => void)[]): ReturnType<typeof openPage> =>
    openPage(browser, `${room}?name=${name}`, { capture: 'refused', before: [...first, keepPeers] });
  const kim = await viewer('Kim', []);
  const lou = await viewer('Lou', [link.before]);
  for (const { page } of [kim, lou]) await framesShown(page, 'Picture of Ada', 30, 40_000);
  await kim.page.waitForTimeout(SETTLES);
  const [strong, poor] = await measured([kim.page, lou.page]);
  console.log(CODEC, MODE, JSON.stringify({ strong, poor }));
  expect(strong.height).toBe(HEIGHT);
  expect(strong.fps).toBeGreaterThan(FPS * 0.6);
  // Meanwhile the server may try to raise the viewer to all layers, and fail.
  expect(poor.frozen).toBeLessThan(1.5);
  expect(poor.rate).toBeLessThan(WEAK);
  expect(poor.height).toBeLessThan(HEIGHT);
  expect(poor.fps).toBeGreaterThan(FPS * 0.4);
  for (const { context } of [ada, kim, lou]) await context.close();
  link.close();
}));

interface Figures {
  readonly height: number;
  readonly fps: number;
  readonly frozen: number;
  /** Rate of the stream, bit/s. */
  readonly rate: number;
}

async function measured<const P extends readonly Page[]>(pages: P): Promise<{ [K in keyof P]: Figures }> {
  const start = performance.now();
  const first = await Promise.all(pages.map(received));
  await pages[0]?.waitForTimeout(MEASURED);
  const last = await Promise.all(pages.map(received));
  const seconds = (performance.now() - start) / 1_000;
  const figures = last.map(({ height, frames, frozen, bytes }, at) => ({
    height,
    fps: (frames - (first[at]?.frames ?? 0)) / seconds,
    frozen: frozen - (first[at]?.frozen ?? 0),
    rate: ((bytes - (first[at]?.bytes ?? 0)) * 8) / seconds,
  }));
  return figures as unknown as { [K in keyof P]: Figures };
}
