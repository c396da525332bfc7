import { expect, it } from 'vitest';
import { everybody, hands, isOwn, news, nobody, others, reduce, type Presence } from './presence';

const person = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  kind: 'browser',
  publishing: { cameras: [{ name: null }], audio: true },
  links: [],
  ...more,
});
const link = (name: string, state: string) => ({ name, state, rtt_ms: 20, sent_mbps: 1, target_mbps: 2, loss: 0, metered: false });

function after(...events: [string, unknown][]): Presence {
  return events.reduce((presence, [event, value]) => reduce(presence, event, value), nobody);
}

const welcomed: [string, unknown] = ['welcome', { id: 'me', room: 'r', participants: [person('me'), person('ada')] }];

it('knows itself from the others', () => {
  expect(others(after(welcomed)).map((each) => each.id)).toEqual(['ada']);
});

it('knows whether people of other servers may be missing', () => {
  const alone = after(welcomed, ['cluster', { reachable: false }]);
  expect(alone.complete).toBe(false);
  expect(reduce(alone, 'cluster', { reachable: true }).complete).toBe(true);
  expect(reduce(alone, ...welcomed).complete).toBe(true);
});

it('adds arrivals, removes departures, and a welcome replaces everything', () => {
  const joined = after(welcomed, ['joined', person('bob')]);
  expect([...joined.participants.keys()]).toEqual(['me', 'ada', 'bob']);
  expect([...reduce(joined, 'left', { id: 'ada' }).participants.keys()]).toEqual(['me', 'bob']);
  const again = reduce(joined, 'welcome', { id: 'me2', participants: [person('me2')] });
  expect(again.self).toBe('me2');
  expect(others(again)).toEqual([]);
});

it('takes links from their own event and from a change', () => {
  const withLinks = after(welcomed, ['links', { id: 'ada', links: [link('wlan0', 'down')] }]);
  expect(withLinks.participants.get('ada')?.links).toMatchObject([{ name: 'wlan0', state: 'down', rttMs: 20 }]);
  const changed = reduce(withLinks, 'changed', person('ada', { publishing: { cameras: [], audio: true } }));
  expect(changed.participants.get('ada')).toMatchObject({ publishing: { cameras: [] }, links: [] });
});

it.each([
  ['left', { id: 'nobody' }],
  ['links', { id: 'nobody', links: [] }],
  ['joined', { name: 'without id' }],
  ['welcome', null],
  ['links', 'text'],
  ['something new', { id: 'x' }],
])('stays the same object on %s %j', (event, value) => {
  const before = after(welcomed);
  expect(reduce(before, event, value)).toBe(before);
});

it('reports arrivals, departures, dead and living links, but not suspicion', () => {
  const steps: [string, unknown][] = [
    ['joined', person('rover', { kind: 'native', links: [link('lte', 'up')] })],
    ['links', { id: 'rover', links: [link('lte', 'suspect')] }],
    ['links', { id: 'rover', links: [link('lte', 'down')] }],
    ['links', { id: 'rover', links: [link('lte', 'up')] }],
    ['left', { id: 'rover' }],
  ];
  let presence = after(welcomed);
  const told = steps.map(([event, value]) => {
    const before = presence;
    presence = reduce(before, event, value);
    return news(before, presence);
  });
  expect(told).toEqual([['ROVER joined.'], [], ['ROVER: link lte is down.'], ['ROVER: link lte is up again.'], ['ROVER left.']]);
});

it('does not read out everybody on the first welcome', () => {
  expect(news(nobody, after(welcomed))).toEqual([]);
});

const message = (id: string, from: string, text = id) => ({ id, from, name: from.toUpperCase(), text, at: 5 });
const ids = (presence: Presence): string[] => presence.chat.map(({ id }) => id);

it('has each message of the chat once, in order, also after an interruption and with another server', () => {
  const chat = after(welcomed, ['history', { messages: [message('e-1', 'ada'), null] }], ['chat', message('e-2', 'ada')], ['chat', message('e-2', 'ada')]);
  expect(ids(chat)).toEqual(['e-1', 'e-2']);
  const resumed = [welcomed, ['history', { messages: [message('e-2', 'ada'), message('e-3', 'bob')] }] as const].reduce((presence, [event, value]) => reduce(presence, event, value), chat);
  expect(ids(resumed)).toEqual(['e-1', 'e-2', 'e-3']);
  expect(ids(reduce(resumed, 'history', { messages: [message('f-1', 'bob')] }))).toEqual(['e-1', 'e-2', 'e-3', 'f-1']);
  expect(reduce(chat, 'chat', { id: 'e-3' })).toBe(chat);
});

it('keeps a bounded number of messages', () => {
  const many = Array.from({ length: 1_500 }, (_, n): [string, unknown] => ['chat', message(`e-${n}`, 'ada')]);
  const chat = after(welcomed, ...many);
  expect([chat.chat.length, chat.chat.at(-1)?.id]).toEqual([1_000, 'e-1499']);
});

it('orders raised hands by time, and announces them', () => {
  const before = after(welcomed, ['joined', person('bob')]);
  const one = reduce(before, 'changed', person('bob', { hand: 1 }));
  const both = reduce(one, 'changed', person('ada', { hand: 2 }));
  expect(hands(both).map(({ id }) => id)).toEqual(['bob', 'ada']);
  expect(news(before, one)).toEqual(['BOB raised a hand.']);
  expect(news(one, both)).toEqual(['ADA raised a hand.']);
  expect(hands(reduce(both, 'left', { id: 'bob' })).map(({ id }) => id)).toEqual(['ada']);
});

it('knows whether the server records the room, and says when that changes or fails', () => {
  const before = after(['welcome', { id: 'me', secret: 's', room: 'r', participants: [person('me')], recordable: true }]);
  expect([before.recordable, before.settings.recorded]).toEqual([true, false]);
  const recorded = reduce(before, 'settings', { recorded: true });
  expect(news(before, recorded)).toEqual(['The server records this room.']);
  const failed = reduce(recorded, 'recording', { error: 'The recording has stopped.' });
  expect(failed.recordingFailed).toBe('The recording has stopped.');
  expect(news(failed, reduce(failed, 'settings', {}))).toEqual(['The recording has ended.']);
});

it('knows the settings of the room and those waiting, and announces both', () => {
  const before = after(welcomed);
  const locked = reduce(before, 'settings', { locked: true, waiting_room: true });
  expect(locked.settings).toEqual({ locked: true, waitingRoom: true, recorded: false });
  expect(news(before, locked)).toEqual(['The room is locked.']);
  const queued = reduce(locked, 'queue', { waiting: [{ id: 'eve', name: 'Eve' }, 5, { name: 'no id' }] });
  expect(queued.queue).toEqual([{ id: 'eve', name: 'Eve' }]);
  expect(news(locked, queued)).toEqual(['Eve waits to be let in.']);
  const muted = reduce(queued, 'changed', person('me', { muted: true }));
  expect(news(queued, muted)).toEqual(['A moderator has muted you.']);
});

it('shows somebody who moves to another server once, and says nothing of it', () => {
  const before = after(welcomed);
  const joined = reduce(before, 'joined', person('ada2', { name: 'ADA', succeeds: 'ada', publishing: {} }));
  expect(others(joined)).toMatchObject([{ id: 'ada', who: { id: 'ada' } }]);
  const publishes = reduce(joined, 'changed', person('ada2', { name: 'ADA', succeeds: 'ada' }));
  expect(others(publishes)).toMatchObject([{ id: 'ada', who: { id: 'ada2' } }]);
  const left = reduce(publishes, 'left', { id: 'ada' });
  expect(others(left)).toMatchObject([{ id: 'ada', who: { id: 'ada2' } }]);
  const again = reduce(reduce(left, 'joined', person('ada3', { name: 'ADA', succeeds: 'ada2', hand: 1 })), 'left', { id: 'ada2' });
  expect(others(again)).toMatchObject([{ id: 'ada', who: { id: 'ada3' } }]);
  expect(hands(again).map(({ id }) => id)).toEqual(['ada']);
  expect([joined, publishes, left].flatMap((now, at) => news([before, joined, publishes][at]!, now))).toEqual([]);
  expect(news(again, reduce(again, 'left', { id: 'ada3' }))).toEqual(['ADA left.']);
});

it('knows itself and its messages after a move', () => {
  const moved = after(welcomed, ['welcome', { id: 'me2', room: 'r', participants: [person('me'), person('ada'), person('me2', { succeeds: 'me' })] }]);
  expect(others(moved).map(({ id }) => id)).toEqual(['ada']);
  expect(['me', 'me2', 'ada'].map((id) => isOwn(moved, id))).toEqual([true, true, false]);
  const arriving = after(welcomed, ['joined', person('me2', { succeeds: 'me' })]);
  expect(everybody(arriving).map(({ who }) => who.id)).toEqual(['me', 'ada']);
});
