// Our own camera and microphone, before and in a room, as one hook.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { capture, captureOne, devicesOf, presentOf, unplugged, type Device, type Kind } from '../media/devices';
import type { Problem } from '../model/problem';

/** Devices of one kind, and the one in use. */
export interface Choice {
  readonly devices: readonly Device[];
  readonly chosen: string | null;
  readonly choose: (id: string) => void;
}

export interface OwnMedia {
  readonly stream: MediaStream | null;
  readonly problem: Problem | null;
  readonly cameraOn: boolean;
  readonly soundOn: boolean;
  readonly cameras: Choice;
  readonly microphones: Choice;
  readonly ask: () => void;
  readonly dismiss: () => void;
  readonly toggleCamera: () => void;
  readonly toggleSound: () => void;
}

/** Requests camera and microphone as soon as they are `wanted`. */
export function useOwnMedia(wanted: boolean): OwnMedia {
  const [stream, setStream] = useState<MediaStream | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [cameraOn, setCameraOn] = useState(false);
  const [soundOn, setSoundOn] = useState(false);
  const latest = useRef<MediaStream | null>(null);
  const asking = useRef(false);
  /** Last request for devices. The next one waits for it, so that none is lost. */
  const last = useRef<Promise<unknown>>(Promise.resolve());

  const use = useCallback((next: MediaStream) => {
    latest.current = next;
    setStream(next);
  }, []);

  const ask = useCallback(async () => {
    if (asking.current) return;
    asking.current = true;
    const asked = last.current.then(() => capture(navigator.mediaDevices, isSecureContext));
    last.current = asked;
    const captured = await asked;
    asking.current = false;
    setProblem(captured.problem);
    if (captured.stream === null) return;
    stop(latest.current);
    use(captured.stream);
    setCameraOn(captured.stream.getVideoTracks().length > 0);
    setSoundOn(captured.stream.getAudioTracks().length > 0);
  }, [use]);

  // A device was unplugged; our own `stop` causes no such event.
  useEffect(() => {
    const tracks = stream?.getTracks() ?? [];
    const onEnded = (event: Event): void => {
      const { kind } = event.target as MediaStreamTrack;
      setProblem(unplugged(kind));
      if (kind === 'video') setCameraOn(false);
      else setSoundOn(false);
    };
    for (const track of tracks) track.addEventListener('ended', onEnded);
    return () => {
      for (const track of tracks) track.removeEventListener('ended', onEnded);
    };
  }, [stream]);

  useEffect(() => {
    if (wanted) void ask();
  }, [ask, wanted]);
  useEffect(() => () => stop(latest.current), []);

  /** Replaces the track of its kind; returns whether there is one. */
  const exchange = useCallback(
    (kind: Kind, id: string | null): Promise<boolean> => {
      const exchanged = last.current.then(async () => {
        // Stops the old one before requesting the new one, because some systems open a
        // device only once.
        for (const track of tracksOf(latest.current, kind)) track.stop();
        const track = await captureOne(navigator.mediaDevices, kind, id);
        const others = tracksOf(latest.current, kind === 'video' ? 'audio' : 'video');
        const got = track instanceof MediaStreamTrack;
        setProblem(got ? null : track);
        use(new MediaStream(got ? [...others, track] : others));
        return got;
      });
      last.current = exchanged;
      return exchanged;
    },
    [use],
  );

  const cameras = useChoice('video', stream);
  const microphones = useChoice('audio', stream);

  const toggleCamera = useCallback(async () => {
    if (latest.current === null) return void ask();
    if (cameraOn) {
      // Stopped, not only hidden, so that the camera's light goes out.
      for (const track of tracksOf(latest.current, 'video')) track.stop();
      use(new MediaStream(tracksOf(latest.current, 'audio')));
      return setCameraOn(false);
    }
    setCameraOn(await exchange('video', cameras.chosen));
  }, [ask, use, exchange, cameraOn, cameras.chosen]);

  const toggleSound = useCallback(() => {
    const track = tracksOf(latest.current, 'audio')[0];
    if (track === undefined || track.readyState === 'ended') return void ask();
    track.enabled = !soundOn;
    setSoundOn(!soundOn);
  }, [ask, soundOn]);

  const chooseCamera = useCallback(
    async (id: string) => {
      cameras.keep(id);
      if (cameraOn) setCameraOn(await exchange('video', id));
    },
    [exchange, cameraOn, cameras.keep],
  );

  const chooseMicrophone = useCallback(
    async (id: string) => {
      microphones.keep(id);
      const got = await exchange('audio', id);
      for (const track of tracksOf(latest.current, 'audio')) track.enabled = soundOn;
      if (!got) setSoundOn(false);
    },
    [exchange, soundOn, microphones.keep],
  );

  return {
    stream,
    problem,
    cameraOn,
    soundOn,
    cameras: { ...cameras, choose: (id) => void chooseCamera(id) },
    microphones: { ...microphones, choose: (id) => void chooseMicrophone(id) },
    ask: () => void ask(),
    dismiss: () => setProblem(null),
    toggleCamera: () => void toggleCamera(),
    toggleSound,
  };
}

/** Available devices, updated when a device is plugged in; `access` is the stream that
 *  made the browser list them. */
export function useDevices(kind: MediaDeviceKind, access: MediaStream | null): readonly Device[] {
  const [devices, setDevices] = useState<readonly Device[]>([]);
  useEffect(() => {
    const media = navigator.mediaDevices as MediaDevices | undefined;
    if (media === undefined) return undefined;
    const look = (): void => {
      media.enumerateDevices().then(
        (all) => setDevices(devicesOf(all, kind)),
        () => undefined,
      );
    };
    look();
    media.addEventListener('devicechange', look);
    return () => media.removeEventListener('devicechange', look);
  }, [kind, access]);
  return devices;
}

/** Devices of a kind, and the one in use. */
export function useChoice(kind: Kind, stream: MediaStream | null): { devices: readonly Device[]; chosen: string | null; keep: (id: string) => void } {
  const devices = useDevices(`${kind}input`, stream);
  const [kept, keep] = useState<string | null>(null);
  const used = tracksOf(stream, kind)[0]?.getSettings().deviceId;
  return { devices, chosen: presentOf(devices, used, kept), keep };
}

function tracksOf(stream: MediaStream | null, kind: Kind): MediaStreamTrack[] {
  return (stream?.getTracks() ?? []).filter((track) => track.kind === kind);
}

function stop(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
