import { expect, it } from 'vitest';
import { created, FakeBody, FakeEnv, sections, settle, track } from '../testing/fakes';
import { RoomSession } from './session';

const person = (id: string, video = true, audio = true) => ({ id, name: id, kind: 'browser', publishing: { cameras: video ? [{}] : [], audio }, links: [] });

/** Calls that requested the room's events. */
const events = (env: FakeEnv) => env.calls.filter(({ method, url }) => method === 'GET' && url.includes('/events?'));
const addresses = (env: FakeEnv) => events(env).map(({ url }) => url);

async function inRoom(...participants: object[]) {
  return inRoomOf(new FakeEnv(), ...participants);
}

async function inRoomOf(env: FakeEnv, ...participants: object[]) {
  const bodies: FakeBody[] = [];
  let number = 0;
  env.answer(({ method, url }, signal) => {
    if (method === 'GET') {
      const body = new FakeBody(signal);
      bodies.push(body);
      return body.response;
    }
    if (method === 'POST') return created(`${url.split('?')[0]}/${(number += 1)}`, 'sdp');
    if (method === 'PUT') return new Response(JSON.stringify({ lines: [] }));
    return new Response(null, { status: 204 });
  });
  const session = new RoomSession(env, 'our room', 'Kim');
  session.join();
  await settle();
  const say = async (name: string, value: unknown): Promise<void> => bodies.at(-1)?.event(name, value);
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [person('p1', false, false), ...participants] });
  const posts = () => env.requests.filter((request) => request.startsWith('POST'));
  return { env, session, bodies, say, posts };
}

it('asks for events by room and name, and comes back as the same person', async () => {
  const { env, bodies } = await inRoom();
  await bodies[0]?.end();
  await env.pass(500);
  expect(addresses(env)).toEqual(['/api/rooms/our%20room/events?name=Kim', '/api/rooms/our%20room/events?name=Kim&id=p1']);
  expect(events(env).map((call) => call.secret)).toEqual([null, 's1']);
});

it('is the same person after a reload', async () => {
  const { env, session } = await inRoom();
  session.suspend();
  const { env: after } = await inRoomOf(env);
  expect(addresses(after).at(-1)).toBe('/api/rooms/our%20room/events?name=Kim&id=p1');
  expect(events(after).at(-1)?.secret).toBe('s1');
});

it('is somebody new in a duplicated tab, after leaving, and in another room', async () => {
  const { env, session } = await inRoom();
  const duplicate = new FakeEnv();
  for (const [key, value] of env.stored) duplicate.storage.setItem(key, value);
  await inRoomOf(duplicate);
  expect(addresses(duplicate)).toEqual(['/api/rooms/our%20room/events?name=Kim']);

  session.leave();
  await inRoomOf(env);
  expect(addresses(env).at(-1)).toBe('/api/rooms/our%20room/events?name=Kim');

  const other = new FakeEnv();
  other.storage.setItem('weft.identity', JSON.stringify({ room: 'other', id: 'p1', secret: 's1' }));
  await inRoomOf(other);
  expect(addresses(other)).toEqual(['/api/rooms/our%20room/events?name=Kim']);
});

const RECEPTION = '/api/rooms/our%20room/reception';

it('receives the whole room over one connection, newcomers included', async () => {
  const { env, session, say, posts } = await inRoom(person('ada'));
  expect(posts()).toEqual([`POST ${RECEPTION}?participant=p1`]);
  expect(env.calls.find(({ method }) => method === 'POST')?.secret).toBe('s1');
  env.peer.become('connected');
  await say('joined', person('bob'));
  await say('offer', { resource: '1', sdp: sections('more', { 0: 'video', 1: 'video' }) });
  await say('reception', { resource: '1', lines: [{ mid: '0', participant: 'ada', kind: 'video', camera: 0 }, { mid: '1', participant: 'bob', kind: 'video', camera: 0 }] });
  expect([...session.reception.media.value.keys()]).toEqual(['ada', 'bob']);
  await say('left', { id: 'bob' });
  await say('reception', { resource: '1', lines: [{ mid: '0', participant: 'ada', kind: 'video', camera: 0 }] });
  expect([...session.reception.media.value.keys()]).toEqual(['ada']);
  expect(posts()).toHaveLength(1);
});

it('tells its view again when the events were interrupted', async () => {
  const { env, session, bodies, say, posts } = await inRoom(person('ada'));
  env.peer.become('connected');
  session.reception.show([{ participant: 'ada', camera: 0, width: 320, height: 180 }]);
  await env.pass(100);
  await bodies[0]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [person('ada')] });
  await env.pass(0);
  expect(env.requests.filter((request) => request === `PUT ${RECEPTION}/1/view`)).toHaveLength(2);
  expect(posts()).toHaveLength(1);
});

it('does not let a connection wait that the server can take again', async () => {
  const { env, session, bodies, say, posts } = await inRoom();
  await session.publish({ video: track('video'), audio: track('audio'), screen: null });
  await settle();
  env.peer.become('failed');
  await env.pass(500);
  env.peer.become('failed');
  // For a second, which is longer than the event stream takes.
  await bodies[0]?.end();
  await env.pass(500);
  expect(session.publisher.state.value.kind).toBe('waiting');
  const before = posts().length;
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [] });
  await settle();
  expect(session.publisher.state.value.kind).not.toBe('waiting');
  expect(posts().length).toBe(before + 1);
});

it('makes a connection again that the server has ended, and no other one', async () => {
  const { env, session, say, posts } = await inRoom();
  await session.publish({ video: track('video'), audio: track('audio'), screen: null });
  await settle();
  const before = posts().length;
  await say('ended', { resource: 'other' });
  await env.pass(2000);
  expect(posts()).toHaveLength(before);
  // The second connection: the publication.
  await say('ended', { resource: '2' });
  expect(session.publisher.state.value.kind).toBe('waiting');
  await env.pass(500);
  expect(posts().slice(before)).toEqual(['POST /whip/our%20room?participant=p1']);
});

it('publishes under its id once welcomed, and again under a new id', async () => {
  const { env, session, bodies, say, posts } = await inRoom();
  const published = () => posts().filter((request) => request.startsWith('POST /whip'));
  await session.publish({ video: track('video'), audio: track('audio'), screen: null });
  await settle();
  expect(published()).toEqual(['POST /whip/our%20room?participant=p1']);
  expect(env.calls.at(-1)?.secret).toBe('s1');
  await bodies[0]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [] });
  expect(published()).toHaveLength(1);
  await bodies[1]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p2', secret: 's2', room: 'our room', participants: [] });
  await settle();
  expect(published()).toEqual(['POST /whip/our%20room?participant=p1', 'POST /whip/our%20room?participant=p2']);
});

it('publishes what it was given before the welcome', async () => {
  const env = new FakeEnv();
  let body: FakeBody | null = null;
  env.answer(({ url }, signal) => {
    if (url.startsWith('/api/')) return (body = new FakeBody(signal)).response;
    return created('/whip/r/1', 'sdp');
  });
  const session = new RoomSession(env, 'r', 'Kim');
  await session.publish({ video: track('video'), audio: null, screen: null });
  session.join();
  await settle();
  expect(env.peers).toHaveLength(0);
  await (body as FakeBody | null)?.event('welcome', { id: 'p1', room: 'r', participants: [] });
  expect(env.requests.at(-1)).toBe('POST /whip/r?participant=p1');
});

it('hurries what waits when the network is back', async () => {
  const { env, session, posts } = await inRoom(person('ada'));
  env.peer.become('failed');
  expect(session.reception.state.value.kind).toBe('waiting');
  session.hurry();
  await settle();
  expect(posts()).toHaveLength(2);
});

it('connects again when a server that was started again gives the same ids', async () => {
  const { env, session, bodies, say, posts } = await inRoom(person('ada'));
  env.peer.become('connected');
  await say('offer', { resource: '1', sdp: sections('more', { 0: 'video' }) });
  await say('reception', { resource: '1', lines: [{ mid: '0', participant: 'ada', kind: 'video', camera: 0 }] });
  await session.publish({ video: track('video'), audio: null, screen: null });
  await settle();
  expect(session.reception.media.value.size).toBe(1);
  expect(posts()).toHaveLength(2);
  await bodies[0]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p1', secret: 'another', room: 'our room', participants: [person('ada')] });
  await settle();
  expect(session.reception.media.value.size).toBe(0);
  expect(posts().slice(2).sort()).toEqual([`POST ${RECEPTION}?participant=p1`, 'POST /whip/our%20room?participant=p1']);
  for (const path of ['/whip', RECEPTION]) expect(env.calls.findLast(({ method, url }) => method === 'POST' && url.startsWith(path))?.secret).toBe('another');
});

it('leaves nothing behind', async () => {
  const { env, session } = await inRoom(person('ada'));
  await session.publish({ video: track('video'), audio: null, screen: null });
  await settle();
  session.leave();
  await settle();
  const deleted = env.requests.filter((request) => request.startsWith('DELETE'));
  expect(deleted.sort()).toEqual(['DELETE /api/rooms/our%20room/events?id=p1', `DELETE ${RECEPTION}/1`, 'DELETE /whip/our%20room/2']);
  const before = env.calls.length;
  await env.pass(60_000);
  expect(env.calls).toHaveLength(before);
});

it('asks for the messages after the last one that it has, and shows a reaction for a moment', async () => {
  const { env, session, bodies, say } = await inRoom(person('ada'));
  await say('chat', { id: 'e-7', from: 'ada', name: 'ada', text: 'hello' });
  await say('reaction', { id: 'ada', reaction: 'heart' });
  expect(session.reactions.value.get('ada')?.reaction).toBe('heart');
  await env.pass(3_000);
  await say('reaction', { id: 'ada', reaction: 'clap' });
  await env.pass(3_000);
  expect(session.reactions.value.get('ada')?.reaction).toBe('clap');
  await env.pass(1_000);
  expect(session.reactions.value.size).toBe(0);
  await bodies.at(-1)?.end();
  await env.pass(500);
  expect(events(env).map(({ read }) => read)).toEqual([null, 'e-7']);
});

it('sends as itself, and keeps a new name when it comes back', async () => {
  const { env, session, bodies } = await inRoom();
  env.answer(({ url }) => new Response(JSON.stringify(url.includes('/name') ? { name: 'Kit 2' } : { id: 'e-1' }), { status: 200 }));
  void session.acts.say('hello', 'page-1');
  await session.rename('Kit');
  expect(env.calls.filter(({ url }) => /chat|name\?/.test(url)).map(({ method, url, body, secret }) => [method, url, body, secret])).toEqual([
    ['POST', '/api/rooms/our%20room/chat?participant=p1', '{"text":"hello","key":"page-1"}', 's1'],
    ['PUT', '/api/rooms/our%20room/name?participant=p1', '{"name":"Kit"}', 's1'],
  ]);
  await bodies[0]?.end();
  await env.pass(500);
  expect(addresses(env).at(-1)).toBe('/api/rooms/our%20room/events?name=Kit&id=p1');
});

it('waits until it is admitted, keeps its place over an interruption, and publishes only then', async () => {
  const env = new FakeEnv();
  const bodies: FakeBody[] = [];
  env.answer(({ method, url }, signal) => {
    if (method !== 'GET') return created(`${url.split('?')[0]}/1`, 'sdp');
    bodies.push(new FakeBody(signal));
    return bodies.at(-1)!.response;
  });
  const session = new RoomSession(env, 'our room', 'Kim');
  session.join();
  await settle();
  void session.publish({ video: track('video'), audio: null, screen: null });
  await bodies[0]?.event('waiting', { id: 'p1', secret: 's1', room: 'our room' });
  expect(session.waiting.value).toBe(true);
  await bodies[0]?.end();
  await env.pass(500);
  expect(events(env).map(({ url, secret }) => [url, secret]).at(-1)).toEqual(['/api/rooms/our%20room/events?name=Kim&id=p1', 's1']);
  expect(env.calls.every(({ method }) => method === 'GET')).toBe(true);
  await bodies.at(-1)?.event('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [person('p1')] });
  await settle();
  expect(session.waiting.value).toBe(false);
  expect(env.requests).toContain('POST /whip/our%20room?participant=p1');
});

it('gives its connections the ICE servers of the room, the latest ones to new connections', async () => {
  const { env, session, say } = await inRoom(person('ada'));
  expect(env.peers.map((peer) => peer.iceServers)).toEqual([[]]);
  const servers = (username: string) => [{ urls: 'turn:turn.example', username, credential: 'c' }];
  // A restarted server, which now offers some.
  await say('welcome', { id: 'p1', secret: 's2', room: 'our room', participants: [], ice_servers: [...servers('1'), { urls: 7 }, null] });
  expect(env.peer.iceServers).toEqual(servers('1'));
  await session.publish({ video: track('video'), audio: null, screen: null });
  await settle();
  expect(env.peers.slice(-2).map((peer) => peer.iceServers)).toEqual([servers('1'), servers('1')]);
  await say('ice-servers', servers('2'));
  session.reception.start();
  session.publisher.restart();
  await settle();
  expect(env.peers.slice(-2).map((peer) => peer.iceServers)).toEqual([servers('2'), servers('2')]);
});
