import { expect, it } from 'vitest';
import { readMove, readParticipant, readPublishing, readReception, readSlow, readTick, readWelcome } from './types';

it('reads a participant as the server sends it', () => {
  const sent = {
    id: 'p2',
    name: 'Rover',
    kind: 'native',
    publishing: { video: true, audio: false, cameras: [{ name: 'Front' }, {}] },
    links: [{ name: 'wlan0', state: 'suspect', rtt_ms: 21.5, sent_mbps: 1.25, target_mbps: 3, loss: 0.01, metered: true, backup: true, budget_left_mb: 750.5, trouble: 'no_route' }],
  };
  expect(readParticipant(sent)).toEqual({
    id: 'p2',
    name: 'Rover',
    kind: 'native',
    publishing: {
      cameras: [
        { name: 'Front', screen: false, off: false },
        { name: null, screen: false, off: false },
      ],
      audio: false,
    },
    upload: 'none',
    links: [{ name: 'wlan0', state: 'suspect', rttMs: 21.5, sentMbps: 1.25, targetMbps: 3, loss: 0.01, metered: true, backup: true, budgetLeftMb: 750.5, trouble: 'no_route' }],
    muted: false, moderator: false, hand: null, succeeds: null,
  });
});

it('reads a tick as the server sends it', () => {
  const sent = {
    t: 12.25,
    phase: 'wifi fades',
    links: [
      { name: 'wifi', up: false, forced: 'cut', capacity_mbps: 0, sent_mbps: 0, rtt_ms: null, loss: 1, queue_ms: null, state: 'down' },
    ],
    calls: { weft: { fps: 30, frozen: false, freeze_s: 0.2, freeze_count: 1, e2e_ms: 91, throughput_mbps: 2.2, width: 960, height: 540 } },
    settings: [{ name: 'scheduler', value: 'weft', choices: ['single', 'weft', 7] }, { name: 'broken' }],
  };
  const tick = readTick(sent);
  expect(tick).toMatchObject({ t: 12.25, phase: 'wifi fades' });
  expect(tick?.settings).toEqual([{ name: 'scheduler', value: 'weft', choices: ['single', 'weft'] }]);
  expect(tick?.links).toEqual([
    { name: 'wifi', up: false, forced: 'cut', capacityMbps: 0, sentMbps: 0, rttMs: null, loss: 1, queueMs: null, state: 'down' },
  ]);
  expect(tick?.calls.get('weft')).toEqual({ fps: 30, frozen: false, freezeS: 0.2, freezeCount: 1, e2eMs: 91, throughputMbps: 2.2, width: 960, height: 540 });
});

it('derives the state of a link that only says whether it is up', () => {
  expect(readTick({ t: 0, links: [{ name: 'a', up: false }, { name: 'b', up: true }] })?.links.map((each) => each.state)).toEqual(['down', 'up']);
});

it.each([null, undefined, 7, 'x', [], [{}], {}, { id: 5 }, { t: 'x' }, { t: Number.NaN }])('makes nothing of %j', (value) => {
  expect(readParticipant(value)).toBeNull();
  expect(readWelcome(value)).toBeNull();
  expect(readTick(value)).toBeNull();
});

it('passes over what it cannot read inside', () => {
  const welcome = readWelcome({ id: 'p1', participants: [null, { id: 'p2', kind: 'martian', links: 'none' }, 5] });
  expect(welcome?.participants).toEqual([
    { id: 'p2', name: 'p2', kind: 'browser', publishing: { cameras: [], audio: false }, upload: 'none', links: [], muted: false, moderator: false, hand: null, succeeds: null },
  ]);
});

it('shows no more cameras than a server forwards, whatever it is told', () => {
  const cameras = [{ name: ' ' }, { name: 7 }, null, ...Array.from({ length: 1_000 }, () => ({ name: 'x' }))];
  expect(readPublishing({ cameras }).cameras.map((camera) => camera.name)).toEqual([null, null, null, 'x']);
  expect(readPublishing({ cameras: [{ off: true }, { screen: true }] }).cameras).toEqual([
    { name: null, screen: false, off: true },
    { name: null, screen: true, off: false },
  ]);
  expect(readPublishing('nothing')).toEqual({ cameras: [], audio: false });
});

it('reads lines as the server sends them, and leaves out what it cannot read', () => {
  const lines = [
    { mid: '3', participant: 'ada', kind: 'video', camera: 1, paused: true },
    { mid: '4', participant: 'ada', kind: 'audio' },
  ];
  const read = [
    { mid: '3', participant: 'ada', camera: 1, paused: true },
    { mid: '4', participant: 'ada', camera: null, paused: false },
  ];
  const broken = [null, { mid: 4, participant: 'ada', kind: 'audio' }, { ...lines[0], camera: 4 }, { ...lines[0], camera: 0.5 }, { ...lines[0], kind: 'text' }];
  expect(readReception({ resource: 'r', lines: [...lines, ...broken] })).toEqual({ resource: 'r', lines: read, offer: null });
  expect(readReception({ resource: 'r', sdp: 'v=0' })).toEqual({ resource: 'r', lines: null, offer: 'v=0' });
  expect(readReception({ lines, offer: 'v=0' })).toEqual({ resource: '', lines: read, offer: 'v=0' });
  expect(readReception(null)).toEqual({ resource: '', lines: null, offer: null });
});

it('reads that a machine is too slow, what would help, and that it has recovered', () => {
  expect(readSlow({ missed: 0.2, smaller: '360p' })).toEqual({ missed: 0.2, smaller: '360p' });
  expect(readSlow({ missed: 0.2, smaller: null })).toEqual({ missed: 0.2, smaller: null });
  expect(readSlow({ missed: null, smaller: null })).toBeNull();
});

it('reads where to move, and nothing without an address', () => {
  expect(readMove({ url: 'https://two.example:8443/', node: 'two', token: 'a.b' })).toEqual({ url: 'https://two.example:8443', token: 'a.b' });
  expect(readMove({ url: 'https://two.example', node: 'two' })?.token).toBeNull();
  for (const other of [null, {}, { url: 7 }, { url: 'two' }]) expect(readMove(other)).toBeNull();
});
