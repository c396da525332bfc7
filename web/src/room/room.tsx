import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { problemFrom, ProblemError, type Problem } from '../model/problem';
import { roomPath } from '../routes';
import { invitation, type May } from '../signal/access';
import { browserEnv } from '../signal/env';
import { others, type Presence } from '../signal/presence';
import { RoomSession } from '../signal/session';
import { useSize, useStore } from '../view/hooks';
import { Copy, Leave, Sound } from '../view/icons';
import { Announcer, Brand, Notice, soundBlocked } from '../view/parts';
import { CameraToggle, MicrophoneToggle, ViewToggle } from './controls';
import { DevicesButton } from './devices';
import { arrange, speakerOf } from './layout';
import type { OwnMedia } from './media';
import { RemoteTiles, SelfTile, tileKeys } from './tile';
import { TileWatch } from './watch';

/** Between tiles, CSS pixels. */
const GAP = 10;

interface RoomProps {
  readonly room: string;
  readonly name: string;
  readonly may: May;
  readonly own: OwnMedia;
  readonly onLeave: () => void;
}

export function Room({ room, name, may, own, onLeave }: RoomProps) {
  const session = useMemo(() => new RoomSession(browserEnv(), room, name), [room, name]);
  useSessionLife(session);
  const presence = useStore(session.presence);
  const receiving = useStore(session.reception.state);
  const watch = useMemo(() => new TileWatch((view) => session.reception.show(view)), [session]);
  useEffect(() => watch.run(), [watch]);
  const events = useStore(session.events);
  const said = useStore(session.said);
  const publishing = useStore(session.publisher.state);
  const blocked = useStore(soundBlocked);
  usePublishing(session, own);
  const [pinned, setPinned] = useState<string | null>(null);
  const [speakerView, setSpeakerView] = useState(false);
  const { speaker, onSpeech } = useSpeaker(presence);
  const toggleView = useCallback(() => {
    setPinned(null);
    setSpeakerView((before) => !before);
  }, []);
  useShortcuts(own, toggleView);
  const [uninvited, setUninvited] = useState<Problem | null>(null);
  const [setGrid, size] = useSize();
  const stage = useCallback(
    (element: HTMLElement | null) => {
      setGrid(element);
      // The form with the focus is gone: keyboard and screen reader continue
      // here.
      element?.focus();
    },
    [setGrid],
  );
  const people = others(presence);
  const keys = people.flatMap(tileKeys);
  const chosen = pinned !== null && keys.includes(pinned) ? pinned : speakerView && speaker !== null ? `${speaker}/0` : null;
  const large = keys.length > 1 ? chosen : null;
  const layout = arrange(keys.length, large !== null, size.width, size.height, GAP);
  const lost = events.kind !== 'open' && events.kind !== 'connecting';

  const problems: { problem: Problem; action?: { label: string; run: () => void }; onDismiss?: () => void }[] = [];
  if (events.kind === 'waiting' || events.kind === 'failed') {
    problems.push({ problem: events.problem, action: { label: 'Try now', run: () => session.hurry() } });
  }
  if (publishing.kind === 'failed') {
    problems.push({ problem: publishing.problem, action: { label: 'Try again', run: () => session.publisher.restart() } });
  }
  if (receiving.kind === 'failed') {
    problems.push({ problem: receiving.problem, action: { label: 'Try again', run: () => session.reception.start() } });
  }
  if (own.problem !== null) {
    problems.push({ problem: own.problem, action: { label: 'Try again', run: own.ask }, onDismiss: own.dismiss });
  }
  if (uninvited !== null) problems.push({ problem: uninvited, onDismiss: () => setUninvited(null) });

  return (
    <div class="room">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{room}</h1>
        <span class="quiet count">{people.length === 0 ? 'only you' : `${people.length + 1} people`}</span>
        <CopyInvitation room={room} fail={setUninvited} />
      </header>
      {problems.length > 0 && <div class="notices">{problems.map((each) => <Notice key={each.problem.error} {...each} />)}</div>}
      <main class="stage" ref={stage} tabIndex={-1}>
        <ul
          class={`tiles tiles-${layout.kind}`}
          aria-label="Participants"
          style={{ gap: `${GAP}px`, '--tile': `${layout.tile}px`, '--large': `${layout.large}px` }}
        >
          {people.map((each) => (
            <RemoteTiles
              key={each.id}
              participant={each}
              session={session}
              watch={watch}
              old={lost}
              large={large}
              pinned={pinned}
              onSpeech={onSpeech}
              onPin={keys.length > 1 ? (key) => setPinned(key === pinned ? null : key) : null}
            />
          ))}
          <SelfTile name={name} may={may} own={own} state={publishing} />
        </ul>
        {people.length === 0 && events.kind === 'open' && (
          <p class="alone">You are the only one here. Copy an invitation and send it to the others.</p>
        )}
      </main>
      <footer class="controls">
        {blocked && (
          <button type="button" class="button primary" onClick={() => soundBlocked.set(false)}>
            <Sound /> Turn on sound
          </button>
        )}
        {may === 'take_part' && (
          <>
            <MicrophoneToggle own={own} />
            <CameraToggle own={own} />
          </>
        )}
        {keys.length > 1 && <ViewToggle speaker={speakerView} run={toggleView} />}
        <DevicesButton may={may} own={own} />
        <button type="button" class="button leave" aria-label="Leave" onClick={onLeave}>
          <Leave />
          <span aria-hidden="true">Leave</span>
        </button>
      </footer>
      <Announcer>{said}</Announcer>
    </div>
  );
}

/** Copies an invitation link for a guest. */
function CopyInvitation({ room, fail }: { readonly room: string; readonly fail: (problem: Problem) => void }) {
  const [copied, setCopied] = useState(false);
  if (navigator.clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    try {
      const address = await invitation(browserEnv(), location.origin, roomPath(room), room);
      await navigator.clipboard.writeText(address).catch(() => {
        throw new ProblemError({ error: `Your browser does not allow copying. The address is ${address}`, remedy: '', temporary: false });
      });
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    } catch (thrown) {
      fail(problemFrom(thrown));
    }
  };
  return (
    <button type="button" class="button small" title="An address that lets a guest into this room" onClick={() => void copy()}>
      <Copy />
      <span aria-live="polite">{copied ? 'Copied' : 'Copy invitation'}</span>
    </button>
  );
}

/** Joins, reconnects at once when the network returns, and leaves with the page. */
function useSessionLife(session: RoomSession): void {
  useEffect(() => {
    session.join();
    const hurry = (): void => session.hurry();
    const suspend = (): void => session.suspend();
    addEventListener('online', hurry);
    addEventListener('pagehide', suspend);
    return () => {
      removeEventListener('online', hurry);
      removeEventListener('pagehide', suspend);
      session.leave();
    };
  }, [session]);
}

/** Publishes our own media as it changes. */
function usePublishing(session: RoomSession, { stream, cameraOn, soundOn }: OwnMedia): void {
  const publishes = useRef(false);
  useEffect(() => {
    const [video, audio] = [stream?.getVideoTracks()[0] ?? null, stream?.getAudioTracks()[0] ?? null];
    // Without any media we only watch; tracks published before are withdrawn.
    if (video === null && audio === null && !publishes.current) return;
    publishes.current = true;
    void session.publish({ video, audio });
  }, [session, stream]);
  useEffect(() => session.publisher.tell({ video: cameraOn, audio: soundOn }), [session, stream, cameraOn, soundOn]);
}

/** Participant whom the speaker view makes large. */
function useSpeaker(presence: Presence): { readonly speaker: string | null; readonly onSpeech: (id: string, speaks: boolean) => void } {
  const [speaking, setSpeaking] = useState<ReadonlySet<string>>(new Set());
  const before = useRef<string | null>(null);
  const onSpeech = useCallback((id: string, speaks: boolean) => {
    setSpeaking((ids) => new Set(speaks ? [...ids, id] : [...ids].filter((each) => each !== id)));
  }, []);
  before.current = speakerOf(
    before.current,
    speaking,
    others(presence).map(({ id }) => id),
  );
  return { speaker: before.current, onSpeech };
}

/** Handles the keys of the controls, unless a text field or a modifier key is in use. */
function useShortcuts({ toggleSound, toggleCamera }: OwnMedia, toggleView: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
      const run = { m: toggleSound, v: toggleCamera, s: toggleView, d: () => document.getElementById('devices')?.togglePopover() }[event.key.toLowerCase()];
      run?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [toggleSound, toggleCamera, toggleView]);
}
