// Manual replacements of browser features for the tests.

import type { Env } from '../signal/env';

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  /** Secret that proves the identity. */
  readonly secret: string | null;
  /** Last event that the client has read. */
  readonly read: string | null;
  /** Authorization that was sent. */
  readonly token: string | null;
}

type Handler = (call: Call, signal: AbortSignal | null) => Response | Promise<Response>;

interface FakeSender {
  track: unknown;
  replaceTrack: (track: unknown) => Promise<void>;
  getParameters: () => { transactionId: string; encodings: { active: boolean }[] };
  /** Refuses outdated parameters, like browsers. */
  setParameters: (parameters: { transactionId: string; encodings: { active: boolean }[] }) => Promise<void>;
}

function fakeSender(track: unknown, count: number): FakeSender {
  let encodings = Array.from({ length: count }, () => ({ active: true }));
  let version = 0;
  const sender: FakeSender = {
    getParameters: () => ({ transactionId: `${++version}`, encodings: encodings.map((encoding) => ({ ...encoding })) }),
    setParameters: async (parameters) => {
      await Promise.resolve();
      if (parameters.transactionId !== `${version}`) throw new Error('InvalidStateError');
      encodings = parameters.encodings;
    },
    track,
    replaceTrack: (next) => {
      sender.track = next;
      return Promise.resolve();
    },
  };
  return sender;
}

export class FakeTransceiver {
  readonly sender: FakeSender;
  codecs: readonly { mimeType: string }[] | null = null;
  readonly mid = null;
  /** Null if it was added without a track. */
  readonly track: { kind: string } | null;

  constructor(
    of: { kind: string } | string,
    readonly init: RTCRtpTransceiverInit,
  ) {
    this.track = typeof of === 'string' ? null : of;
    this.sender = fakeSender(this.track, (init.sendEncodings ?? []).length);
  }

  setCodecPreferences(codecs: { mimeType: string }[]): void {
    this.codecs = codecs;
  }
}

/** Media section of an offer to a `FakePeer`. */
export interface FakeLine {
  readonly mid: string;
  direction: RTCRtpTransceiverDirection;
  readonly sender: FakeSender;
  readonly receiver: {
    readonly track: { readonly kind: string; readonly id: string };
    /** Pictures and packets so far. */
    count: number;
    readonly getStats: () => Promise<ReadonlyMap<string, object>>;
  };
}

function fakeLine(kind: string, mid: string): FakeLine {
  const receiver = {
    track: { kind, id: mid },
    count: 0,
    getStats: () => Promise.resolve(new Map([['in', { type: 'inbound-rtp', framesDecoded: receiver.count, packetsReceived: receiver.count }]])),
  };
  return { mid, direction: 'recvonly', sender: fakeSender(null, 1), receiver };
}

/** Returns a description with these media sections, as far as a `FakePeer` reads it. */
export function sections(name: string, lines: Readonly<Record<string, 'audio' | 'video'>>): string {
  return [`s=${name}`, ...Object.entries(lines).map(([mid, kind]) => `m=${kind} 9 x 96\na=mid:${mid}`)].join('\n');
}

/** Records its calls; candidates are complete at once. */
export class FakePeer {
  readonly log: string[] = [];
  readonly transceivers: FakeTransceiver[] = [];
  /** Media sections with an id in the server's offers so far. */
  readonly lines: FakeLine[] = [];
  connectionState: RTCPeerConnectionState = 'new';
  iceGatheringState: RTCIceGatheringState = 'complete';
  localDescription: { type: string; sdp: string } | null = null;
  iceServers: readonly RTCIceServer[] = [];
  onconnectionstatechange: (() => void) | null = null;
  onicegatheringstatechange: (() => void) | null = null;
  ontrack: ((event: { track: { kind: string } }) => void) | null = null;

  constructor(readonly offered: readonly string[]) {}

  addTransceiver(track: { kind: string } | string, init: RTCRtpTransceiverInit): FakeTransceiver {
    const transceiver = new FakeTransceiver(track, init);
    this.transceivers.push(transceiver);
    return transceiver;
  }

  setRemoteDescription(description: { type: string; sdp: string }): Promise<void> {
    this.log.push(`remote ${description.type} ${description.sdp}`);
    if (description.type === 'offer') {
      for (const kind of this.offered) this.ontrack?.({ track: { kind } });
      for (const [, kind = '', mid = ''] of description.sdp.matchAll(/^m=(\w+) .*\na=mid:(\w+)$/gm)) {
        if (!this.lines.some((line) => line.mid === mid)) this.lines.push(fakeLine(kind, mid));
      }
    }
    return Promise.resolve();
  }

  getTransceivers(): readonly FakeLine[] {
    return this.lines;
  }

  createOffer(): Promise<{ type: string; sdp: string }> {
    return Promise.resolve({ type: 'offer', sdp: 'our offer' });
  }

  createAnswer(): Promise<{ type: string; sdp: string }> {
    return Promise.resolve({ type: 'answer', sdp: 'our answer' });
  }

  setLocalDescription(description: { type: string; sdp: string }): Promise<void> {
    this.log.push(`local ${description.type}`);
    this.localDescription = description;
    return Promise.resolve();
  }

  close(): void {
    this.log.push('close');
  }

  /** Sets the state of the transport. */
  become(state: RTCPeerConnectionState): void {
    this.connectionState = state;
    this.onconnectionstatechange?.();
  }
}

class FakeStream {
  readonly #tracks = new Set<{ kind: string }>();

  addTrack(track: { kind: string }): void {
    this.#tracks.add(track);
  }

  removeTrack(track: { kind: string }): void {
    this.#tracks.delete(track);
  }

  getTracks(): readonly { kind: string }[] {
    return [...this.#tracks];
  }
}

export class FakeEnv implements Env {
  readonly calls: Call[] = [];
  readonly peers: FakePeer[] = [];
  readonly stored = new Map<string, string>();
  readonly storage = {
    getItem: (key: string): string | null => this.stored.get(key) ?? null,
    setItem: (key: string, value: string): void => void this.stored.set(key, value),
    removeItem: (key: string): void => void this.stored.delete(key),
  };
  codecs: { mimeType: string }[] = [];
  /** Kinds of media in the server's offers from now on. */
  offered: readonly string[] = ['audio', 'video'];
  #handler: Handler = () => new Response(null, { status: 404 });
  #now = 0;
  #timers: { at: number; what: () => void }[] = [];

  /** Answers every request from now on. */
  answer(handler: Handler): void {
    this.#handler = handler;
  }

  freshFetch(): Promise<Env['fetch']> {
    return Promise.resolve((url, init) => this.fetch(url, init));
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const [secret, read, token] = ['weft-secret', 'last-event-id', 'authorization'].map((name) => headers.get(name));
    const call = { method: init.method ?? 'GET', url, body: init.body ?? null, secret: secret ?? null, read: read ?? null, token: token ?? null };
    this.calls.push(call);
    return this.#handler(call, init.signal ?? null);
  }

  newPeer(iceServers: readonly RTCIceServer[]): RTCPeerConnection {
    const peer = new FakePeer(this.offered);
    peer.iceServers = iceServers;
    this.peers.push(peer);
    return peer as unknown as RTCPeerConnection;
  }

  newStream(): MediaStream {
    return new FakeStream() as unknown as MediaStream;
  }

  videoCodecs(): RTCRtpCodec[] {
    return this.codecs as RTCRtpCodec[];
  }

  random(): string {
    return 'page';
  }

  after(ms: number, what: () => void): () => void {
    const timer = { at: this.#now + ms, what };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Pending timers, as ms from now. */
  get waits(): number[] {
    return this.#timers.map((timer) => timer.at - this.#now).sort((a, b) => a - b);
  }

  /** Advances the time by `ms`, with timers in order and their consequences. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.what();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Requests as "METHOD url". */
  get requests(): string[] {
    return this.calls.map((call) => `${call.method} ${call.url}`);
  }

  get peer(): FakePeer {
    const peer = this.peers.at(-1);
    if (peer === undefined) throw new Error('no peer connection was made');
    return peer;
  }
}

/** Lets resolved promises run to completion. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}

/** A 201 with SDP, like the answers of WHIP and WHEP. */
export function created(location: string, sdp: string): Response {
  return new Response(sdp, { status: 201, headers: { location, 'content-type': 'application/sdp' } });
}

/** A refusal in the server's words. */
export function refused(status: number, error: string, remedy: string): Response {
  return new Response(JSON.stringify({ error, remedy }), { status, headers: { 'content-type': 'application/json' } });
}

/** A response whose body is written piece by piece. */
export class FakeBody {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  /** Breaks like a real body when `signal` aborts. */
  constructor(signal: AbortSignal | null) {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    signal?.addEventListener('abort', () => this.#controller?.error(new DOMException('aborted', 'AbortError')));
    this.response = new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  }

  async write(text: string): Promise<void> {
    this.#controller?.enqueue(new TextEncoder().encode(text));
    await settle();
  }

  async event(name: string, value: unknown): Promise<void> {
    await this.write(`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  async end(): Promise<void> {
    this.#controller?.close();
    await settle();
  }
}

export function track(kind: 'audio' | 'video'): MediaStreamTrack {
  return { kind } as MediaStreamTrack;
}
