// State of `weft join` or `weft call` for the page beside the sender.

import { readLinks, type Link } from '../model/types';

export type LinkUse = 'use' | 'backup' | 'off';
export type MicrophoneState = 'none' | 'on' | 'off' | 'muted';
export type SwitchState = 'none' | 'on' | 'off';

export interface JoinedLink {
  readonly link: Link;
  readonly use: LinkUse;
  /** Bytes carried in both directions, in MB. */
  readonly carriedMb: number;
}

export interface JoinState {
  /** Command that runs the call. */
  readonly command: 'join' | 'call';
  readonly title: string;
  readonly name: string;
  readonly seconds: number;
  readonly connected: boolean;
  readonly links: readonly JoinedLink[];
  readonly microphone: MicrophoneState;
  readonly cameras: SwitchState;
  /** Recording of the others. */
  readonly recording: SwitchState;
  /** Fault of the recording; null without a fault. */
  readonly recordingError: string | null;
  readonly others: readonly string[];
  /** Number of own cameras. */
  readonly previews: number;
  readonly pictures: readonly JoinPicture[];
}

/** Camera of another participant. */
export interface JoinPicture {
  readonly participant: string;
  readonly camera: number;
  readonly name: string;
}

function readPicture(value: unknown): JoinPicture[] {
  const from = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const { participant, camera, name } = from;
  return typeof participant === 'string' && typeof camera === 'number' && typeof name === 'string' ? [{ participant, camera, name }] : [];
}

function readSwitch(value: unknown): SwitchState {
  return value === 'on' || value === 'off' ? value : 'none';
}

/** Reads the state; null if the token is invalid. */
export function readJoinState(value: unknown): JoinState | null {
  const from = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof from['title'] !== 'string') return null;
  const raw = Array.isArray(from['links']) ? (from['links'] as unknown[]) : [];
  const links = readLinks(raw).map((link, place): JoinedLink => {
    const own = raw[place] as Record<string, unknown>;
    const use = own['use'];
    const carried = own['carried_mb'];
    return {
      link,
      use: use === 'backup' || use === 'off' ? use : 'use',
      carriedMb: typeof carried === 'number' ? carried : 0,
    };
  });
  const microphone = from['microphone'];
  return {
    command: from['command'] === 'call' ? 'call' : 'join',
    title: from['title'],
    name: typeof from['name'] === 'string' ? from['name'] : '',
    seconds: typeof from['seconds'] === 'number' ? from['seconds'] : 0,
    connected: from['connected'] === true,
    links,
    microphone: microphone === 'on' || microphone === 'off' || microphone === 'muted' ? microphone : 'none',
    cameras: readSwitch(from['cameras']),
    recording: readSwitch(from['recording']),
    recordingError: typeof from['recording_error'] === 'string' ? from['recording_error'] : null,
    previews: typeof from['previews'] === 'number' ? from['previews'] : 0,
    pictures: Array.isArray(from['pictures']) ? (from['pictures'] as unknown[]).flatMap(readPicture) : [],
    others: Array.isArray(from['others']) ? from['others'].filter((name) => typeof name === 'string') : [],
  };
}
