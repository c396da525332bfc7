// Messages of the server, and the readers that parse them from unknown JSON. A reader
// never throws; unreadable parts become a neutral value or null.

export type LinkState = 'up' | 'suspect' | 'down';

/** Link of a native sender, with its own measurements. */
export interface Link {
  readonly name: string;
  readonly state: LinkState;
  readonly rttMs: number | null;
  readonly sentMbps: number | null;
  readonly targetMbps: number | null;
  /** Share of packets lost, 0 to 1. */
  readonly loss: number | null;
  readonly metered: boolean;
  /** Whether it is used only while no other link works. */
  readonly backup: boolean;
  /** Remaining budget; null if it has none. */
  readonly budgetLeftMb: number | null;
  /** Reason in one word why it carries no packets; null if it works, or the reason is unknown. */
  readonly trouble: string | null;
}

export type ParticipantKind = 'browser' | 'native' | 'whip';

/** Video stream. */
export interface Camera {
  /** Caption chosen by the owner. */
  readonly name: string | null;
  /** Whether it is a shared screen. */
  readonly screen: boolean;
  /** Whether it sends nothing, and only keeps its place before a camera that is on. */
  readonly off: boolean;
}

/** Published tracks; the cameras in order. */
export interface Publishing {
  readonly cameras: readonly Camera[];
  readonly audio: boolean;
}

/** State of a participant's own upload; `none` also for older servers, which do not report it. */
export type Upload = 'not_allowed' | 'none' | 'connected' | 'lost';

export interface Participant {
  readonly id: string;
  readonly name: string;
  readonly kind: ParticipantKind;
  readonly publishing: Publishing;
  readonly upload: Upload;
  readonly links: readonly Link[];
  /** Whether a moderator has muted them. */
  readonly muted: boolean;
  readonly moderator: boolean;
  /** Place in the order of raised hands; null while the hand is down. */
  readonly hand: number | null;
  /** Id of the same person on their previous server; null for others. */
  readonly succeeds: string | null;
}

/** Settings of a room, made by its moderators. */
export interface Settings {
  readonly locked: boolean;
  readonly waitingRoom: boolean;
  /** Whether the server records the room. */
  readonly recorded: boolean;
}

/** Participant who waits for admission. */
export interface Waiting {
  readonly id: string;
  readonly name: string;
}

/** Message in the chat of a room. */
export interface ChatMessage {
  readonly id: string;
  /** Id of the author. */
  readonly from: string;
  /** Name of the author when it was sent. */
  readonly name: string;
  readonly text: string;
  /** Milliseconds since 1970; null if unknown. */
  readonly at: number | null;
}

/** Reactions in the order of their buttons. */
export const REACTIONS = ['thumbs_up', 'clap', 'heart', 'laugh', 'surprise', 'party'] as const;
export type Reaction = (typeof REACTIONS)[number];

export interface Welcome {
  readonly id: string;
  /** Secret that proves our identity to the server. */
  readonly secret: string;
  readonly room: string;
  readonly participants: readonly Participant[];
  readonly settings: Settings;
  /** Whether the server can record the room. */
  readonly recordable: boolean;
  /** STUN and TURN servers with our credentials. */
  readonly iceServers: readonly RTCIceServer[];
}

/** Use of a media section of our receiving connection. */
export interface Line {
  /** Identification of the media section (RFC 9143). */
  readonly mid: string;
  readonly participant: string;
  /** Index of the camera among its owner's; null for sound. */
  readonly camera: number | null;
  /** Whether the server sends no picture because the connection is too slow. */
  readonly paused: boolean;
}

/** State that a person forces on a link of the demo; null returns it to the script. */
export type Forced = 'cut' | 'up' | null;

export interface DemoLink {
  readonly name: string;
  readonly up: boolean;
  readonly forced: Forced;
  readonly state: LinkState;
  readonly capacityMbps: number | null;
  readonly sentMbps: number | null;
  readonly rttMs: number | null;
  readonly loss: number | null;
  readonly queueMs: number | null;
}

export interface CallFigures {
  readonly fps: number | null;
  readonly frozen: boolean;
  readonly freezeS: number | null;
  readonly freezeCount: number | null;
  readonly e2eMs: number | null;
  readonly throughputMbps: number | null;
  /** Width of the newest picture in pixels. */
  readonly width: number | null;
  readonly height: number | null;
}

/** Setting of the weft call that can change while it runs. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly choices: readonly string[];
}

/** Sample of the demo, four a second. */
export interface Tick {
  /** Seconds since the start of the demo. */
  readonly t: number;
  readonly phase: string;
  readonly links: readonly DemoLink[];
  readonly calls: ReadonlyMap<string, CallFigures>;
  /** Settings of the weft call. */
  readonly settings: readonly Setting[];
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function text(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

function figure(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function list<T>(value: unknown, read: (item: unknown) => T | null): T[] {
  if (!Array.isArray(value)) return [];
  return value.map(read).filter((item): item is T => item !== null);
}

function linkState(value: unknown, up: unknown): LinkState {
  if (value === 'up' || value === 'suspect' || value === 'down') return value;
  return up === false ? 'down' : 'up';
}

export function readLink(value: unknown): Link | null {
  const from = fields(value);
  if (from === null || typeof from['name'] !== 'string') return null;
  return {
    name: from['name'],
    state: linkState(from['state'], from['up']),
    rttMs: figure(from['rtt_ms']),
    sentMbps: figure(from['sent_mbps']),
    targetMbps: figure(from['target_mbps']),
    loss: figure(from['loss']),
    metered: from['metered'] === true,
    backup: from['backup'] === true,
    budgetLeftMb: figure(from['budget_left_mb']),
    trouble: text(from['trouble']) || null,
  };
}

export function readLinks(value: unknown): Link[] {
  return list(value, readLink);
}

function readCamera(value: unknown): Camera {
  const from = fields(value);
  const name = text(from?.['name']).trim();
  return { name: name === '' ? null : name, screen: from?.['screen'] === true, off: from?.['off'] === true };
}

/** Maximum number of pictures per participant: the limit of the server. */
const MAX_CAMERAS = 4;

export function readPublishing(value: unknown): Publishing {
  const from = fields(value);
  return { cameras: list(from?.['cameras'], readCamera).slice(0, MAX_CAMERAS), audio: from?.['audio'] === true };
}

export const nothing: Publishing = { cameras: [], audio: false };

function readUpload(value: unknown): Upload {
  return value === 'not_allowed' || value === 'connected' || value === 'lost' ? value : 'none';
}

export function readParticipant(value: unknown): Participant | null {
  const from = fields(value);
  if (from === null || typeof from['id'] !== 'string') return null;
  const kind = from['kind'];
  return {
    id: from['id'],
    name: text(from['name'], from['id']),
    kind: kind === 'native' || kind === 'whip' ? kind : 'browser',
    publishing: readPublishing(from['publishing']),
    upload: readUpload(from['upload']),
    links: readLinks(from['links']),
    muted: from['muted'] === true,
    moderator: from['moderator'] === true,
    hand: figure(from['hand']),
    succeeds: text(from['succeeds']) || null,
  };
}

/** Latest time that a `Date` supports (ECMA-262, section 21.4.1.1). */
const LATEST = 8.64e15;

export function readChatMessage(value: unknown): ChatMessage | null {
  const from = fields(value);
  if (from === null || typeof from['id'] !== 'string' || typeof from['text'] !== 'string') return null;
  const at = figure(from['at']);
  return { id: from['id'], from: text(from['from']), name: text(from['name']), text: from['text'], at: at !== null && Math.abs(at) <= LATEST ? at : null };
}

export function readSettings(value: unknown): Settings {
  const from = fields(value);
  return { locked: from?.['locked'] === true, waitingRoom: from?.['waiting_room'] === true, recorded: from?.['recorded'] === true };
}

/** Reads the `recording` event of a room: a failure, for moderators. */
export function readRecordingError(value: unknown): string | null {
  const error = fields(value)?.['error'];
  return typeof error === 'string' ? error : null;
}

/** Server of the cluster to move to. */
export interface Destination {
  /** Origin of its URL. */
  readonly url: string;
  /** Token for it; null if it requires none. */
  readonly token: string | null;
}

/** Reads the `move` event of a room. */
export function readMove(value: unknown): Destination | null {
  const from = fields(value);
  try {
    return { url: new URL(text(from?.['url'])).origin, token: text(from?.['token']) || null };
  } catch {
    return null;
  }
}

/** Reads the `cluster` event of a room: whether the server is connected to the other servers. */
export function readReachable(value: unknown): boolean {
  return fields(value)?.['reachable'] !== false;
}

/** Reads the `queue` event of a room: all participants who wait for admission. */
export function readQueue(value: unknown): Waiting[] {
  return list(fields(value)?.['waiting'], (each) => {
    const id = readId(each);
    return id === null ? null : { id, name: text(fields(each)?.['name'], id) };
  });
}

/** Reads the `history` event of a room: messages that we do not have, the oldest first. */
export function readHistory(value: unknown): ChatMessage[] {
  return list(fields(value)?.['messages'], readChatMessage);
}

/** Reads the `ended` event of a room: the name of a connection that the server has ended. */
export function readEnded(value: unknown): string | null {
  const resource = fields(value)?.['resource'];
  return typeof resource === 'string' ? resource : null;
}

/** Reads the `reaction` event of a room. */
export function readReaction(value: unknown): { readonly id: string; readonly reaction: Reaction } | null {
  const from = fields(value);
  const reaction = REACTIONS.find((each) => each === from?.['reaction']);
  return typeof from?.['id'] === 'string' && reaction !== undefined ? { id: from['id'], reaction } : null;
}

export function readWelcome(value: unknown): Welcome | null {
  const from = fields(value);
  if (from === null || typeof from['id'] !== 'string') return null;
  return {
    id: from['id'],
    secret: text(from['secret']),
    room: text(from['room']),
    participants: list(from['participants'], readParticipant),
    settings: readSettings(from['settings']),
    recordable: from['recordable'] === true,
    iceServers: readIceServers(from['ice_servers']),
  };
}

/** Reads STUN and TURN servers with our credentials. */
export function readIceServers(value: unknown): readonly RTCIceServer[] {
  return list(value, (each) => {
    const from = fields(each);
    if (from === null || typeof from['urls'] !== 'string') return null;
    const server = { urls: from['urls'] };
    const { username, credential } = from;
    return typeof username === 'string' && typeof credential === 'string' ? { ...server, username, credential } : server;
  });
}

/** Reads the `links` event of a room: a participant and their links. */
export function readLinksOf(value: unknown): { readonly id: string; readonly links: readonly Link[] } | null {
  const from = fields(value);
  if (from === null || typeof from['id'] !== 'string') return null;
  return { id: from['id'], links: readLinks(from['links']) };
}

/** Reads the `visitor` event of the demo: the number by which links are cut. */
export function readVisitor(value: unknown): number | null {
  return figure(fields(value)?.['id']);
}

/** State of a machine that is too slow for its cameras. */
export interface Slow {
  /** Share of missed pictures, 0 to 1. */
  readonly missed: number;
  /** Smaller picture size that would help; null if there is none. */
  readonly smaller: string | null;
}

/** Reads the `slow` event of the demo; null if the machine keeps up again. */
export function readSlow(value: unknown): Slow | null {
  const from = fields(value);
  const missed = figure(from?.['missed']);
  const smaller = text(from?.['smaller']);
  return missed === null ? null : { missed, smaller: smaller === '' ? null : smaller };
}

function readLine(value: unknown): Line | null {
  const from = fields(value);
  const [mid, participant, camera] = [from?.['mid'], from?.['participant'], figure(from?.['camera'])];
  if (typeof mid !== 'string' || typeof participant !== 'string') return null;
  if (from?.['kind'] === 'audio') return { mid, participant, camera: null, paused: false };
  if (from?.['kind'] !== 'video' || camera === null || !Number.isInteger(camera) || camera < 0 || camera >= MAX_CAMERAS) return null;
  return { mid, participant, camera, paused: from['paused'] === true };
}

/** News about our receiving connection. */
export interface ReceptionNews {
  /** Id of the connection on the server; empty in the answer to a request on it. */
  readonly resource: string;
  /** All lines that carry a track; null if the message has no list. */
  readonly lines: readonly Line[] | null;
  /** Offer of the server that waits for our answer. */
  readonly offer: string | null;
}

/** Reads the events `reception` and `offer` of a room, and the answer to a view. */
export function readReception(value: unknown): ReceptionNews {
  const from = fields(value);
  return {
    resource: text(from?.['resource']),
    lines: Array.isArray(from?.['lines']) ? list(from['lines'], readLine) : null,
    offer: text(from?.['sdp']) || text(from?.['offer']) || null,
  };
}

/** Encodings of each picture to send, in the order of the offer. */
export interface Wanted {
  /** Id of our publication on the server. */
  readonly resource: string;
  readonly cameras: readonly (readonly boolean[])[];
}

/** Reads the `wanted` event of a room. */
export function readWanted(value: unknown): Wanted {
  const from = fields(value);
  const encodings = (camera: unknown): boolean[] => list(camera, (each) => each !== false);
  return { resource: text(from?.['resource']), cameras: list(from?.['cameras'], encodings) };
}

export function readId(value: unknown): string | null {
  const id = fields(value)?.['id'];
  return typeof id === 'string' ? id : null;
}

function readDemoLink(value: unknown): DemoLink | null {
  const from = fields(value);
  if (from === null || typeof from['name'] !== 'string') return null;
  const forced = from['forced'];
  const state = linkState(from['state'], from['up']);
  return {
    name: from['name'],
    up: typeof from['up'] === 'boolean' ? from['up'] : state !== 'down',
    forced: forced === 'cut' || forced === 'up' ? forced : null,
    state,
    capacityMbps: figure(from['capacity_mbps']),
    sentMbps: figure(from['sent_mbps']),
    rttMs: figure(from['rtt_ms']),
    loss: figure(from['loss']),
    queueMs: figure(from['queue_ms']),
  };
}

function readCall(value: unknown): CallFigures | null {
  const from = fields(value);
  if (from === null) return null;
  return {
    fps: figure(from['fps']),
    frozen: from['frozen'] === true,
    freezeS: figure(from['freeze_s']),
    freezeCount: figure(from['freeze_count']),
    e2eMs: figure(from['e2e_ms']),
    throughputMbps: figure(from['throughput_mbps']),
    width: figure(from['width']),
    height: figure(from['height']),
  };
}

function readSetting(value: unknown): Setting | null {
  const from = fields(value);
  if (from === null || typeof from['name'] !== 'string' || typeof from['value'] !== 'string') return null;
  const choices = list(from['choices'], (choice) => (typeof choice === 'string' ? choice : null));
  return { name: from['name'], value: from['value'], choices };
}

export function readTick(value: unknown): Tick | null {
  const from = fields(value);
  const t = figure(from?.['t']);
  if (from === null || t === null) return null;
  const calls = new Map<string, CallFigures>();
  for (const [name, call] of Object.entries(fields(from['calls']) ?? {})) {
    const figures = readCall(call);
    if (figures !== null) calls.set(name, figures);
  }
  return {
    t,
    phase: text(from['phase']),
    links: list(from['links'], readDemoLink),
    calls,
    settings: list(from['settings'], readSetting),
  };
}
