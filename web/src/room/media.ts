// Our own camera and microphone in a room, as one hook.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { capture, captureVideo, unplugged } from '../media/devices';
import type { Problem } from '../model/problem';
import type { RoomSession } from '../signal/session';

export interface OwnMedia {
  readonly stream: MediaStream | null;
  readonly problem: Problem | null;
  readonly cameraOn: boolean;
  readonly soundOn: boolean;
  readonly hasMicrophone: boolean;
  readonly ask: () => void;
  readonly dismiss: () => void;
  readonly toggleCamera: () => void;
  readonly toggleSound: () => void;
}

/** `session` receives what there is, from the first permission on. */
export function useOwnMedia(session: RoomSession): OwnMedia {
  const [stream, setStream] = useState<MediaStream | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [cameraOn, setCameraOn] = useState(false);
  const [soundOn, setSoundOn] = useState(false);
  const latest = useRef<MediaStream | null>(null);
  const busy = useRef(false);

  const ask = useCallback(async () => {
    if (busy.current) return;
    busy.current = true;
    const captured = await capture(navigator.mediaDevices, isSecureContext);
    busy.current = false;
    setProblem(captured.problem);
    if (captured.stream === null) return;
    stop(latest.current);
    latest.current = captured.stream;
    const [video, audio] = [captured.stream.getVideoTracks()[0] ?? null, captured.stream.getAudioTracks()[0] ?? null];
    setStream(captured.stream);
    setCameraOn(video !== null);
    setSoundOn(audio !== null);
    await session.publish({ video, audio });
  }, [session]);

  // A device that is pulled out; our own `stop` does not come by here.
  useEffect(() => {
    const tracks = stream?.getTracks() ?? [];
    const onEnded = (event: Event): void => {
      const { kind } = event.target as MediaStreamTrack;
      setProblem(unplugged(kind));
      if (kind === 'video') setCameraOn(false);
      else setSoundOn(false);
      session.publisher.tell({ video: kind !== 'video' && cameraOn, audio: kind !== 'audio' && soundOn });
    };
    for (const track of tracks) track.addEventListener('ended', onEnded);
    return () => {
      for (const track of tracks) track.removeEventListener('ended', onEnded);
    };
  }, [session, stream, cameraOn, soundOn]);

  useEffect(() => {
    void ask();
    return () => stop(latest.current);
  }, [ask]);

  const publish = useCallback(
    async (next: MediaStream, soundNow: boolean) => {
      latest.current = next;
      setStream(next);
      const video = next.getVideoTracks()[0] ?? null;
      setCameraOn(video !== null);
      await session.publish({ video, audio: next.getAudioTracks()[0] ?? null });
      session.publisher.tell({ video: video !== null, audio: soundNow });
    },
    [session],
  );

  const toggleCamera = useCallback(async () => {
    const now = latest.current;
    if (busy.current || now === null) return void ask();
    const audio = now.getAudioTracks();
    if (cameraOn) {
      // Stopped, not only hidden: the lamp of the camera goes out.
      for (const track of now.getVideoTracks()) track.stop();
      return void publish(new MediaStream(audio), soundOn);
    }
    busy.current = true;
    const track = await captureVideo(navigator.mediaDevices);
    busy.current = false;
    if (track instanceof MediaStreamTrack) await publish(new MediaStream([...audio, track]), soundOn);
    else setProblem(track);
  }, [ask, publish, cameraOn, soundOn]);

  const toggleSound = useCallback(() => {
    const track = latest.current?.getAudioTracks()[0];
    if (track === undefined || track.readyState === 'ended') return void ask();
    track.enabled = !soundOn;
    setSoundOn(!soundOn);
    session.publisher.tell({ video: cameraOn, audio: !soundOn });
  }, [ask, session, cameraOn, soundOn]);

  return {
    stream,
    problem,
    cameraOn,
    soundOn,
    hasMicrophone: (stream?.getAudioTracks().length ?? 0) > 0,
    ask: () => void ask(),
    dismiss: () => setProblem(null),
    toggleCamera: () => void toggleCamera(),
    toggleSound,
  };
}

function stop(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}
