import { expect, it } from 'vitest';
import { created, FakeEnv, refused, settle, track } from '../testing/fakes';
import { Player } from './whep';

function playing(env = new FakeEnv()) {
  let number = 0;
  env.answer(({ method }) => {
    if (method === 'POST') return created(`/whep/r/ada/${(number += 1)}`, 'their offer');
    return new Response(null, { status: 204 });
  });
  const player = new Player(env, '/whep/r/ada');
  player.start();
  return { env, player };
}

const kinds = (player: Player) => player.streams.value.map((stream) => stream.getTracks().map((track) => track.kind));

it('asks with an empty body, answers the offer, plays when connected', async () => {
  const { env, player } = playing();
  await settle();
  expect(env.calls).toMatchObject([
    { method: 'POST', url: '/whep/r/ada', body: null },
    { method: 'PATCH', url: '/whep/r/ada/1', body: 'our answer' },
  ]);
  expect(env.peer.log).toEqual(['remote offer their offer', 'local answer']);
  expect(player.streams.value).toEqual([]);
  env.peer.become('connected');
  expect(player.state.value.kind).toBe('connected');
  expect(kinds(player)).toEqual([['video', 'audio']]);
});

it.each([
  [['video', 'video', 'audio'], [['video', 'audio'], ['video']]],
  [['audio'], [['audio']]],
])('of %j makes a stream for each camera, the first with the sound', async (offered, expected) => {
  const env = new FakeEnv();
  env.offered = offered;
  const { player } = playing(env);
  await settle();
  env.peer.become('connected');
  expect(kinds(player)).toEqual(expected);
});

it('negotiates afresh when the transport failed, and keeps the last picture meanwhile', async () => {
  const { env, player } = playing();
  await settle();
  env.peer.become('connected');
  const before = player.streams.value;
  env.peer.become('failed');
  expect(player.state.value.kind).toBe('waiting');
  await env.pass(500);
  expect(env.requests).toEqual(['POST /whep/r/ada', 'PATCH /whep/r/ada/1', 'DELETE /whep/r/ada/1', 'POST /whep/r/ada', 'PATCH /whep/r/ada/2']);
  expect(player.streams.value).toBe(before);
  env.peer.become('connected');
  expect(player.streams.value).not.toBe(before);
});

it('gives an interrupted transport 6 s to come back', async () => {
  const { env, player } = playing();
  await settle();
  env.peer.become('connected');
  env.peer.become('disconnected');
  expect(player.state.value.kind).toBe('interrupted');
  await env.pass(5_999);
  env.peer.become('connected');
  await env.pass(60_000);
  expect(player.state.value.kind).toBe('connected');
  expect(env.peers).toHaveLength(1);
  env.peer.become('disconnected');
  await env.pass(6_000);
  expect(player.state.value.kind).toBe('waiting');
});

it('names the firewall when nothing gets through within 15 s', async () => {
  const { env, player } = playing();
  await settle();
  await env.pass(14_999);
  expect(player.state.value.kind).toBe('connecting');
  await env.pass(1);
  expect(player.state.value).toMatchObject({ kind: 'waiting', problem: { remedy: expect.stringContaining('firewall') as string } });
});

it.each([
  [404, 'waiting'],
  [409, 'waiting'],
  [503, 'waiting'],
  [403, 'failed'],
])('after HTTP %i is %s', async (status, kind) => {
  const env = new FakeEnv();
  env.answer(() => refused(status, 'No.', 'Wait.'));
  const player = new Player(env, '/whep/r/ada');
  player.start();
  await settle();
  expect(player.state.value).toMatchObject({ kind, problem: { error: 'No.', remedy: 'Wait.' } });
});

it('removes what the server made for an attempt that was given up', async () => {
  const env = new FakeEnv();
  let answer = (_: Response): void => undefined;
  env.answer(({ method }) =>
    method === 'POST' ? new Promise<Response>((resolve) => (answer = resolve)) : new Response(null, { status: 200 }),
  );
  const player = new Player(env, '/whep/r/ada');
  player.start();
  await settle();
  player.close();
  expect(env.requests).toEqual(['POST /whep/r/ada']);
  answer(created('/whep/r/ada/1', 'their offer'));
  await settle();
  expect(env.requests).toEqual(['POST /whep/r/ada', 'DELETE /whep/r/ada/1']);
  expect(env.peer.log).toEqual(['close']);
});

it('ends at the server when closed, and stays closed', async () => {
  const { env, player } = playing();
  await settle();
  env.peer.become('connected');
  player.close();
  player.start();
  await env.pass(60_000);
  expect(env.requests.at(-1)).toBe('DELETE /whep/r/ada/1');
  expect(env.peers).toHaveLength(1);
  expect(player.state.value.kind).toBe('closed');
});

it('sends back what the offer takes, from whenever it is given, over every connection', async () => {
  const env = new FakeEnv();
  env.answer(({ method }) => {
    if (method !== 'POST') return new Response(null, { status: 204 });
    return created('/whep/r/ada/1', 's=-\nm=video 9 x 96\na=mid:0\na=sendonly\nm=audio 9 x 96\na=mid:1\na=recvonly\n');
  });
  const player = new Player(env, '/whep/r/ada');
  player.start();
  await settle();
  const [picture, sound] = env.peer.lines;
  expect([picture?.direction, sound?.direction]).toEqual(['recvonly', 'sendonly']);
  const microphone = track('audio');
  await player.send('audio', microphone);
  await player.send('video', track('video'));
  expect([picture?.sender.track, sound?.sender.track]).toEqual([null, microphone]);
  env.peer.become('failed');
  await env.pass(500);
  expect(env.peers).toHaveLength(2);
  expect(env.peer.lines[1]?.sender.track).toBe(microphone);
  const sent = () => env.peer.lines[1]?.sender.getParameters().encodings;
  await player.send('audio', null);
  expect(env.peer.lines[1]?.sender.track).toBeNull();
  expect(sent()).toEqual([{ active: false }]);
  await player.send('audio', microphone);
  expect(sent()).toEqual([{ active: true }]);
});
