// Camera and microphone, with remedies for missing ones.

import type { Problem } from '../model/problem';

export interface Captured {
  readonly stream: MediaStream | null;
  /** Reason why a device is missing, if one is. */
  readonly problem: Problem | null;
}

type Devices = Pick<MediaDevices, 'getUserMedia'> | undefined;

const VIDEO: MediaTrackConstraints = {
  width: { ideal: 1280 },
  height: { ideal: 720 },
  frameRate: { ideal: 30, max: 30 },
};
const AUDIO: MediaTrackConstraints = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/** Requests both, then whichever is available. Never throws. */
export async function capture(devices: Devices, secure: boolean): Promise<Captured> {
  if (devices === undefined) return { stream: null, problem: secure ? noDevices : insecure };
  try {
    return { stream: await devices.getUserMedia({ video: VIDEO, audio: AUDIO }), problem: null };
  } catch (thrown) {
    const problem = captureProblem(thrown);
    // Refused by the person, so another request would only annoy.
    if (problem === notAllowed) return { stream: null, problem };
    for (const half of [{ audio: AUDIO }, { video: VIDEO }]) {
      try {
        const stream = await devices.getUserMedia(half);
        return { stream, problem: 'audio' in half ? noCamera(thrown) : noMicrophone(thrown) };
      } catch {
        // Continues with the next kind.
      }
    }
    return { stream: null, problem };
  }
}

export type Kind = 'video' | 'audio';

/** Requests one kind, from the device with this id if given. */
export async function captureOne(devices: Devices, kind: Kind, id: string | null): Promise<MediaStreamTrack | Problem> {
  if (devices === undefined) return insecure;
  const wanted = { ...(kind === 'video' ? VIDEO : AUDIO), ...(id === null ? {} : { deviceId: { exact: id } }) };
  try {
    const stream = await devices.getUserMedia({ [kind]: wanted });
    return stream.getTracks()[0] ?? noDevices;
  } catch (thrown) {
    return captureProblem(thrown);
  }
}

/** Camera, microphone or loudspeaker to choose from. */
export interface Device {
  readonly id: string;
  readonly name: string;
}

const NAMES: Record<MediaDeviceKind, string> = { videoinput: 'Camera', audioinput: 'Microphone', audiooutput: 'Loudspeaker' };

/** Devices of a kind; browsers list them only after access to one is granted. */
export function devicesOf(all: readonly Pick<MediaDeviceInfo, 'kind' | 'deviceId' | 'label'>[], kind: MediaDeviceKind): Device[] {
  return all
    .filter((each) => each.kind === kind && each.deviceId !== '')
    .map((each, place) => ({ id: each.deviceId, name: each.label || `${NAMES[kind]} ${place + 1}` }));
}

/** Returns the id of the device in use, or of the last chosen one, if it is still plugged in. */
export function presentOf(devices: readonly Device[], used: string | undefined, kept: string | null): string | null {
  const isPresent = (id: string | null | undefined): boolean => devices.some((device) => device.id === id);
  return [used, kept].find(isPresent) ?? null;
}

const insecure: Problem = {
  error: 'Camera and microphone are not available, because this page was not loaded over a secure connection.',
  remedy: 'Open it with https://, or as http://localhost on the server’s machine. Until then you can watch and listen.',
  temporary: false,
};

const noDevices: Problem = {
  error: 'No camera and no microphone was found, so you can only watch and listen.',
  remedy: 'Plug one in and press “Try again”.',
  temporary: false,
};

const notAllowed: Problem = {
  error: 'Camera and microphone are blocked for this page, so you can only watch and listen.',
  remedy: 'Allow them with the icon beside the address, then press “Try again”.',
  temporary: false,
};

/** A device of this kind was unplugged during use. */
export function unplugged(kind: string): Problem {
  return {
    error: kind === 'video' ? 'The camera was disconnected, so the others no longer see you.' : 'The microphone was disconnected, so the others no longer hear you.',
    remedy: 'Plug it in again and press “Try again”.',
    temporary: false,
  };
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

export function captureProblem(thrown: unknown): Problem {
  switch (nameOf(thrown)) {
    case 'NotAllowedError':
    case 'SecurityError':
      return notAllowed;
    case 'NotFoundError':
    case 'OverconstrainedError':
      return noDevices;
    case 'NotReadableError':
    case 'AbortError':
      return {
        error: 'Camera and microphone cannot be opened, so you can only watch and listen.',
        remedy: 'Another program may use them: close it and press “Try again”.',
        temporary: false,
      };
    default:
      return {
        error: `Camera and microphone cannot be opened: ${thrown instanceof Error ? thrown.message : String(thrown)}.`,
        remedy: 'You can watch and listen, or press “Try again”.',
        temporary: false,
      };
  }
}

function noCamera(thrown: unknown): Problem {
  return {
    error: 'The others hear you, but no camera can be opened.',
    remedy: remedyFor(thrown, 'camera'),
    temporary: false,
  };
}

function noMicrophone(thrown: unknown): Problem {
  return {
    error: 'The others see you, but no microphone can be opened.',
    remedy: remedyFor(thrown, 'microphone'),
    temporary: false,
  };
}

function remedyFor(thrown: unknown, device: string): string {
  return nameOf(thrown) === 'NotReadableError'
    ? `Another program may use the ${device}: close it and press “Try again”.`
    : `Plug in a ${device} and press “Try again”.`;
}
