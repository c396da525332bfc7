import { expect, it } from 'vitest';
import { created, FakeEnv, refused, sections, settle, type Call } from '../testing/fakes';
import { Reception, type ViewedCamera } from './reception';

const FIRST = sections('first', { 0: 'video', 1: 'audio', 2: 'video', 3: 'audio' });
const SECOND = sections('second', { 0: 'video', 1: 'audio', 2: 'video', 3: 'audio', 4: 'video', 5: 'audio' });

const picture = (mid: string, participant: string, camera = 0, more: object = {}) => ({ mid, participant, kind: 'video', camera, ...more });
const sound = (mid: string, participant: string) => ({ mid, participant, kind: 'audio' });
const tile = (participant: string, camera = 0): ViewedCamera => ({ participant, camera, width: 640, height: 360 });

/** A reception and its server, whose answers to PATCH and PUT a test may replace. */
async function receiving() {
  const env = new FakeEnv();
  let number = 0;
  const server = {
    patch: (): Response | Promise<Response> => new Response(null, { status: 204 }),
    put: (): Response | Promise<Response> => new Response(JSON.stringify({ lines: [] })),
  };
  env.answer(({ method }) => {
    if (method === 'POST') return created(`/api/rooms/r/reception/c${(number += 1)}`, FIRST);
    if (method === 'PUT') return server.put();
    return method === 'PATCH' ? server.patch() : new Response(null, { status: 200 });
  });
  const reception = new Reception(env, () => '/api/rooms/r/reception?participant=p1', () => ({ 'weft-secret': 's1' }));
  reception.start();
  await settle();
  const told = (...lines: object[]): void => reception.onEvent({ resource: `c${number}`, lines });
  const offered = (sdp: string): void => reception.onEvent({ resource: `c${number}`, sdp });
  return { env, reception, server, told, offered };
}

/** A reception as in `receiving`, with a transport that works. */
async function connected() {
  const all = await receiving();
  all.env.peer.become('connected');
  return all;
}

/** Returns the ids of the tracks in the streams of a participant, by camera. */
function tracks(reception: Reception, participant: string): Record<number, string[]> {
  const cameras = reception.media.value.get(participant)?.cameras ?? new Map<number, { stream: MediaStream }>();
  return Object.fromEntries([...cameras].map(([place, { stream }]) => [place, stream.getTracks().map((track) => track.id)]));
}

const views = (env: FakeEnv): unknown[] => env.calls.filter(({ method }) => method === 'PUT').map(({ body }) => (JSON.parse(String(body)) as { cameras: unknown }).cameras);
const answers = (env: FakeEnv): Call[] => env.calls.filter(({ method }) => method === 'PATCH');

it('asks with an empty body and our secret, and answers the offer', async () => {
  const { env, reception } = await receiving();
  expect(env.calls).toMatchObject([
    { method: 'POST', url: '/api/rooms/r/reception?participant=p1', body: null, secret: 's1' },
    { method: 'PATCH', url: '/api/rooms/r/reception/c1', body: 'our answer' },
  ]);
  expect(env.peer.log).toEqual([`remote offer ${FIRST}`, 'local answer']);
  expect(reception.state.value.kind).toBe('connecting');
});

it('gives each camera a stream, the first one with the sound', async () => {
  const { reception, told } = await connected();
  told(picture('0', 'ada'), sound('1', 'ada'), picture('2', 'ada', 1), sound('3', 'bob'));
  expect(tracks(reception, 'ada')).toEqual({ 0: ['0', '1'], 1: ['2'] });
  expect(tracks(reception, 'bob')).toEqual({ 0: ['3'] });
  expect(reception.media.value.get('ada')?.sound?.track.id).toBe('1');
  expect(reception.media.value.get('bob')?.cameras.get(0)?.track).toBeNull();
});

it('keeps the stream and its sound while another line carries the picture', async () => {
  const { reception, told } = await connected();
  told(picture('0', 'ada'), sound('1', 'ada'));
  const before = reception.media.value.get('ada')?.cameras.get(0);
  told(sound('1', 'ada'));
  expect(tracks(reception, 'ada')).toEqual({ 0: ['1'] });
  told(picture('2', 'ada'), sound('1', 'ada'));
  expect(tracks(reception, 'ada')).toEqual({ 0: ['1', '2'] });
  const after = reception.media.value.get('ada')?.cameras.get(0);
  expect(after?.stream).toBe(before?.stream);
  expect(after).not.toBe(before);
});

it('never adds sound to a stream that has no track', async () => {
  const { reception, told, offered } = await connected();
  told(sound('5', 'ada'));
  const before = reception.media.value.get('ada')?.cameras.get(0)?.stream;
  offered(SECOND);
  await settle();
  expect(tracks(reception, 'ada')).toEqual({ 0: ['5'] });
  expect(reception.media.value.get('ada')?.cameras.get(0)?.stream).not.toBe(before);
});

it('takes a line from one participant and gives it to another', async () => {
  const { reception, told } = await connected();
  told(picture('0', 'ada'), picture('2', 'bob'));
  const stream = reception.media.value.get('ada')?.cameras.get(0)?.stream;
  told(picture('0', 'bob'));
  expect(tracks(reception, 'bob')).toEqual({ 0: ['0'] });
  expect(reception.media.value.has('ada')).toBe(false);
  expect(stream?.getTracks()).toEqual([]);
});

it('replaces only what changes', async () => {
  const { reception, told } = await connected();
  told(picture('0', 'ada'), sound('1', 'ada'), picture('2', 'bob'));
  const before = reception.media.value;
  told(picture('0', 'ada'), sound('1', 'ada'), picture('2', 'bob'));
  expect(reception.media.value).toBe(before);
  told(picture('0', 'ada'), sound('1', 'ada'), picture('2', 'bob', 0, { paused: true }));
  expect(reception.media.value.get('ada')).toBe(before.get('ada'));
  expect(reception.media.value.get('bob')?.cameras.get(0)).toMatchObject({ paused: true });
});

it('keeps lines until their section is negotiated', async () => {
  const { reception, told, offered } = await connected();
  told(picture('0', 'ada'), picture('4', 'bob'));
  expect(tracks(reception, 'bob')).toEqual({ 0: [] });
  offered(SECOND);
  await settle();
  expect(tracks(reception, 'bob')).toEqual({ 0: ['4'] });
});

it('keeps lines that come before the transport, and before the answer with the address', async () => {
  const env = new FakeEnv();
  let answer = (_: Response): void => undefined;
  env.answer(({ method }) => (method === 'POST' ? new Promise<Response>((resolve) => (answer = resolve)) : new Response(null, { status: 204 })));
  const reception = new Reception(env, () => '/api/rooms/r/reception', () => ({}));
  reception.start();
  await settle();
  reception.onEvent({ resource: 'c1', lines: [picture('0', 'ada')] });
  reception.onEvent({ resource: 'c1', sdp: SECOND });
  answer(created('/api/rooms/r/reception/c1', FIRST));
  await settle();
  expect(reception.media.value.size).toBe(0);
  env.peer.become('connected');
  expect(tracks(reception, 'ada')).toEqual({ 0: ['0'] });
  expect(env.peer.log).toEqual([`remote offer ${FIRST}`, 'local answer', `remote offer ${SECOND}`, 'local answer']);
});

it('ignores news of a connection that is not ours', async () => {
  const { env, reception } = await connected();
  reception.onEvent({ resource: 'c0', lines: [picture('0', 'ada')] });
  reception.onEvent({ resource: 'c0', sdp: SECOND });
  await settle();
  expect(reception.media.value.size).toBe(0);
  expect(answers(env)).toHaveLength(1);
});

it('lets an offer wait while another one is answered, and skips one that a later one replaces', async () => {
  const { env, server, offered } = await connected();
  let answered = (): void => undefined;
  server.patch = () => new Promise((resolve) => (answered = () => resolve(new Response(null, { status: 204 }))));
  offered(SECOND);
  await settle();
  offered(sections('third', { 6: 'video' }));
  offered(sections('fourth', { 6: 'video' }));
  await settle();
  expect(answers(env)).toHaveLength(2);
  answered();
  await settle();
  answered();
  await settle();
  expect(answers(env)).toHaveLength(3);
  expect(env.peer.log.filter((line) => line.startsWith('remote')).map((line) => /s=(\w+)/.exec(line)?.[1])).toEqual(['first', 'second', 'fourth']);
});

it('sends the view once it has settled for 100 ms, and only a new one', async () => {
  const { env, reception } = await connected();
  reception.show([tile('ada')]);
  await env.pass(99);
  reception.show([tile('ada'), tile('bob')]);
  await env.pass(99);
  expect(views(env)).toEqual([]);
  await env.pass(1);
  expect(views(env)).toEqual([[tile('ada'), tile('bob')]]);
  reception.show([tile('ada'), tile('bob')]);
  await env.pass(1_000);
  expect(views(env)).toHaveLength(1);
  expect(env.requests.at(-1)).toBe('PUT /api/rooms/r/reception/c1/view');
});

it('takes lines and an offer from the answer to the view', async () => {
  const { env, reception, server } = await connected();
  server.put = () => new Response(JSON.stringify({ lines: [picture('4', 'ada')], offer: SECOND }));
  reception.show([tile('ada')]);
  await env.pass(100);
  expect(tracks(reception, 'ada')).toEqual({ 0: ['4'] });
  // The same offer also arrives as an event.
  reception.onEvent({ resource: 'c1', sdp: SECOND });
  await settle();
  expect(answers(env)).toHaveLength(2);
});

it('sends one view at a time, then the latest', async () => {
  const { env, reception, server } = await connected();
  let answer = (): void => undefined;
  server.put = () => new Promise((resolve) => (answer = () => resolve(new Response(JSON.stringify({ lines: [] })))));
  for (const who of ['ada', 'bob', 'eve']) {
    reception.show([tile(who)]);
    await env.pass(100);
  }
  expect(views(env)).toEqual([[tile('ada')]]);
  answer();
  await settle();
  await env.pass(0);
  expect(views(env)).toEqual([[tile('ada')], [tile('eve')]]);
});

it('asks again where an event and the answer to a view disagree', async () => {
  const { env, reception, server, told } = await connected();
  let answer = (_: object[]): void => undefined;
  server.put = () => new Promise((resolve) => (answer = (lines) => resolve(new Response(JSON.stringify({ lines })))));
  reception.show([tile('ada')]);
  await env.pass(100);
  told(picture('2', 'ada'));
  answer([picture('0', 'ada')]);
  await settle();
  expect(tracks(reception, 'ada')).toEqual({ 0: ['2'] });
  await env.pass(500);
  answer([picture('2', 'ada')]);
  await env.pass(60_000);
  expect(views(env)).toHaveLength(2);
});

it('repeats a view that did not arrive, and one whose offer was answered in vain', async () => {
  const { env, reception, server, offered } = await connected();
  server.put = () => refused(503, 'Busy.', 'Wait.');
  reception.show([tile('ada')]);
  await env.pass(100);
  expect(views(env)).toHaveLength(1);
  server.put = () => new Response(JSON.stringify({ lines: [], offer: SECOND }));
  server.patch = () => Promise.reject(new TypeError('no network'));
  await env.pass(500);
  expect(views(env)).toHaveLength(2);
  expect(answers(env)).toHaveLength(2);
  server.patch = () => new Response(null, { status: 204 });
  await env.pass(1_000);
  expect(answers(env)).toHaveLength(3);
  const requests = env.calls.length;
  offered(SECOND);
  await env.pass(60_000);
  expect(env.calls).toHaveLength(requests);
});

it('does not repeat a view that the server refuses for good', async () => {
  const { env, reception, server } = await connected();
  server.put = () => refused(404, 'No such connection.', 'Reload.');
  reception.show([tile('ada')]);
  await env.pass(60_000);
  expect(views(env)).toHaveLength(1);
});

it('sends the view again when asked to, and on a new connection', async () => {
  const { env, reception } = await connected();
  reception.show([tile('ada')]);
  await env.pass(100);
  reception.refresh();
  await env.pass(0);
  expect(views(env)).toHaveLength(2);
  env.peer.become('failed');
  await env.pass(500);
  expect(env.requests.slice(-4)).toEqual([
    'DELETE /api/rooms/r/reception/c1',
    'POST /api/rooms/r/reception?participant=p1',
    'PATCH /api/rooms/r/reception/c2',
    'PUT /api/rooms/r/reception/c2/view',
  ]);
});

it('keeps the last pictures while a new connection is made', async () => {
  const { env, reception, told } = await connected();
  told(picture('0', 'ada'));
  const before = reception.media.value;
  env.peer.become('failed');
  await env.pass(500);
  told(picture('2', 'ada'));
  expect(reception.media.value).toBe(before);
  env.peer.become('connected');
  expect(tracks(reception, 'ada')).toEqual({ 0: ['2'] });
});

it('drops everything received under an old identity', async () => {
  const { env, reception, told } = await connected();
  told(picture('0', 'ada'), sound('1', 'ada'));
  const stream = reception.media.value.get('ada')?.cameras.get(0)?.stream;
  reception.startAgain();
  expect(reception.media.value.size).toBe(0);
  expect(stream?.getTracks()).toEqual([]);
  await settle();
  expect(env.requests.at(-1)).toBe('PATCH /api/rooms/r/reception/c2');
});

it('makes a new connection when an offer cannot be applied', async () => {
  const { env, reception, offered } = await connected();
  env.peer.setRemoteDescription = () => Promise.reject(new Error('unreadable'));
  offered(SECOND);
  await settle();
  expect(reception.state.value).toMatchObject({ kind: 'waiting', problem: { error: expect.stringContaining('unreadable') as string } });
  await env.pass(500);
  expect(env.requests.at(-1)).toBe('PATCH /api/rooms/r/reception/c2');
});

it.each([
  [404, 'waiting'],
  [503, 'waiting'],
  [403, 'failed'],
])('after HTTP %i is %s', async (status, kind) => {
  const env = new FakeEnv();
  env.answer(() => refused(status, 'No.', 'Wait.'));
  const reception = new Reception(env, () => '/api/rooms/r/reception', () => ({}));
  reception.start();
  await settle();
  expect(reception.state.value).toMatchObject({ kind, problem: { error: 'No.', remedy: 'Wait.' } });
});

it('ends at the server when closed, and says nothing more', async () => {
  const { env, reception, told } = await connected();
  reception.show([tile('ada')]);
  reception.close();
  told(picture('0', 'ada'));
  await env.pass(60_000);
  expect(env.requests.at(-1)).toBe('DELETE /api/rooms/r/reception/c1');
  expect(env.peers).toHaveLength(1);
  expect(views(env)).toEqual([]);
});

it('knows the codec of a camera that this browser cannot show', async () => {
  const { env, reception, offered } = await connected();
  env.peer.createAnswer = () => Promise.resolve({ type: 'answer', sdp: 'm=video 0 x 96\n' });
  offered('m=video 9 x 96\na=rtpmap:96 H264/90000\n');
  await settle();
  expect(reception.missingCodec.value).toBe('H264');
});
