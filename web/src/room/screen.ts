// Our shared screen, with its sound mixed with the microphone's.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { mix } from '../media/mix';
import type { Problem } from '../model/problem';

export interface OwnScreen {
  readonly track: MediaStreamTrack | null;
  /** Sound of the shared tab or system; null without. */
  readonly sound: MediaStreamTrack | null;
  /** Starts or stops sharing; null if the browser does not support it. */
  readonly toggle: (() => void) | null;
}

/** Frame rate of a screen: text rarely moves. Chosen by us. */
const FRAME_RATE = 15;

/** Shares a screen on request; failures are passed to `fail`. */
export function useScreen(fail: (problem: Problem) => void): OwnScreen {
  const [stream, setStream] = useState<MediaStream | null>(null);
  const latest = useRef<MediaStream | null>(null);
  const use = useCallback((next: MediaStream | null) => {
    if (next !== latest.current) stop(latest.current);
    latest.current = next;
    setStream(next);
  }, []);
  useEffect(() => () => stop(latest.current), []);

  const begin = useCallback(async () => {
    try {
      const captured = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: FRAME_RATE } }, audio: true });
      const [picture] = captured.getVideoTracks();
      if (picture === undefined) return;
      // Preserves the resolution at the expense of frames.
      picture.contentHint = 'detail';
      // The browser's own button stops it, or the window is closed.
      picture.addEventListener('ended', () => use(null));
      use(captured);
    } catch (thrown) {
      const problem = screenProblem(thrown);
      if (problem !== null) fail(problem);
    }
  }, [use, fail]);

  const devices = navigator.mediaDevices as MediaDevices | undefined;
  const can = devices !== undefined && 'getDisplayMedia' in devices;
  return {
    track: stream?.getVideoTracks()[0] ?? null,
    sound: stream?.getAudioTracks()[0] ?? null,
    toggle: can ? () => (stream === null ? void begin() : use(null)) : null,
  };
}

/** Returns the microphone's track, or its mix with the sound of the screen. */
export function useSound(microphone: MediaStreamTrack | null, screen: MediaStreamTrack | null): MediaStreamTrack | null {
  const [mixed, setMixed] = useState<MediaStreamTrack | null>(null);
  useEffect(() => {
    if (screen === null) return undefined;
    const both = mix(microphone === null ? [screen] : [microphone, screen]);
    setMixed(both.track);
    return () => {
      setMixed(null);
      both.close();
    };
  }, [microphone, screen]);
  return mixed ?? microphone;
}

/** Returns the problem to show; null if the person has changed their mind. */
export function screenProblem(thrown: unknown): Problem | null {
  const name = thrown instanceof Error ? thrown.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') return null;
  return {
    error: `The screen cannot be shared${thrown instanceof Error && thrown.message !== '' ? `: ${thrown.message}` : ''}.`,
    remedy: 'Choose another window or tab, or allow the browser to record the screen in the system settings.',
    temporary: false,
  };
}

function stop(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
