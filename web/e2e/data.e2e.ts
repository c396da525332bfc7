// Data channels between browsers through the real server with a page's own WebRTC, as
// documented for createDataChannel in embedding.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPage, startChromium } from './chromium';
import { startWeft, type Program } from './program';

let browser: Browser;
let server: Program;
let origin: string;

beforeAll(async () => {
  browser = await startChromium();
  server = startWeft(['serve', '--listen', '127.0.0.1:0']);
  ({ origin } = new URL(await server.url()));
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Opens a page that publishes its camera and has these channels; resolves when they are open. */
async function publisher(name: string, labels: readonly string[]): Promise<Page> {
  const { page } = await openPage(browser, `${origin}/`);
  await page.evaluate(
    async ([who, all]) => {
      const heard: string[] = [];
      const channels: Record<string, RTCDataChannel> = {};
      const peer = new RTCPeerConnection();
      const camera = await navigator.mediaDevices.getUserMedia({ video: true });
      for (const track of camera.getTracks()) peer.addTrack(track, camera);
      const opened = all.map((label) => {
        const channel = peer.createDataChannel(label, { ordered: false, maxPacketLifeTime: 1000 });
        channel.binaryType = 'arraybuffer';
        channel.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
          heard.push(`${label}: ${typeof data === 'string' ? data : `${String(data.byteLength)} bytes`}`);
        };
        channels[label] = channel;
        return new Promise<void>((resolve) => {
          channel.onopen = () => {
            resolve();
          };
        });
      });
      Object.assign(globalThis, { heard, channels });
      await peer.setLocalDescription();
      const answer = await fetch(`/whip/data?name=${who}`, {
        method: 'POST',
        headers: { 'content-type': 'application/sdp' },
        body: peer.localDescription?.sdp ?? '',
      });
      if (answer.status !== 201) throw new Error(`${String(answer.status)}: ${await answer.text()}`);
      await peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
      await Promise.all(opened);
    },
    [name, labels] as const,
  );
  return page;
}

function send(page: Page, label: string, text: string | number): Promise<void> {
  return page.evaluate(
    ([of, data]) => {
      const { channels } = globalThis as unknown as { channels: Record<string, RTCDataChannel> };
      if (typeof data === 'string') channels[of]?.send(data);
      else channels[of]?.send(new Uint8Array(data));
    },
    [label, text] as const,
  );
}

function heard(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
}

it('messages of one browser reach the others with the same label', async () => {
  const kim = await publisher('Kim', ['control', 'chat']);
  const sam = await publisher('Sam', ['control']);
  // The server learns of a channel before its browser does, so both are open there too.
  await send(kim, 'control', 'left');
  await send(kim, 'chat', 'nobody has this label');
  await send(sam, 'control', 60_000);
  await send(sam, 'control', '');
  await expect.poll(() => heard(sam)).toEqual(['control: left']);
  await expect.poll(async () => (await heard(kim)).sort()).toEqual(['control: ', 'control: 60000 bytes']);
});
