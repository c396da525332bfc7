import { expect, it } from 'vitest';
import { FakeEnv, settle } from '../testing/fakes';
import { Outbox } from './outbox';

function start(...answers: (Response | Error)[]) {
  const env = new FakeEnv();
  const sent: string[] = [];
  const outbox = new Outbox(env, (text, key) => {
    sent.push(`${key} ${text}`);
    const answer = answers.shift() ?? created('m9');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  });
  const state = () => outbox.messages.value.map(({ text, id, problem }) => [text, id, problem?.error ?? null]);
  return { env, sent, outbox, state };
}

const created = (id: string) => new Response(JSON.stringify({ id }), { status: 201 });
const refusal = (status: number, error: string, headers = {}) => new Response(JSON.stringify({ error, remedy: 'Wait.' }), { status, headers });

it('sends in order, and keeps a message until the room has it', async () => {
  const { sent, outbox, state } = start(created('m1'), created('m2'));
  outbox.send('one');
  outbox.send('two');
  await settle();
  expect(sent).toEqual(['page-1 one', 'page-2 two']);
  expect(state()).toEqual([['one', 'm1', null], ['two', 'm2', null]]);
  outbox.settle((id) => id === 'm1');
  expect(state()).toEqual([['two', 'm2', null]]);
});

it('repeats a request that got no answer with the same key, and later messages wait for it', async () => {
  const { env, sent, outbox, state } = start(new TypeError('no network'), refusal(503, 'Busy.'), created('m1'), created('m2'));
  outbox.send('one');
  outbox.send('two');
  await settle();
  expect(state()[0]).toEqual(['one', null, 'The weft server does not answer.']);
  await env.pass(500);
  expect(state()[0]).toEqual(['one', null, 'Busy.']);
  outbox.hurry();
  await settle();
  expect(sent).toEqual(['page-1 one', 'page-1 one', 'page-1 one', 'page-2 two']);
  expect(state()).toEqual([['one', 'm1', null], ['two', 'm2', null]]);
});

it('waits as long as the server says', async () => {
  const { env, sent, outbox } = start(refusal(429, 'Too fast.', { 'retry-after': '3' }));
  outbox.send('one');
  await settle();
  await env.pass(2_900);
  expect(sent).toHaveLength(1);
  await env.pass(100);
  expect(sent).toHaveLength(2);
});

it('says why a message was refused, and continues with the next', async () => {
  const { outbox, state } = start(refusal(400, 'Too long.'), created('m2'));
  outbox.send('long');
  outbox.send('short');
  await settle();
  expect(state()).toEqual([['long', null, 'Too long.'], ['short', 'm2', null]]);
  outbox.discard(outbox.messages.value[0]!.key);
  expect(state()).toEqual([['short', 'm2', null]]);
});

it('sends nothing after the page is left', async () => {
  const { env, sent, outbox } = start(new TypeError('no network'));
  outbox.send('one');
  await settle();
  outbox.close();
  await env.pass(60_000);
  expect(sent).toHaveLength(1);
});
