// Several sounds as one track, because our connection sends only one.

export interface Mix {
  readonly track: MediaStreamTrack;
  close(): void;
}

/** Mixes the sounds; each is silent while its own track is disabled. */
export function mix(tracks: readonly MediaStreamTrack[]): Mix {
  const context = new AudioContext();
  const mixed = context.createMediaStreamDestination();
  for (const track of tracks) context.createMediaStreamSource(new MediaStream([track])).connect(mixed);
  const [track] = mixed.stream.getAudioTracks();
  if (track === undefined) throw new Error('a destination has a track');
  return {
    track,
    close: () => {
      track.stop();
      void context.close();
    },
  };
}
