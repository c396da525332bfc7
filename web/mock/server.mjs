// A stand-in for the weft server, for looking at the page: `npm run build`,
// then `npm run mock`. Rooms and demo are made up; nothing is forwarded.
//
//   --port N       where to listen on loopback (default 8787)
//   --at SECONDS   where in the ride to begin (default 0)
//   --pace N       how many times as fast the ride goes (default 1)
//   --mode MODE    rooms, demo or call: what weft serves at / (default rooms)
//
// Rooms with a special content: "empty", "crowd", "moderated", "waiting", and "slow", to which the
// connection has rate for one picture.

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

/** Tokens of the mock that are not the right one, which `token` says. */
const WATCH = 'watch';
const REFUSALS = {
  '': { status: 401, kind: 'token_missing', error: 'This server requires a token.', remedy: 'Open the link that you were given.' },
  wrong: { status: 401, kind: 'token_wrong', error: 'The token is wrong for this server.', remedy: 'Check that it was copied whole, or ask for another one.' },
  expired: { status: 401, kind: 'token_expired', error: 'This token has expired.', remedy: 'Ask the person who invited you for another one.' },
  other: { status: 403, kind: 'token_other_room', error: "The token is for the room 'other', not for this one.", remedy: 'Open the link that you were given.' },
};

/** Starts the mock; resolves with its address and a way to end it. */
export async function startMock({ port = 0, at = 0, mode = 'rooms', pace = 1, token = null } = {}) {
  const demo = rideFrom(at, pace);
  const server = createServer((request, response) => {
    answer(request, response, { demo, mode, token }).catch((error) => {
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

async function answer(request, response, { demo, mode, token }) {
  const { pathname, searchParams } = new URL(request.url, 'http://mock');
  const room = /^\/api\/rooms\/([^/]+)\/events$/.exec(pathname)?.[1];
  const link = /^\/api\/demo\/links\/([^/]+)$/.exec(pathname)?.[1];
  const shown = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? /weft_token=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
  const guarded = /^\/api\/rooms\/[^/]+\/(access|invitation)$/.exec(pathname)?.[1];
  if (guarded !== undefined) {
    const refusal = token === null ? undefined : REFUSALS[shown ?? ''] ?? (shown === token || shown === WATCH ? undefined : REFUSALS.wrong);
    if (refusal !== undefined) return json(response, refusal, refusal.status);
    return json(response, guarded === 'access' ? { may: shown === WATCH ? 'watch' : 'take_part', until: null } : { token });
  }
  if (token !== null && searchParams.get('token') !== null && (searchParams.get('token') === token || searchParams.get('token') === WATCH)) {
    return response.writeHead(303, { location: pathname, 'set-cookie': `weft_token=${searchParams.get('token')}; Path=/; HttpOnly` }).end();
  }
  if (pathname === '/api/call') {
    if (mode !== 'call') return json(response, { mode });
    return json(response, { mode: 'call', name: 'Rover 7', links: roverLinks(), hears: true, sees: true });
  }
  if (pathname === '/api/demo/events') return demo.follow(response, !searchParams.has('mock'));
  if (pathname === '/api/demo/restart' && request.method === 'POST') {
    demo.restart();
    return response.writeHead(204).end();
  }
  if (link !== undefined && request.method === 'POST') {
    const { state } = JSON.parse(await bodyOf(request));
    demo.force(decodeURIComponent(link), state);
    return response.writeHead(204).end();
  }
  if (room !== undefined) return presence(response, room, searchParams.get('name') ?? 'You');
  if (pathname.startsWith('/api/')) return problem(response, 404, 'There is nothing here.', 'Look at the address.');
  return page(pathname, response);
}

/** A ride that runs from `at` on, with the minute before it for the plots, `pace` times as fast as it says. */
function rideFrom(at, pace) {
  const forced = {};
  const listeners = new Set();
  let counters, past, t, came = 0;
  const begin = () => {
    counters = { weft: { seconds: 0, count: 0 }, single: { seconds: 0, count: 0 } };
    past = [];
    t = 0;
  };
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
  begin();
  while (t < at) step();
  const timer = setInterval(() => {
    const tick = step();
    for (const response of listeners) send(response, 'tick', tick);
  }, TICK_MS / pace);
  return {
    // As the ride does: switched on by hand is good until the ride has it on by itself.
    force: (link, state) => (forced[link] = state === 'cut' ? state : null),
    restart: () => {
      for (const link of Object.keys(forced)) delete forced[link];
      begin();
    },
    stop: () => clearInterval(timer),
    follow: (response, replay) => {
      stream(response);
      if (replay) for (const tick of past) send(response, 'tick', tick);
      send(response, 'visitor', { id: (came += 1) });
      listeners.add(response);
      response.on('close', () => {
        listeners.delete(response);
        // A cut does not outlive its visitor.
        if (listeners.size === 0) for (const link of Object.keys(forced)) delete forced[link];
      });
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

/** Eleven people in every state that there is, with us twelve. */
function crowd(sends) {
  const person = (name, cameras, audio, upload, links = []) => ({ id: name.toLowerCase().replaceAll(' ', '-'), name, kind: 'browser', publishing: sends(cameras, audio), upload, links });
  return [
    person('Ada Lovelace', [{}], true, 'connected'),
    person('Lin', [], true, 'connected'),
    person('Grace Hopper', [], false, 'connected'),
    person('Maximiliane Oberhuber', [{}], false, 'connected'),
    person('Jo', [], false, 'lost'),
    person('Priya Raghunathan', [], false, 'none'),
    person('Guest', [], false, 'not_allowed'),
    person('Rover 7', [{ name: 'Front' }], false, 'connected', roverLinks()),
    person('Sam', [{}], true, 'connected'),
    person('Bartholomew', [], false, 'connected'),
    person('Ines', [{}], true, 'connected'),
  ];
}

function presence(response, room, name) {
  const sends = (cameras, audio) => ({ video: cameras.length > 0, audio, cameras });
  const self = { id: 'p9', name, kind: 'browser', publishing: sends([], false), upload: 'none', links: [] };
  const ada = { id: 'ada', name: 'Ada Lovelace', kind: 'browser', publishing: sends([{}], true), upload: 'connected', links: [] };
  const lin = { id: 'lin', name: 'Lin', kind: 'browser', publishing: sends([], true), upload: 'connected', links: [] };
  const rover = () => ({ id: 'rover', name: 'Rover 7', kind: 'native', publishing: sends([{ name: 'Front' }, {}], false), upload: 'connected', links: roverLinks() });
  stream(response);
  const alone = room === 'empty';
  if (room === 'crowd') return send(response, 'welcome', { id: 'p9', room, participants: [self, ...crowd(sends)] });
  if (room === 'moderated') {
    const bob = { ...lin, id: 'bob', name: 'Bob', muted: true, hand: 1 };
    send(response, 'welcome', { id: 'p9', room, participants: [{ ...self, moderator: true }, ada, bob], settings: { locked: true, waiting_room: true } });
    send(response, 'queue', { waiting: [{ id: 'eve', name: 'Eve' }] });
    const at = Date.UTC(2026, 0, 2, 9, 30);
    const said = [{ from: 'ada', name: 'Ada Lovelace', text: 'Good morning' }, { from: 'ada', name: 'Ada Lovelace', text: 'Shall we begin?' }, { from: 'p9', name, text: '<b>Yes</b>' }];
    return send(response, 'history', { messages: said.map((each, n) => ({ id: `m-${n}`, at: at + n * 60_000, ...each })) });
  }
  if (room === 'waiting') return send(response, 'waiting', { id: 'p9', secret: 's', room });
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
  const { values } = parseArgs({ options: { port: { type: 'string' }, at: { type: 'string' }, mode: { type: 'string' }, pace: { type: 'string' } } });
  const mock = await startMock({ port: Number(values.port ?? 8787), at: Number(values.at ?? 0), mode: values.mode, pace: Number(values.pace ?? 1) });
  console.log(`${mock.url}/  ${mock.url}/r/mock  ${mock.url}/demo`);
}
