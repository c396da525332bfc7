import { expect, it } from 'vitest';
import type { CallFigures, DemoLink, Tick } from '../model/types';
import { storyOf, titleOf } from './words';

const link = (name: string, up: boolean): DemoLink => ({
  name, up, forced: null, state: up ? 'up' : 'down', capacityMbps: null, sentMbps: null, rttMs: null, loss: null, queueMs: null,
});
const call = (frozen: boolean): CallFigures => ({
  fps: 30, frozen, freezeS: 0, freezeCount: 0, e2eMs: null, throughputMbps: null, width: null, height: null,
});
const tick = ([wifi, lte]: [boolean, boolean], [weft, single]: [boolean, boolean]): Tick => ({
  t: 0,
  phase: '',
  links: [link('wifi', wifi), link('lte', lte)],
  calls: new Map([['weft', call(weft)], ['single:wifi', call(single)]]),
  settings: [],
});

it.each<[[boolean, boolean], [boolean, boolean], string]>([
  [[true, true], [false, false], 'Both calls work.'],
  [[true, false], [false, false], 'Both calls continue, now over WiFi.'],
  [[false, true], [false, true], 'The call over WiFi alone is frozen. weft continues over LTE.'],
  [[true, true], [false, true], 'The call over WiFi alone is frozen. weft continues.'],
  [[true, true], [true, false], 'weft is frozen. The call over WiFi alone continues.'],
  [[false, false], [true, true], 'Nothing gets through: both calls are frozen.'],
  [[false, false], [false, false], 'Nothing gets through.'],
])('links %j with freezes %j: %s', (links, frozen, story) => {
  expect(storyOf(tick(links, frozen))).toBe(story);
});

it('calls an unknown link by its own name', () => {
  expect(titleOf('lte')).toBe('LTE');
  expect(titleOf('wwan0')).toBe('wwan0');
});
