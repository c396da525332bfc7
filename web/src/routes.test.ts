import { expect, it } from 'vitest';
import { roomFrom, roomPath, routeOf } from './routes';

it.each([
  ['/', '', { kind: 'start' }],
  ['/demo', '', { kind: 'demo' }],
  ['/r/standup', '', { kind: 'room', room: 'standup', name: null }],
  ['/r/our%20room/', '?name=Kim', { kind: 'room', room: 'our room', name: 'Kim' }],
  ['/r/x', '?name=%20', { kind: 'room', room: 'x', name: null }],
  ['/r/%zz', '', { kind: 'room', room: '%zz', name: null }],
  ['/r/', '', { kind: 'unknown', path: '/r/' }],
  ['/r/a/b', '', { kind: 'unknown', path: '/r/a/b' }],
])('%s%s', (path, query, route) => {
  expect(routeOf(path, query)).toEqual(route);
});

it.each([
  ['Stand Up!', 'stand-up'],
  ['  Größe 7 ', 'größe-7'],
  ['///', ''],
  ['a'.repeat(100), 'a'.repeat(64)],
])('makes of %j the room %j', (typed, room) => {
  expect(roomFrom(typed)).toBe(room);
});

it('gets back the room from its address', () => {
  expect(routeOf(roomPath('größe 7/8'), '')).toMatchObject({ room: 'größe 7/8' });
});
