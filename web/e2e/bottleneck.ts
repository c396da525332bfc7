// A link with a given rate to the media port of a server on this machine, without privileges:
// a relay of datagrams, and a page that knows only this relay.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Maximum queue in front of the link, as a time. Chosen by us: the queue of a mobile link. */
const QUEUE_MS = 300;
/** IP and UDP headers in bytes. */
const HEADERS = 28;

export interface Bottleneck {
  /** Runs in the page before its own scripts, so that its media takes the link. */
  readonly before: () => void;
  close(): void;
}

/** Returns a UDP port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const socket = await bound();
  const { port } = socket.address();
  socket.close();
  return port;
}

/** Starts a link to this port of loopback, which carries `rate` bit/s towards the page and everything from it. */
export async function startBottleneck(port: number, rate: number): Promise<Bottleneck> {
  const page = await bound();
  // The server distinguishes the page's addresses by these sockets' addresses.
  const ways = new Map<string, Socket>();
  const queue: { readonly datagram: Buffer; readonly to: RemoteInfo }[] = [];
  let waiting = 0;
  let credit = 0;
  let last = performance.now();
  const bits = (datagram: Buffer): number => (datagram.length + HEADERS) * 8;
  const timer = setInterval(() => {
    const now = performance.now();
    credit = Math.min(credit + ((now - last) * rate) / 1_000, rate / 20);
    last = now;
    while (credit > 0) {
      const first = queue.shift();
      if (first === undefined) return;
      waiting -= bits(first.datagram);
      credit -= bits(first.datagram);
      page.send(first.datagram, first.to.port, first.to.address);
    }
  }, 2);
  const wayOf = (from: RemoteInfo): Socket => {
    const key = `${from.address}:${from.port}`;
    const known = ways.get(key);
    if (known !== undefined) return known;
    const way = createSocket('udp4');
    ways.set(key, way);
    way.on('message', (datagram) => {
      if (waiting + bits(datagram) > (rate * QUEUE_MS) / 1_000) return;
      waiting += bits(datagram);
      queue.push({ datagram, to: from });
    });
    return way;
  };
  page.on('message', (datagram, from) => wayOf(from).send(datagram, port, '127.0.0.1'));
  return {
    before: new Function(`(${takeRelay.toString()})(${page.address().port})`) as () => void,
    close: () => {
      clearInterval(timer);
      page.close();
      for (const way of ways.values()) way.close();
    },
  };
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** Offers the relay to the page in place of the server, and hides the page's addresses from the
 *  server. */
function takeRelay(relay: number): void {
  const isCandidate = (line: string): boolean => line.startsWith('a=candidate:');
  const toRelay = (sdp: string): string => {
    const lines = sdp.split('\r\n').filter((line) => !isCandidate(line) || / udp /i.test(line));
    return lines.map((line) => (isCandidate(line) ? line.replace(/ \S+ \d+ typ /, ` 127.0.0.1 ${relay} typ `) : line)).join('\r\n');
  };
  const { setRemoteDescription } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.setRemoteDescription = function (this: RTCPeerConnection, { type, sdp = '' }: RTCSessionDescriptionInit) {
    return Reflect.apply(setRemoteDescription, this, [{ type, sdp: toRelay(sdp) }]) as Promise<void>;
  } as typeof setRemoteDescription;
  const send = globalThis.fetch;
  globalThis.fetch = (to, init) => {
    const text = init?.body;
    if (typeof text !== 'string') return send(to, init);
    const body = text.split('\r\n').filter((line) => !isCandidate(line));
    return send(to, { ...init, body: body.join('\r\n') });
  };
}
