/** What the signalling machines need of the browser; tests hand in their own. */
export interface Env {
  fetch(input: string, init?: RequestInit): Promise<Response>;
  newPeer(): RTCPeerConnection;
  newStream(): MediaStream;
  /** The video codecs that can be sent, in the browser's own order. */
  videoCodecs(): RTCRtpCodec[];
  /** What this tab remembers from one page to the next; null where that is forbidden. */
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** Runs `what` after `ms`; returns the function that takes it back. */
  after(ms: number, what: () => void): () => void;
}

export function browserEnv(): Env {
  return {
    fetch: (input, init) => globalThis.fetch(input, init),
    // max-bundle: one transport for sound and picture, which is all weft offers.
    newPeer: () => new RTCPeerConnection({ bundlePolicy: 'max-bundle' }),
    newStream: () => new MediaStream(),
    videoCodecs: () => RTCRtpReceiver.getCapabilities('video')?.codecs ?? [],
    storage: tabStorage(),
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
