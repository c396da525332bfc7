import { expect, it } from 'vitest';
import { created, FakeBody, FakeEnv, refused, sections, settle, track } from '../testing/fakes';
import { others } from './presence';
import { RoomVisit } from './visit';

const person = (id: string, more: object = {}) => ({ id, name: id, kind: 'browser', publishing: { cameras: [{}], audio: false }, links: [], ...more });
const LINES = [{ mid: '0', kind: 'video', participant: 'ada', camera: 0 }];
const HERE = 'https://one.example';
const THERE = 'https://two.example';
const MOVE = { url: THERE, node: 'two', token: 'for.two' };

/** In a room with Ada, whose picture arrives; the other server answers like this one, unless it
 *  refuses. */
async function inRoom({ page = HERE, refuses = '' } = {}) {
  const env = new FakeEnv();
  const bodies: FakeBody[] = [];
  let number = 0;
  env.answer(({ method, url }, signal) => {
    if (refuses !== '' && url.startsWith(THERE) && url.includes(refuses)) return refused(503, 'Busy.', 'Wait.');
    if (method === 'GET') {
      bodies.push(new FakeBody(signal));
      return bodies.at(-1)!.response;
    }
    if (method === 'POST') return created(`${new URL(url, HERE).pathname}/${(number += 1)}`, sections('room', { 0: 'video' }));
    if (method === 'PUT') return new Response(JSON.stringify({ lines: LINES }));
    return new Response(null, { status: 204 });
  });
  const visit = new RoomVisit(env, page, 'r', 'Kim');
  visit.join();
  await settle();
  visit.show([{ participant: 'ada', camera: 0, width: 320, height: 180 }]);
  visit.tell({ video: true, audio: false, screen: false });
  await visit.publish({ video: track('video'), audio: null, screen: null });
  await bodies[0]!.event('welcome', { id: 'kim', secret: 's1', room: 'r', participants: [person('ada'), person('kim')] });
  await connect(env, 0);
  return { env, visit, bodies };
}

/** Connects the peers starting with this one, and lets views be sent. */
async function connect(env: FakeEnv, from: number): Promise<void> {
  for (const peer of env.peers.slice(from)) peer.become('connected');
  await env.pass(200);
}

const arrive = (body: FakeBody) => body.event('welcome', { id: 'kim2', secret: 's2', room: 'r', participants: [person('ada'), person('kim'), person('kim2', { succeeds: 'kim', publishing: {} })] });
const there = (env: FakeEnv) => env.calls.filter(({ url }) => url.startsWith(THERE));
const shownOf = (visit: RoomVisit) => visit.media.all.value.get('ada')?.cameras.get(0);

it('enters the other server with its identity, and the token only in a header', async () => {
  const { env, bodies } = await inRoom();
  await bodies[0]!.event('chat', { id: 'e-1', from: 'ada', name: 'ada', text: 'hello' });
  await bodies[0]!.event('move', MOVE);
  expect(there(env)).toMatchObject([{ method: 'GET', url: `${THERE}/api/rooms/r/events?name=Kim&id=kim`, secret: 's1', read: 'e-1', token: 'Bearer for.two' }]);
  await arrive(bodies[1]!);
  await connect(env, 2);
  expect(there(env).map(({ method, url }) => `${method} ${url.slice(THERE.length)}`)).toEqual(
    expect.arrayContaining(['POST /whip/r?participant=kim2', 'POST /api/rooms/r/reception?participant=kim2', 'PUT /whip/r/4/publishing', 'PUT /api/rooms/r/reception/3/view']),
  );
  expect(there(env).every(({ url, token }) => token === 'Bearer for.two' && !url.includes('for.two'))).toBe(true);
  expect(env.calls.filter(({ url }) => !url.startsWith(THERE)).every(({ token }) => token === null)).toBe(true);
});

it('leaves the former server only when the new one carries everything', async () => {
  const { env, visit, bodies } = await inRoom();
  const [before, picture] = [visit.session.value, shownOf(visit)];
  await bodies[0]!.event('move', MOVE);
  await arrive(bodies[1]!);
  await env.pass(1_000);
  expect(visit.session.value).toBe(before);
  await connect(env, 2);
  const now = visit.session.value;
  expect(now).not.toBe(before);
  expect(visit.server).toBe(THERE);
  expect(others(now.presence.value).map(({ id }) => id)).toEqual(['ada']);
  // Her picture comes from the former server until that of the new one arrives.
  await env.pass(1_000);
  expect(shownOf(visit)).toBe(picture);
  const line = env.peers.flatMap((peer) => peer.lines).at(-1)!;
  line.receiver.count = 1;
  await env.pass(100);
  expect(shownOf(visit)).toMatchObject({ track: line.receiver.track, stream: picture!.stream, picture: picture!.picture });
  const deleted = () => env.calls.filter(({ method }) => method === 'DELETE').map(({ url }) => url);
  expect(deleted()).toEqual([]);
  await env.pass(2_100);
  expect(deleted().sort()).toEqual(['/api/rooms/r/events?id=kim', '/api/rooms/r/reception/1', '/whip/r/2']);
  expect(shownOf(visit)?.track).toBe(line.receiver.track);
  expect(env.peers.map(({ log }) => log.includes('close'))).toEqual([true, true, false, false]);
});

it('does not wait longer than 5 s for pictures that do not come', async () => {
  const { env, bodies } = await inRoom();
  await bodies[0]!.event('move', MOVE);
  await arrive(bodies[1]!);
  await connect(env, 2);
  await env.pass(4_500);
  expect(env.peers[0]!.log).not.toContain('close');
  await env.pass(700);
  expect(env.peers[0]!.log).toContain('close');
});

for (const refuses of ['events', 'whip', 'reception']) {
  it(`stays while the other server refuses: ${refuses}`, async () => {
    const { env, visit, bodies } = await inRoom({ refuses });
    const [before, picture] = [visit.session.value, shownOf(visit)];
    await bodies[0]!.event('move', MOVE);
    if (bodies[1] !== undefined) await arrive(bodies[1]);
    await env.pass(30_000);
    expect(visit.session.value).toBe(before);
    expect(shownOf(visit)).toBe(picture);
    expect(env.peers.slice(0, 2).some(({ log }) => log.includes('close'))).toBe(false);
    // It is requested again.
    await bodies[0]!.event('move', MOVE);
    expect(there(env).filter(({ method }) => method === 'GET')).toHaveLength(2);
  });
}

it('stays if the other server does not carry media, and leaves it', async () => {
  const { env, visit, bodies } = await inRoom();
  const before = visit.session.value;
  await bodies[0]!.event('move', MOVE);
  await arrive(bodies[1]!);
  await env.pass(15_000);
  expect(visit.session.value).toBe(before);
  expect(there(env).map(({ method, url }) => `${method} ${url}`)).toContain(`DELETE ${THERE}/api/rooms/r/events?id=kim2`);
});

it('does not take a token out of TLS', async () => {
  const { env, bodies } = await inRoom();
  await bodies[0]!.event('move', { ...MOVE, url: 'http://two.example' });
  await bodies[0]!.event('move', { ...MOVE, url: 'javascript:alert(1)' });
  expect(env.calls.some(({ url }) => url.includes('two.example'))).toBe(false);
});

it('sends messages to the server where it is', async () => {
  const { env, visit, bodies } = await inRoom();
  await bodies[0]!.event('move', MOVE);
  await arrive(bodies[1]!);
  await connect(env, 2);
  visit.outbox.send('hello');
  await settle();
  expect(env.requests.at(-1)).toBe(`POST ${THERE}/api/rooms/r/chat?participant=kim2`);
});

it('shows the picture of somebody who moves without a gap', async () => {
  const { env, visit, bodies } = await inRoom();
  const picture = shownOf(visit);
  const name = '1';
  await bodies[0]!.event('joined', person('ada2', { succeeds: 'ada' }));
  await env.pass(200);
  const views = env.calls.filter(({ url }) => url.endsWith('/view'));
  expect(JSON.parse(views.at(-1)!.body as string)).toMatchObject({ cameras: [{ participant: 'ada' }, { participant: 'ada2' }] });
  const offer = sections('more', { 0: 'video', 1: 'video' });
  await bodies[0]!.event('offer', { resource: name, sdp: offer });
  await bodies[0]!.event('reception', { resource: name, lines: [...LINES, { ...LINES[0], mid: '1', participant: 'ada2' }] });
  expect(shownOf(visit)).toBe(picture);
  const line = env.peers.flatMap((peer) => peer.lines).find(({ mid }) => mid === '1')!;
  line.receiver.count = 1;
  await env.pass(100);
  expect(shownOf(visit)).toMatchObject({ track: line.receiver.track, picture: picture!.picture });
  await bodies[0]!.event('left', { id: 'ada' });
  expect(shownOf(visit)?.track).toBe(line.receiver.track);
  expect(others(visit.session.value.presence.value)).toMatchObject([{ id: 'ada', who: { id: 'ada2' } }]);
});

it('asks the other server only from a document with the present policy, and not once it has left', async () => {
  const { env, visit, bodies } = await inRoom();
  const sent: string[] = [];
  let loaded = (): void => undefined;
  env.freshFetch = async () => {
    await new Promise<void>((resolve) => (loaded = resolve));
    return (url, init) => {
      sent.push(url);
      return env.fetch(url, init);
    };
  };
  await bodies[0]!.event('move', MOVE);
  await bodies[0]!.event('move', MOVE);
  expect(there(env)).toEqual([]);
  loaded();
  await settle();
  expect(sent).toEqual([`${THERE}/api/rooms/r/events?name=Kim&id=kim`]);
  await arrive(bodies[1]!);
  await connect(env, 2);
  expect(there(env).map(({ url }) => url)).toEqual(sent);

  const left = await inRoom();
  left.env.freshFetch = env.freshFetch;
  await left.bodies[0]!.event('move', MOVE);
  left.visit.leave();
  loaded();
  await settle();
  expect(there(left.env)).toEqual([]);
  visit.leave();
});
