import { expect, it } from 'vitest';
import { FakeEnv } from '../testing/fakes';
import { askAccess, invitation, tokenFrom } from './access';

function answering(status: number, body: unknown): FakeEnv {
  const env = new FakeEnv();
  env.answer(() => new Response(JSON.stringify(body), { status }));
  return env;
}

const refused = (kind: string) => ({ error: `It is ${kind}.`, remedy: 'Do something.', kind });

it.each([
  [200, { may: 'take_part', until: null }, { kind: 'in', may: 'take_part' }],
  [200, { may: 'watch', until: 5 }, { kind: 'in', may: 'watch' }],
  [404, null, { kind: 'in', may: 'take_part' }],
  [401, refused('token_missing'), { kind: 'token', problem: null }],
  [401, null, { kind: 'token', problem: null }],
  [401, refused('token_wrong'), { kind: 'token', problem: { error: 'It is token_wrong.' } }],
  [401, refused('token_expired'), { kind: 'token', problem: { error: 'It is token_expired.' } }],
  [403, refused('token_other_room'), { kind: 'token', problem: { error: 'It is token_other_room.' } }],
  [503, null, { kind: 'refused', problem: { temporary: true } }],
])('HTTP %i with %j is %j', async (status, body, access) => {
  expect(await askAccess(answering(status, body), 'r', null)).toMatchObject(access);
});

it('does not know whether one may come in where the server does not answer', async () => {
  const env = new FakeEnv();
  env.answer(() => {
    throw new TypeError('Failed to fetch');
  });
  expect(await askAccess(env, 'r', 'x')).toMatchObject({ kind: 'refused', problem: { temporary: true } });
});

it.each([
  [' abc.def ', 'abc.def'],
  ['https://example.org/r/x?token=abc.def', 'abc.def'],
  ['https://example.org/r/x?name=K&token=abc#top', 'abc'],
])('finds the token in %j', (typed, token) => {
  expect(tokenFrom(typed)).toBe(token);
});

it('writes invitations that work', async () => {
  const write = (env: FakeEnv) => invitation(env, 'https://s', '/r/x', 'x');
  expect(await write(answering(200, { token: 'a.b' }))).toBe('https://s/r/x?token=a.b');
  expect(await write(answering(200, { token: null }))).toBe('https://s/r/x');
  expect(await write(answering(404, null))).toBe('https://s/r/x');
  await expect(write(answering(409, refused('no_token_key')))).rejects.toThrow('It is no_token_key.');
});
