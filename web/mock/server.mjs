// A stand-in for the weft server, for looking at the page: `npm run build`,
// then `npm run mock`. Rooms and demo are made up; nothing is forwarded.
//
//   --port N       where to listen on loopback (default 8787)
//   --at SECONDS   where in the ride to begin (default 0)
//   --mode call    what `weft call` would serve at /

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { tickAt } from './ride.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DIST = join(HERE, '..', 'dist');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** As strict as the server's own, so that the tests see what it would refuse. */
const POLICY = "default-src 'self'; media-src 'self' blob: mediastream:; object-src 'none'; base-uri 'none'";
const TICK_MS = 250;

/** Starts the mock; resolves with its address and a way to end it. */
export async function startMock({ port = 0, at = 0, mode = 'rooms' } = {}) {
  const demo = rideFrom(at);
  const server = createServer((request, response) => {
    answer(request, response, demo, mode).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      demo.stop();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request, response, demo, mode) {
  const { pathname, searchParams } = new URL(request.url, 'http://mock');
  const room = /^\/api\/rooms\/([^/]+)\/events$/.exec(pathname)?.[1];
  const link = /^\/api\/demo\/links\/([^/]+)$/.exec(pathname)?.[1];
  if (pathname === '/api/call') {
    if (mode !== 'call') return json(response, { mode: 'rooms' });
    return json(response, { mode: 'call', name: 'Rover 7', links: roverLinks() });
  }
  if (pathname === '/api/demo/events') return demo.follow(response, !searchParams.has('mock'));
  if (link !== undefined && request.method === 'POST') {
    const { state } = JSON.parse(await bodyOf(request));
    demo.forced[decodeURIComponent(link)] = state === 'auto' ? null : state;
    return response.writeHead(204).end();
  }
  if (room !== undefined) return presence(response, room, searchParams.get('name') ?? 'You');
  if (pathname.startsWith('/api/')) return problem(response, 404, 'There is nothing here.', 'Look at the address.');
  return page(pathname, response);
}

/** A ride that runs from `at` on, with the minute before it for the plots. */
function rideFrom(at) {
  const forced = {};
  const counters = { weft: { seconds: 0, count: 0 }, single: { seconds: 0, count: 0 } };
  const listeners = new Set();
  const past = [];
  let t = 0;
  const step = () => {
    const tick = tickAt(t, forced, counters);
    for (const [name, call] of [['weft', tick.calls.weft], ['single', tick.calls['single:wifi']]]) {
      const counter = counters[name];
      if (call.frozen) counter.seconds += TICK_MS / 1000;
      if (call.frozen && !counter.was) counter.count += 1;
      counter.was = call.frozen;
    }
    past.push(tick);
    if (past.length > 240) past.shift();
    t += TICK_MS / 1000;
    return tick;
  };
  while (t < at) step();
  const timer = setInterval(() => {
    const tick = step();
    for (const response of listeners) send(response, 'tick', tick);
  }, TICK_MS);
  return {
    forced,
    stop: () => clearInterval(timer),
    follow: (response, replay) => {
      stream(response);
      if (replay) for (const tick of past) send(response, 'tick', tick);
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
    },
  };
}

function roverLinks() {
  const t = Date.now() / 1000;
  const lteDown = t % 24 > 14;
  return [
    { name: 'wlan0', state: 'up', rtt_ms: 23 + Math.sin(t) * 4, sent_mbps: 1.9, target_mbps: 4.2, loss: 0.003, metered: false },
    lteDown
      ? { name: 'wwan0', state: 'down', rtt_ms: null, sent_mbps: 0, target_mbps: null, loss: null, metered: true }
      : { name: 'wwan0', state: 'up', rtt_ms: 61 + Math.cos(t) * 6, sent_mbps: 0.6, target_mbps: 2.8, loss: 0.012, metered: true },
  ];
}

function presence(response, room, name) {
  const sends = (cameras, audio) => ({ video: cameras.length > 0, audio, cameras });
  const self = { id: 'p9', name, kind: 'browser', publishing: sends([], false), links: [] };
  const ada = { id: 'ada', name: 'Ada Lovelace', kind: 'browser', publishing: sends([{}], true), links: [] };
  const lin = { id: 'lin', name: 'Lin', kind: 'browser', publishing: sends([], true), links: [] };
  const rover = () => ({ id: 'rover', name: 'Rover 7', kind: 'native', publishing: sends([{ name: 'Front' }, {}], false), links: roverLinks() });
  stream(response);
  const alone = room === 'empty';
  send(response, 'welcome', { id: 'p9', room, participants: alone ? [self] : [self, ada, rover()] });
  if (alone) return;
  const timers = [
    setInterval(() => send(response, 'links', { id: 'rover', links: roverLinks() }), 1000),
    setTimeout(() => send(response, 'joined', lin), 2000),
  ];
  response.on('close', () => timers.forEach(clearInterval));
}

async function page(pathname, response) {
  if (pathname === '/mock/pictures.js') return file(join(HERE, 'pictures.js'), response);
  if (pathname.startsWith('/assets/')) return file(join(DIST, normalize(pathname)), response);
  const html = await readFile(join(DIST, 'index.html'), 'utf8');
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY });
  response.end(html.replace('<script type="module"', '<script src="/mock/pictures.js"></script><script type="module"'));
}

async function file(path, response) {
  try {
    const body = await readFile(path);
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

async function bodyOf(request) {
  let body = '';
  for await (const piece of request) body += piece;
  return body;
}

function stream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
}

function send(response, event, value) {
  response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
}

function json(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function problem(response, status, error, remedy) {
  json(response, { error, remedy }, status);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string' }, at: { type: 'string' }, mode: { type: 'string' } } });
  const mock = await startMock({ port: Number(values.port ?? 8787), at: Number(values.at ?? 0), mode: values.mode });
  console.log(`${mock.url}/  ${mock.url}/r/mock  ${mock.url}/demo`);
}
