import { describe, expect, it } from 'vitest';
import { FakeBody, FakeEnv, refused, settle } from '../testing/fakes';
import { EventStream, MessageParser } from './sse';

describe('MessageParser', () => {
  const whole = 'event: tick\ndata: {"t":1}\n\n: comment\n\ndata: a\ndata:b\nid: 7\n\n';
  const messages = [
    { event: 'tick', data: '{"t":1}' },
    { event: 'message', data: 'a\nb' },
  ];

  it('reads events, default names, comments and several lines of data', () => {
    expect(new MessageParser().push(whole)).toEqual(messages);
  });

  it.each(['\n', '\r\n', '\r'])('reads the same however it is cut, with line ends %j', (end) => {
    const text = whole.replaceAll('\n', end);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new MessageParser();
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(messages);
    }
  });

  it('keeps an event without data to itself', () => {
    expect(new MessageParser().push('event: nothing\n\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }]);
  });

  it('gives up an event without end', () => {
    const parser = new MessageParser();
    const line = `data: ${'x'.repeat(1000)}\n`;
    expect(() => {
      for (let count = 0; count < 2000; count += 1) parser.push(line);
    }).toThrow();
  });
});

function start(silenceMs = 10_000) {
  const env = new FakeEnv();
  const bodies: FakeBody[] = [];
  const seen: [string, unknown][] = [];
  env.answer((_, signal) => {
    const body = new FakeBody(signal);
    bodies.push(body);
    return body.response;
  });
  const stream = new EventStream(env, { url: () => '/events', onMessage: (name, value) => seen.push([name, value]), silenceMs });
  stream.open();
  return { env, bodies, seen, stream };
}

describe('EventStream', () => {
  it('delivers JSON and passes over what is none', async () => {
    const { bodies, seen, stream } = start();
    await settle();
    expect(stream.state.value.kind).toBe('open');
    await bodies[0]?.write('event: a\ndata: {"x":1}\n\nevent: b\ndata: not json\n\n');
    expect(seen).toEqual([['a', { x: 1 }]]);
  });

  it('connects again half a second after the end', async () => {
    const { env, bodies, stream } = start();
    await settle();
    await bodies[0]?.end();
    expect(stream.state.value.kind).toBe('waiting');
    await env.pass(499);
    expect(env.calls).toHaveLength(1);
    await env.pass(1);
    expect(env.calls).toHaveLength(2);
    expect(stream.state.value.kind).toBe('open');
  });

  it('waits longer each time until a message comes, 2 s at most for a minute and then 8 s', async () => {
    const { env, bodies } = start();
    await settle();
    const waits: number[] = [];
    for (let round = 0; round < 35; round += 1) {
      await bodies.at(-1)?.end();
      const wait = env.waits[0] ?? 0;
      waits.push(wait);
      await env.pass(wait);
    }
    expect(waits.slice(0, 5)).toEqual([500, 1000, 2000, 2000, 2000]);
    expect(waits.slice(-4)).toEqual([2000, 4000, 8000, 8000]);
    await bodies.at(-1)?.event('a', {});
    await bodies.at(-1)?.end();
    expect(env.waits).toEqual([500]);
  });

  it('takes silence for a broken connection, and a comment for a living one', async () => {
    const { env, bodies, stream } = start(10_000);
    await settle();
    await env.pass(9_000);
    await bodies[0]?.write(': still here\n\n');
    await env.pass(9_000);
    expect(stream.state.value.kind).toBe('open');
    await env.pass(1_000);
    expect(stream.state.value).toMatchObject({ kind: 'waiting', problem: { error: 'The server has gone silent.' } });
  });

  it('fails for good with the words of the server', async () => {
    const { env, stream } = start();
    env.answer(() => refused(404, 'There is no room “x”.', 'Ask for its name.'));
    stream.close();
    const second = new EventStream(env, { url: () => '/events', onMessage: () => undefined, silenceMs: 1000 });
    second.open();
    await settle();
    expect(second.state.value).toEqual({
      kind: 'failed',
      problem: { error: 'There is no room “x”.', remedy: 'Ask for its name.', temporary: false },
    });
    expect(env.waits).toEqual([]);
  });

  it('tries a server that does not answer again', async () => {
    const env = new FakeEnv();
    env.answer(() => Promise.reject(new TypeError('network')));
    const stream = new EventStream(env, { url: () => '/events', onMessage: () => undefined, silenceMs: 1000 });
    stream.open();
    await settle();
    expect(stream.state.value).toMatchObject({ kind: 'waiting', problem: { error: 'The weft server does not answer.' } });
    expect(env.waits).toEqual([500]);
  });

  it('says nothing more after close', async () => {
    const { env, bodies, seen, stream } = start();
    await settle();
    stream.close();
    await bodies[0]?.event('a', {}).catch(() => undefined);
    await env.pass(60_000);
    expect(seen).toEqual([]);
    expect(env.calls).toHaveLength(1);
    expect(stream.state.value.kind).toBe('closed');
  });
});
