import { describe, expect, it } from 'vitest';
import { created, FakeEnv, refused, settle, track } from '../testing/fakes';
import { locate } from './peer';
import { Publisher, vp8First, withPresentation } from './whip';

const codecs = ['video/VP9', 'video/rtx', 'video/VP8', 'video/H264'].map((mimeType) => ({ mimeType }));

function publishing(tracks = { video: track('video'), audio: track('audio'), screen: null } as Parameters<Publisher['start']>[0]) {
  const env = new FakeEnv();
  env.codecs = [...codecs];
  env.answer(({ method }) => (method === 'POST' ? created('/whip/r/1', 'their answer') : new Response(null, { status: 204 })));
  const publisher = new Publisher(env, () => '/whip/r?participant=p1');
  publisher.start(tracks);
  return { env, publisher };
}

it('puts VP8 in front and keeps the order of the others', () => {
  expect(vp8First(codecs).map((codec) => codec.mimeType)).toEqual(['video/VP8', 'video/VP9', 'video/rtx', 'video/H264']);
});

it('offers both tracks, send only, and takes the answer', async () => {
  const { env, publisher } = publishing();
  await settle();
  expect(env.calls).toEqual([{ method: 'POST', url: '/whip/r?participant=p1', body: 'our offer', secret: null, read: null, token: null }]);
  expect(env.peer.log).toEqual(['local offer', 'remote answer their answer']);
  const [audio, video, screen] = env.peer.transceivers;
  expect([audio?.track?.kind, video?.track?.kind, screen?.track]).toEqual(['audio', 'video', null]);
  expect([audio?.init.direction, video?.init.direction]).toEqual(['sendonly', 'sendonly']);
  expect(video?.codecs?.[0]?.mimeType).toBe('video/VP8');
  // The server sends each viewer the encoding that fits.
  expect(video?.init.sendEncodings?.map((encoding) => encoding.rid)).toEqual(['q', 'h', 'f']);
  env.peer.become('connected');
  expect(publisher.state.value.kind).toBe('connected');
});

it('switches the camera off and on without a new negotiation', async () => {
  const { env, publisher } = publishing();
  await settle();
  env.peer.become('connected');
  const audio = env.peer.transceivers[0]?.track as MediaStreamTrack;
  await publisher.setTracks({ video: null, audio, screen: null });
  expect(env.peer.transceivers[1]?.sender.track).toBeNull();
  const again = track('video');
  await publisher.setTracks({ video: again, audio, screen: null });
  expect(env.peer.transceivers[1]?.sender.track).toBe(again);
  expect(env.peers).toHaveLength(1);
});

it('sends what was not sent before without a new negotiation', async () => {
  const audio = track('audio');
  const { env, publisher } = publishing({ video: null, audio, screen: null });
  await settle();
  const [video, screen] = [track('video'), track('video')];
  await publisher.setTracks({ video, audio, screen });
  await settle();
  expect(env.peers).toHaveLength(1);
  expect(env.peer.transceivers.map(({ sender }) => sender.track)).toEqual([audio, video, screen]);
});

it('pauses the encodings that nobody watches, and sends them again', async () => {
  const { env, publisher } = publishing();
  await settle();
  const [, video, screen] = env.peer.transceivers;
  const sent = (): unknown => [video, screen].map((each) => each?.sender.getParameters().encodings.map(({ active }) => active));
  expect(sent()).toEqual([[true, true, true], [true, true]]);
  publisher.onWanted({ resource: '1', cameras: [[true, true, false], [false, false]] });
  publisher.onWanted({ resource: '1', cameras: [[true, false, false], [false, true]] });
  await settle();
  expect(sent()).toEqual([[true, false, false], [false, true]]);
  publisher.onWanted({ resource: 'of before', cameras: [[true, true, true], [true, true]] });
  publisher.onWanted({ resource: '1', cameras: 'all' });
  await settle();
  expect(sent()).toEqual([[true, false, false], [false, true]]);
});

it('marks the section of the screen as a presentation', () => {
  const sdp = 'v=0\r\nm=audio 9\r\na=mid:0\r\nm=video 9\r\na=mid:1\r\nm=video 9\r\na=mid:10\r\na=sendonly\r\n';
  expect(withPresentation(sdp, '1')).toBe(sdp.replace('a=mid:1\r\n', 'a=mid:1\r\na=content:slides\r\n'));
  expect(withPresentation(sdp, '10')).toBe(`${sdp}a=content:slides\r\n`);
  expect(withPresentation(sdp, null)).toBe(sdp);
});

it('tells what is switched off, and a server that knows nothing of it does no harm', async () => {
  const { env, publisher } = publishing();
  await settle();
  env.answer(() => refused(404, 'No.', 'No.'));
  publisher.tell({ video: false, audio: true, screen: false });
  await settle();
  expect(env.calls.at(-1)).toMatchObject({ method: 'PUT', url: '/whip/r/1/publishing', body: '{"video":false,"audio":true,"screen":false}' });
  expect(publisher.state.value.kind).toBe('connecting');
});

it('tells it again on a new connection', async () => {
  const { env, publisher } = publishing();
  await settle();
  env.peer.become('connected');
  expect(env.requests).toHaveLength(1);
  publisher.tell({ video: true, audio: false, screen: true });
  env.peer.become('failed');
  await env.pass(500);
  env.peer.become('connected');
  expect(env.calls.at(-1)).toMatchObject({ method: 'PUT', url: '/whip/r/1/publishing', body: '{"video":true,"audio":false,"screen":true}' });
});

it('fails with the words of the server when it may not publish', async () => {
  const env = new FakeEnv();
  env.answer(() => refused(403, 'You may only watch here.', 'Ask for a token.'));
  const publisher = new Publisher(env, () => '/whip/r?participant=p1');
  publisher.start({ video: track('video'), audio: null, screen: null });
  await settle();
  expect(publisher.state.value).toMatchObject({ kind: 'failed', problem: { error: 'You may only watch here.' } });
  expect(env.waits).toEqual([]);
});

describe('locate', () => {
  it.each([
    ['/whip/r/1', '/whip/r?participant=p1', '/whip/r/1'],
    ['1', '/whip/r/', '/whip/r/1'],
    ['/whip/r/1?key=x', '/whip/r', '/whip/r/1?key=x'],
    ['https://other.example/x/1', '/whip/r', 'https://other.example/x/1'],
    ['/x/1', 'https://other.example/whip/r', 'https://other.example/x/1'],
  ])('%s from %s is %s', (location, request, resource) => {
    expect(locate(location, request)).toBe(resource);
  });
});
