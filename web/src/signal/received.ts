// Media of all participants, as carried by the lines of our connections. While somebody
// moves to another server, two lines carry the same camera; the later one is used as soon
// as its picture arrives, so that nobody sees a gap.

import { Store } from '../model/store';
import type { Line } from '../model/types';
import type { Env } from './env';
import { isOwn, nobody, personOf, type Presence } from './presence';

/** Picture of a camera as it arrives; a new object whenever another source or line starts. */
export interface ReceivedCamera {
  /** Stays the same while its tracks change. The stream of the first camera has the sound. */
  readonly stream: MediaStream;
  /** Track of the picture; null while none is sent. */
  readonly track: MediaStreamTrack | null;
  /** Whether the server sends no picture because the connection is too slow. */
  readonly paused: boolean;
  /** A new object whenever one picture ends before the next one arrives. */
  readonly picture: object;
}

/** Media of a person. */
export interface Received {
  /** By the camera's index; the first one exists even without a picture. */
  readonly cameras: ReadonlyMap<number, ReceivedCamera>;
  /** Receiver of the sound, for its level; null without sound. */
  readonly sound: RTCRtpReceiver | null;
}

/** Lines of a connection. */
interface Source {
  readonly lines: readonly Line[];
  readonly receiverOf: (mid: string) => RTCRtpReceiver | null;
}

/** Line that can carry a camera or a sound. */
interface Candidate {
  readonly source: object;
  readonly receiver: RTCRtpReceiver | null;
  readonly paused: boolean;
}

/** Candidates for the media of one person, the latest first. */
interface Share {
  readonly cameras: Map<number, Candidate[]>;
  readonly sound: Candidate[];
}

/** Interval of checks whether a later line carries media yet, ms. Chosen by us: a few frames, and
 *  the former line carries the same for seconds. */
const LOOK_MS = 100;

/** Received media by person. Replaces only what a new list of lines changes. */
export class ReceivedMedia {
  readonly all = new Store<ReadonlyMap<string, Received>>(new Map());
  readonly #env: Env;
  /** By connection, the latest last; there are two during a move. */
  readonly #sources = new Map<object, Source>();
  /** Receivers whose media has arrived, among those that others replaced for a while. */
  readonly #comes = new WeakSet<RTCRtpReceiver>();
  #presence = nobody;
  #chosen: Candidate[] = [];
  #cancelTimer = (): void => undefined;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Sets the participants in the room, and which of them are the same person. */
  setPresence(presence: Presence): void {
    const { participants, persons } = this.#presence;
    const same = presence.self === this.#presence.self && presence.persons === persons && presence.participants.size === participants.size;
    this.#presence = presence;
    if (!same) this.#choose();
  }

  /** Applies all lines of a connection that carry media; omits those without a receiver yet. */
  apply(source: object, lines: readonly Line[], receiverOf: (mid: string) => RTCRtpReceiver | null): void {
    this.#sources.set(source, { lines, receiverOf });
    this.#choose();
  }

  /** Forgets a connection. */
  drop(source: object): void {
    if (this.#sources.delete(source)) this.#choose();
  }

  /** Whether all media come from this connection. */
  isAllFrom(source: object): boolean {
    return this.#chosen.every((candidate) => candidate.source === source);
  }

  #choose(): void {
    this.#cancelTimer();
    const before = this.all.value;
    const after = new Map<string, Received>();
    const rivals: RTCRtpReceiver[] = [];
    this.#chosen = [];
    for (const [person, share] of this.#shares()) {
      after.set(person, this.#update(before.get(person), share, rivals));
    }
    for (const [person, { cameras }] of before) {
      if (!after.has(person)) for (const { stream } of cameras.values()) setTracks(stream, []);
    }
    if (rivals.length > 0) this.#cancelTimer = this.#env.after(LOOK_MS, () => void this.#look(rivals));
    if (after.size !== before.size || [...after].some(([id, received]) => before.get(id) !== received)) this.all.set(after);
  }

  /** Checks which of these receivers have received media. */
  async #look(rivals: readonly RTCRtpReceiver[]): Promise<void> {
    for (const rival of rivals) if (await hasMedia(rival)) this.#comes.add(rival);
    this.#choose();
  }

  /** Returns the candidates by person, without ourselves: the other server sends us what we publish
   *  at one. */
  #shares(): Map<string, Share> {
    const presence = this.#presence;
    const arrivals = [...presence.participants.keys()];
    const shares = new Map<string, Share>();
    for (const [source, { lines, receiverOf }] of [...this.#sources].reverse()) {
      const latestFirst = [...lines].sort((one, other) => arrivals.indexOf(other.participant) - arrivals.indexOf(one.participant));
      for (const line of latestFirst) {
        if (isOwn(presence, line.participant)) continue;
        const person = personOf(presence, line.participant);
        const share = shares.get(person) ?? { cameras: new Map<number, Candidate[]>(), sound: [] };
        shares.set(person, share);
        const candidate = { source, receiver: receiverOf(line.mid), paused: line.paused };
        if (line.camera === null) share.sound.push(candidate);
        else share.cameras.set(line.camera, [...(share.cameras.get(line.camera) ?? []), candidate]);
      }
    }
    return shares;
  }

  /** Returns the latest candidate whose media has arrived; adds later ones to `rivals`. */
  #best(candidates: readonly Candidate[], present: MediaStreamTrack | null, rivals: RTCRtpReceiver[]): Candidate | undefined {
    const usable = candidates.filter(({ receiver, paused }) => receiver !== null && !paused);
    const best = usable.find(({ receiver }) => receiver !== null && (receiver.track === present || this.#comes.has(receiver))) ?? usable[0] ?? candidates[0];
    if (best === undefined) return undefined;
    const later = usable.slice(0, Math.max(usable.indexOf(best), 0));
    rivals.push(...later.flatMap(({ receiver }) => receiver ?? []));
    this.#chosen.push(best);
    return best;
  }

  /** Returns the same object if nothing changes for the person. */
  #update(before: Received | undefined, share: Share, rivals: RTCRtpReceiver[]): Received {
    const sound = this.#best(share.sound, before?.sound?.track ?? null, rivals)?.receiver ?? null;
    const cameras = new Map<number, ReceivedCamera>();
    for (const place of new Set([0, ...share.cameras.keys()])) {
      const earlier = before?.cameras.get(place);
      const best = this.#best(share.cameras.get(place) ?? [], earlier?.track ?? null, rivals);
      const receiver = best?.receiver ?? null;
      const track = receiver?.track ?? null;
      const paused = best?.paused ?? false;
      // Chromium never plays sound that is added to a stream without any track.
      const stream = earlier !== undefined && earlier.stream.getTracks().length > 0 ? earlier.stream : this.#env.newStream();
      setTracks(stream, [track, place === 0 ? (sound?.track ?? null) : null]);
      const same = earlier?.stream === stream && earlier.track === track && earlier.paused === paused;
      const continues = earlier != null && earlier.track !== null && receiver !== null && this.#comes.has(receiver);
      cameras.set(place, same ? earlier : { stream, track, paused, picture: continues ? earlier.picture : {} });
    }
    for (const [place, { stream }] of before?.cameras ?? []) if (!cameras.has(place)) setTracks(stream, []);
    const same = before?.sound === sound && before.cameras.size === cameras.size && [...cameras].every(([place, each]) => before.cameras.get(place) === each);
    return same ? before : { cameras, sound };
  }
}

/** Whether a receiver has received a complete picture, or any sound. */
async function hasMedia(receiver: RTCRtpReceiver): Promise<boolean> {
  const report = await receiver.getStats().catch(() => null);
  const all = [...(report?.values() ?? [])] as Record<string, unknown>[];
  const count = receiver.track.kind === 'video' ? 'framesDecoded' : 'packetsReceived';
  return all.some((each) => each['type'] === 'inbound-rtp' && Number(each[count]) > 0);
}

/** Replaces only the tracks that differ, so that the sound continues while a picture changes. */
function setTracks(stream: MediaStream, wanted: readonly (MediaStreamTrack | null)[]): void {
  for (const track of stream.getTracks()) if (!wanted.includes(track)) stream.removeTrack(track);
  for (const track of wanted) if (track !== null && !stream.getTracks().includes(track)) stream.addTrack(track);
}
