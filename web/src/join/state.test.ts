import { expect, it } from 'vitest';
import { readJoinState } from './state';

it('reads links with their use and bytes', () => {
  const link = { name: 'lte', state: 'up', rtt_ms: 40, sent_mbps: 1, target_mbps: 2, loss: 0, metered: true, backup: false, budget_left_mb: 5 };
  const state = readJoinState({ title: 'ride', command: 'call', name: 'Van', links: [{ ...link, use: 'off', carried_mb: 1.5 }], microphone: 'muted', cameras: 'off', recording: 'on', recording_error: 'disk full', others: ['Ada', 3], pictures: [{ participant: '7', camera: 0, name: 'Ada' }, { camera: 1 }] });
  expect(state?.links[0]).toMatchObject({ use: 'off', carriedMb: 1.5, link: { name: 'lte', budgetLeftMb: 5 } });
  expect(state).toMatchObject({ title: 'ride', command: 'call', microphone: 'muted', cameras: 'off', recording: 'on', recordingError: 'disk full', others: ['Ada'], connected: false, pictures: [{ participant: '7', camera: 0, name: 'Ada' }] });
});

it('shows nothing without a token', () => {
  expect(readJoinState({ mode: 'join' })).toBeNull();
  expect(readJoinState(null)).toBeNull();
});
