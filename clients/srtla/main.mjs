// One end of a stream over SRTLA, which bonds links below SRT: see ../README.md for
// what it reads and writes, and for the programs that it needs.
//
//   caller: camera -> belacoder (x264, MPEG-TS, SRT; sets the rate) -> srtla_send
//   callee: srtla_rec -> srt-live-transmit (SRT) -> ffmpeg -> screen

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { LACKING, TELL_EVERY, atEnd, clientOptions, end, fail, find, hasRole, ownAddress, write } from '../end.mjs';
import { Camera, Screen, now } from './pictures.mjs';
import * as stamp from './stamp.mjs';

const PORTS = { srtla: 5000, received: 5002, sent: 6000 };
const PROGRAMS = { caller: ['belacoder', 'srtla_send'], callee: ['srtla_rec', 'srt-live-transmit', 'ffmpeg', 'stdbuf'] };
/** Least rate of belacoder, bit/s: its own. */
const LEAST_BPS = 300_000;
/** Pause before belacoder starts again after it has lost its connection, ms. */
const PAUSE_MS = 500;

const given = clientOptions('1280x720', {
  video: { type: 'string' },
  latency: { type: 'string', default: '2000' },
  reordered: { type: 'string', default: '40' },
});
const size = given.size.split('x').map(Number);

// `build` puts programs there.
process.env.PATH = `${fileURLToPath(new URL('bin', import.meta.url))}${delimiter}${process.env.PATH}`;

let folder;
const running = new Set();

atEnd(() => {
  for (const each of running) each.kill('SIGKILL');
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Starts a program; `onLine` gets the lines of its error output. */
function start(command, { stdio, onLine = () => {}, onExit } = {}) {
  const child = spawn(command[0], command.slice(1), { stdio: stdio ?? ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  let last = '';
  createInterface(child.stderr).on('line', (line) => {
    last = line;
    onLine(line);
  });
  child.on('error', ({ message }) => fail(`${command[0]}: ${message}`, 'see clients/README.md', LACKING));
  child.on('exit', (status, signal) => {
    running.delete(child);
    if (onExit !== undefined) return onExit();
    fail(`${command[0]} has ended (${signal ?? `exit status ${status}`}): ${last}`, 'run it by hand: see clients/README.md');
  });
  return child;
}

/** Address of the callee that all links lead to: in the emulator its address on the loopback device. */
function address() {
  const loopback = networkInterfaces()['lo'] ?? [];
  const home = loopback.find(({ family, address }) => family === 'IPv4' && !address.startsWith('127.'));
  return home?.address ?? ownAddress();
}

/** Encodes what the camera films, as belacoder's pipelines do, without the delay of x264's lookahead. */
function pipeline() {
  const [width, height] = size;
  const elements = [
    `fdsrc fd=0 blocksize=${(width * height * 3) / 2}`,
    `rawvideoparse format=i420 width=${width} height=${height} framerate=${given.fps}/1`,
    `x264enc speed-preset=superfast tune=zerolatency key-int-max=${2 * Number(given.fps)} name=venc_kbps`,
    'h264parse config-interval=-1',
    'queue max-size-time=10000000000 max-size-buffers=1000 max-size-bytes=41943040',
    'mpegtsmux name=mux',
    'appsink name=appsink sync=false',
  ];
  return elements.join(' ! ');
}

function send({ host, port }) {
  folder = mkdtempSync(join(given.scratch, 'srtla-'));
  const file = (name, text) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const links = Object.values(networkInterfaces()).flat();
  const addresses = links.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
  start(['srtla_send', PORTS.sent, host, port, file('links', `${addresses.join('\n')}\n`)].map(String));
  const rates = file('rates', `${LEAST_BPS}\n${given['max-bps']}\n`);
  const belacoder = ['belacoder', file('pipeline', pipeline()), '127.0.0.1', PORTS.sent, '-l', given.latency, '-b', rates].map(String);
  const camera = new Camera(given.video, size, Number(given.fps));
  camera.start();
  let telling;
  const encode = () => {
    const onLine = (line) => {
      if (!line.startsWith('SRT connected')) return;
      camera.encoder = child.stdin;
      write({ state: 'connected' });
      telling ??= setInterval(() => {
        write({ sample: { unix_ms: now(), sent: { frames: camera.filmed - camera.skipped, width: size[0], height: size[1], cpu_limited_s: camera.limitedS } } });
      }, TELL_EVERY);
    };
    const onExit = () => {
      camera.encoder = undefined;
      write({ state: 'disconnected' });
      setTimeout(encode, PAUSE_MS);
    };
    const child = start(belacoder, { stdio: ['pipe', 'ignore', 'pipe'], onLine, onExit });
    // It closes its input when it ends.
    child.stdin.on('error', () => {});
  };
  encode();
}

function receive() {
  const screen = new Screen(size);
  const [width, height] = stamp.corner(...size);
  const input = ['-fflags', 'nobuffer', '-flags', 'low_delay', '-probesize', '32768', '-analyzeduration', '0', '-threads', '1', '-f', 'mpegts', '-i', 'pipe:0'];
  const output = ['-an', '-vsync', 'passthrough', '-vf', `crop=${width}:${height}:0:0,format=gray`, '-f', 'rawvideo', 'pipe:1'];
  const decoder = start(['ffmpeg', '-hide_banner', '-loglevel', 'fatal', ...input, ...output], { stdio: ['pipe', 'pipe', 'pipe'] });
  let telling;
  let bytes = 0;
  decoder.stdout.on('data', (chunk) => {
    screen.onPixels(chunk);
    if (telling !== undefined || screen.frames === 0) return;
    write({ state: 'connected' });
    telling = setInterval(() => {
      const { frames, damaged, freezes, freezeS } = screen;
      const received = { bytes, goodput_bytes: bytes, frames, dropped: damaged, freezes, freeze_s: freezeS, width: size[0], height: size[1], latencies_ms: screen.takeLatencies() };
      write({ sample: { unix_ms: now(), received } });
    }, TELL_EVERY);
  });
  const from = `srt://127.0.0.1:${PORTS.received}?mode=listener&lossmaxttl=${given.reordered}&latency=${given.latency}`;
  // Without stdbuf the stream would stay in a buffer.
  const srt = start(['stdbuf', '-o0', 'srt-live-transmit', '-q', from, 'file://con'], { stdio: ['ignore', 'pipe', 'pipe'] });
  srt.stdout.on('data', (chunk) => {
    bytes += chunk.length;
    decoder.stdin.write(chunk);
  });
  start(['srtla_rec', PORTS.srtla, '127.0.0.1', PORTS.received].map(String));
  write({ signal: { srtla: { host: address(), port: PORTS.srtla } } });
}

function main() {
  if (!hasRole(given)) return;
  const { role } = given;
  const missing = PROGRAMS[role].filter((name) => find([name]) === undefined);
  if (missing.length > 0) return fail(`missing: ${missing.join(', ')}`, 'run clients/srtla/build in weft\'s sources; it names Debian\'s packages', LACKING);
  if (given.send !== (role === 'caller')) return fail('the stream goes from the caller to the callee only', 'use a call in which the caller alone has a camera', 2);
  write({ about: { client: 'srtla', role, 'latency-ms': Number(given.latency), lossmaxttl: Number(given.reordered), 'max-bps': Number(given['max-bps']), camera: given.size } });
  write({ ready: true });
  const input = createInterface(process.stdin);
  input.on('line', (line) => {
    const { srtla } = JSON.parse(line).signal ?? {};
    if (role === 'caller' && srtla !== undefined && running.size === 0) send(srtla);
  });
  input.on('close', () => end(0));
  if (role === 'callee') receive();
}

main();
