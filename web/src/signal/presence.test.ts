import { expect, it } from 'vitest';
import { news, nobody, others, reduce, type Presence } from './presence';

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

it('adds who joins, takes who leaves, and a welcome replaces everything', () => {
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

it('tells who came and went, and dead and living links, but not suspicion', () => {
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
