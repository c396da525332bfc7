import { freshFetch } from './frame';

/** Browser features used by the signalling; tests provide their own. */
export interface Env {
  fetch(input: string, init?: RequestInit): Promise<Response>;
  /** `fetch` for servers that joined the cluster after the page was loaded. */
  freshFetch(): Promise<Env['fetch']>;
  newPeer(iceServers: readonly RTCIceServer[]): RTCPeerConnection;
  newStream(): MediaStream;
  /** Video codecs that the browser can send, in its own order. */
  videoCodecs(): RTCRtpCodec[];
  /** Storage of this tab across pages; null if storage is forbidden. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** Text that is unique to this page. */
  random(): string;
  /** Runs `what` after `ms`; returns a function that cancels it. */
  after(ms: number, what: () => void): () => void;
}

export function browserEnv(): Env {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    freshFetch,
    // max-bundle: one transport for sound and picture, the only form that weft
    // offers.
    newPeer: (iceServers) => new RTCPeerConnection({ bundlePolicy: 'max-bundle', iceServers: [...iceServers] }),
    newStream: () => new MediaStream(),
    videoCodecs: () => RTCRtpReceiver.getCapabilities('video')?.codecs ?? [],
    storage: tabStorage(),
    // randomUUID is missing in pages without TLS.
    random: () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    after: (ms, what) => {
      const timer = globalThis.setTimeout(what, ms);
      return () => globalThis.clearTimeout(timer);
    },
  };
}

function tabStorage(): Storage | null {
  try {
    return globalThis.sessionStorage;
  } catch {
    return null;
  }
}
