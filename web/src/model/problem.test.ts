import { expect, it } from 'vitest';
import { refused } from '../testing/fakes';
import { missingInBrowser, problemFrom, problemOf } from './problem';

it('uses the words of the server', async () => {
  expect(await problemOf(refused(404, 'No such room.', 'Check the name.'), 'x')).toEqual({
    error: 'No such room.',
    remedy: 'Check the name.',
    temporary: false,
  });
});

it.each([
  [502, true],
  [429, true],
  [400, false],
])('has words of its own for a bare HTTP %i', async (status, temporary) => {
  const problem = await problemOf(new Response('<html>', { status }), 'take your picture');
  expect(problem).toMatchObject({ error: `The server refused to take your picture (HTTP ${status}).`, temporary });
  expect(problem.remedy).not.toBe('');
});

it('takes a failed fetch for a server that does not answer', () => {
  expect(problemFrom(new TypeError('Failed to fetch')).error).toBe('The weft server does not answer.');
  const ofFrame = { name: 'TypeError', message: 'Failed to fetch' };
  expect(problemFrom(ofFrame).error).toBe('The weft server does not answer.');
});

it('misses WebRTC where there is none', () => {
  expect(missingInBrowser({})?.error).toContain('no WebRTC');
  expect(missingInBrowser({ RTCPeerConnection: class {} })).toBeNull();
});
