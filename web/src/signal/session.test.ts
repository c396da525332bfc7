import { expect, it } from 'vitest';
import { created, FakeBody, FakeEnv, settle, track } from '../testing/fakes';
import { RoomSession } from './session';

const person = (id: string, video = true, audio = true) => ({ id, name: id, kind: 'browser', publishing: { cameras: video ? [{}] : [], audio }, links: [] });

async function inRoom(...participants: object[]) {
  return inRoomOf(new FakeEnv(), ...participants);
}

async function inRoomOf(env: FakeEnv, ...participants: object[]) {
  const bodies: FakeBody[] = [];
  let number = 0;
  env.answer(({ method, url }, signal) => {
    if (url.startsWith('/api/rooms/')) {
      const body = new FakeBody(signal);
      bodies.push(body);
      return body.response;
    }
    if (method === 'POST') return created(`${url.split('?')[0]}/${(number += 1)}`, 'sdp');
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
  expect(env.requests).toEqual(['GET /api/rooms/our%20room/events?name=Kim', 'GET /api/rooms/our%20room/events?name=Kim&id=p1']);
  expect(env.calls.map((call) => call.secret)).toEqual([null, 's1']);
});

it('is the same person after a reload', async () => {
  const { env, session } = await inRoom();
  session.suspend();
  const { env: after } = await inRoomOf(env);
  expect(after.requests.at(-1)).toBe('GET /api/rooms/our%20room/events?name=Kim&id=p1');
  expect(after.calls.at(-1)?.secret).toBe('s1');
});

it('is somebody new in a duplicated tab, after leaving, and in another room', async () => {
  const { env, session } = await inRoom();
  const duplicate = new FakeEnv();
  for (const [key, value] of env.stored) duplicate.storage.setItem(key, value);
  await inRoomOf(duplicate);
  expect(duplicate.requests).toEqual(['GET /api/rooms/our%20room/events?name=Kim']);

  session.leave();
  await inRoomOf(env);
  expect(env.requests.at(-1)).toBe('GET /api/rooms/our%20room/events?name=Kim');

  const other = new FakeEnv();
  other.storage.setItem('weft.identity', JSON.stringify({ room: 'other', id: 'p1', secret: 's1' }));
  await inRoomOf(other);
  expect(other.requests).toEqual(['GET /api/rooms/our%20room/events?name=Kim']);
});

it('plays everybody who publishes, but not itself and not who only watches', async () => {
  const { session, posts, say } = await inRoom(person('ada'), person('bob', false, false));
  expect(posts()).toEqual(['POST /whep/our%20room/ada?participant=p1']);
  await say('changed', person('bob', false, true));
  expect(posts()).toEqual(['POST /whep/our%20room/ada?participant=p1', 'POST /whep/our%20room/bob?participant=p1']);
  expect([...session.players.value.keys()]).toEqual(['ada', 'bob']);
});

it('plays somebody anew who has another camera', async () => {
  const { env, posts, say } = await inRoom(person('ada'));
  env.peer.become('connected');
  const two = { ...person('ada'), publishing: { cameras: [{ name: 'Front' }, { name: 'Rear' }], audio: true } };
  env.offered = ['video', 'video', 'audio'];
  await say('changed', two);
  expect(posts()).toEqual(['POST /whep/our%20room/ada?participant=p1', 'POST /whep/our%20room/ada?participant=p1']);
  env.peer.become('connected');
  await say('changed', person('ada'));
  await say('changed', two);
  expect(posts()).toHaveLength(2);
});

it('plays a camera that came while the connection was being made', async () => {
  const { env, posts, say } = await inRoom(person('ada'));
  const two = { ...person('ada'), publishing: { cameras: [{}, {}], audio: true } };
  await say('changed', two);
  expect(posts()).toHaveLength(1);
  env.peer.become('connected');
  await settle();
  expect(posts()).toHaveLength(2);
  // The server has no second one after all, so the request is not repeated
  // forever.
  env.peer.become('connected');
  await settle();
  await say('changed', two);
  expect(posts()).toHaveLength(2);
});

it('ends the player of who left', async () => {
  const { env, session, say } = await inRoom(person('ada'));
  const player = session.players.value.get('ada');
  await say('left', { id: 'ada' });
  expect(player?.state.value.kind).toBe('closed');
  expect(session.players.value.size).toBe(0);
  // The server has ended it, so nothing is left to delete.
  expect(env.requests.at(-1)).toBe('PATCH /whep/our%20room/ada/1');
});

it('keeps the player while a camera is off, and links do not disturb it', async () => {
  const { env, posts, say } = await inRoom(person('ada'));
  env.peer.become('connected');
  await say('changed', person('ada', false, true));
  await say('links', { id: 'ada', links: [] });
  await say('changed', person('ada', true, true));
  expect(posts()).toHaveLength(1);
});

it('asks again for a kind that the connection does not have, once', async () => {
  const { env, posts, say } = await inRoom();
  env.offered = ['audio'];
  await say('joined', person('ada', false, true));
  env.peer.become('connected');
  expect(posts()).toHaveLength(1);
  // Still without a picture: stop requesting it.
  for (let time = 0; time < 3; time += 1) {
    await say('changed', person('ada', true, true));
    env.peer.become('connected');
  }
  expect(posts()).toHaveLength(2);
});

it('does not let a connection wait that the server can take again', async () => {
  const { env, session, bodies, say, posts } = await inRoom();
  await session.publish({ video: track('video'), audio: track('audio') });
  await settle();
  env.peer.become('failed');
  await env.pass(500);
  env.peer.become('failed');
  // For a second, which is longer than the event stream does.
  await bodies[0]?.end();
  await env.pass(500);
  expect(session.publisher.state.value.kind).toBe('waiting');
  const before = posts().length;
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [] });
  await settle();
  expect(session.publisher.state.value.kind).not.toBe('waiting');
  expect(posts().length).toBe(before + 1);
});

it('publishes under its id once welcomed, and anew under a new id', async () => {
  const { env, session, bodies, say, posts } = await inRoom();
  await session.publish({ video: track('video'), audio: track('audio') });
  await settle();
  expect(posts()).toEqual(['POST /whip/our%20room?participant=p1']);
  expect(env.calls.at(-1)?.secret).toBe('s1');
  await bodies[0]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p1', secret: 's1', room: 'our room', participants: [] });
  expect(posts()).toHaveLength(1);
  await bodies[1]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p2', secret: 's2', room: 'our room', participants: [] });
  await settle();
  expect(posts()).toEqual(['POST /whip/our%20room?participant=p1', 'POST /whip/our%20room?participant=p2']);
});

it('publishes what it was given before the welcome', async () => {
  const env = new FakeEnv();
  let body: FakeBody | null = null;
  env.answer(({ url }, signal) => {
    if (url.startsWith('/api/')) return (body = new FakeBody(signal)).response;
    return created('/whip/r/1', 'sdp');
  });
  const session = new RoomSession(env, 'r', 'Kim');
  await session.publish({ video: track('video'), audio: null });
  session.join();
  await settle();
  expect(env.peers).toHaveLength(0);
  await (body as FakeBody | null)?.event('welcome', { id: 'p1', room: 'r', participants: [] });
  expect(env.requests.at(-1)).toBe('POST /whip/r?participant=p1');
});

it('hurries what waits when the network is back', async () => {
  const { env, session, posts } = await inRoom(person('ada'));
  env.peer.become('failed');
  expect(session.players.value.get('ada')?.state.value.kind).toBe('waiting');
  session.hurry();
  await settle();
  expect(posts()).toHaveLength(2);
});

it('connects anew when a server that was started again gives the same ids', async () => {
  const { env, session, bodies, say, posts } = await inRoom(person('ada'));
  await session.publish({ video: track('video'), audio: null });
  await settle();
  const dead = session.players.value.get('ada');
  expect(posts()).toHaveLength(2);
  await bodies[0]?.end();
  await env.pass(500);
  await say('welcome', { id: 'p1', secret: 'another', room: 'our room', participants: [person('ada')] });
  await settle();
  expect(dead?.state.value.kind).toBe('closed');
  expect(posts().slice(2).sort()).toEqual(['POST /whep/our%20room/ada?participant=p1', 'POST /whip/our%20room?participant=p1']);
  expect(env.calls.findLast((call) => call.url.startsWith('/whip'))?.secret).toBe('another');
});

it('plays again who was refused and begins to publish', async () => {
  const { env, session, posts, say } = await inRoom();
  env.answer(({ method }) => new Response(null, { status: method === 'POST' ? 422 : 204 }));
  await say('joined', person('ada'));
  expect(session.players.value.get('ada')?.state.value.kind).toBe('failed');
  await say('changed', person('ada', false, false));
  await say('changed', person('ada'));
  expect(posts()).toHaveLength(2);
});

it('leaves nothing behind', async () => {
  const { env, session } = await inRoom(person('ada'));
  await session.publish({ video: track('video'), audio: null });
  await settle();
  session.leave();
  await settle();
  const deleted = env.requests.filter((request) => request.startsWith('DELETE'));
  expect(deleted.sort()).toEqual(['DELETE /api/rooms/our%20room/events?id=p1', 'DELETE /whep/our%20room/ada/1', 'DELETE /whip/our%20room/2']);
  const before = env.calls.length;
  await env.pass(60_000);
  expect(env.calls).toHaveLength(before);
});
