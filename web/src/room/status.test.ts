import { expect, it } from 'vitest';
import { nothing, readParticipant } from '../model/types';
import { ownStatus, statusOf } from './status';

const sound = { cameras: [], audio: true };
const picture = { cameras: [{ name: null, screen: false, off: false }], audio: false };

it.each([
  // Muted with the camera off differs from watching and from disconnected.
  [nothing, 'connected', 'muted, camera off'],
  [nothing, 'lost', 'connection lost'],
  [nothing, 'none', 'sends nothing yet'],
  [nothing, 'not_allowed', 'only watching'],
  [sound, 'connected', null],
  // The microphone's icon shows that it is muted.
  [picture, 'connected', null],
] as const)('%j with an upload that is %s: %s', (publishing, upload, words) => {
  expect(statusOf({ publishing, upload })).toBe(words);
});

it('reads the state of an upload, and none of an older server', () => {
  const of = (upload: unknown) => readParticipant({ id: 'a', upload })?.upload;
  expect(['connected', 'lost', 'not_allowed', 'none', 'other', undefined].map(of)).toEqual(['connected', 'lost', 'not_allowed', 'none', 'none', 'none']);
});

it('says of ourselves what the others see', () => {
  expect(ownStatus('watch', false, 'fine')).toBe('you, only watching');
  expect(ownStatus('take_part', false, 'fine')).toBe('you, sending nothing');
  expect(ownStatus('take_part', true, 'broken')).toBe('you, reconnecting…');
  expect(ownStatus('take_part', true, 'failed')).toBe('you, upload failed');
  expect(ownStatus('take_part', true, 'fine')).toBe('you');
});
