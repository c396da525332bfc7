import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Problem } from '../model/problem';
import { browserEnv } from '../signal/env';
import { others } from '../signal/presence';
import { RoomSession } from '../signal/session';
import { useSize, useStore } from '../view/hooks';
import { Camera, Copy, Leave, Microphone, Sound } from '../view/icons';
import { Announcer, Brand, Notice, soundBlocked } from '../view/parts';
import { tileWidth } from './layout';
import { useOwnMedia, type OwnMedia } from './media';
import { RemoteTiles, SelfTile, tilesOf } from './tile';

/** Between tiles, CSS pixels. */
const GAP = 10;

interface RoomProps {
  readonly room: string;
  readonly name: string;
  readonly onLeave: () => void;
}

export function Room({ room, name, onLeave }: RoomProps) {
  const session = useMemo(() => new RoomSession(browserEnv(), room, name), [room, name]);
  useSessionLife(session);
  const presence = useStore(session.presence);
  const players = useStore(session.players);
  const events = useStore(session.events);
  const said = useStore(session.said);
  const publishing = useStore(session.publisher.state);
  const blocked = useStore(soundBlocked);
  const own = useOwnMedia(session);
  useShortcuts(own);
  const [setGrid, size] = useSize();
  const stage = useCallback(
    (element: HTMLElement | null) => {
      setGrid(element);
      // Where a form was before: keyboard and screen reader go on here.
      element?.focus();
    },
    [setGrid],
  );
  const people = others(presence);
  const tiles = people.reduce((sum, each) => sum + tilesOf(each), 1);
  const tile = tileWidth(tiles, size.width, size.height, GAP);

  const problems: { problem: Problem; action?: { label: string; run: () => void }; onDismiss?: () => void }[] = [];
  if (events.kind === 'waiting' || events.kind === 'failed') {
    problems.push({ problem: events.problem, action: { label: 'Try now', run: () => session.hurry() } });
  }
  if (publishing.kind === 'failed') {
    problems.push({ problem: publishing.problem, action: { label: 'Try again', run: () => session.publisher.restart() } });
  }
  if (own.problem !== null) {
    problems.push({ problem: own.problem, action: { label: 'Try again', run: own.ask }, onDismiss: own.dismiss });
  }

  return (
    <div class="room">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{room}</h1>
        <span class="quiet count">{people.length === 0 ? 'only you' : `${people.length + 1} people`}</span>
        <CopyLink />
      </header>
      {problems.length > 0 && <div class="notices">{problems.map((each) => <Notice key={each.problem.error} {...each} />)}</div>}
      <main class="stage" ref={stage} tabIndex={-1}>
        <ul class="tiles" aria-label="Participants" style={{ gap: `${GAP}px`, '--tile': `${tile}px` }}>
          {people.map((each) => (
            <RemoteTiles key={each.id} participant={each} player={players.get(each.id)} />
          ))}
          <SelfTile name={name} stream={own.stream} cameraOn={own.cameraOn} soundOn={own.soundOn} state={publishing} />
        </ul>
        {people.length === 0 && events.kind === 'open' && (
          <p class="alone">Nobody else is here yet. Send them the address of this page.</p>
        )}
      </main>
      <footer class="controls">
        {blocked && (
          <button type="button" class="button primary" onClick={() => soundBlocked.set(false)}>
            <Sound /> Turn on sound
          </button>
        )}
        <Toggle on={own.soundOn} label="Microphone" shortcut="M" run={own.toggleSound}>
          <Microphone off={!own.soundOn} />
        </Toggle>
        <Toggle on={own.cameraOn} label="Camera" shortcut="V" run={own.toggleCamera}>
          <Camera off={!own.cameraOn} />
        </Toggle>
        <button type="button" class="button leave" onClick={onLeave}>
          <Leave /> Leave
        </button>
      </footer>
      <Announcer>{said}</Announcer>
    </div>
  );
}

interface ToggleProps {
  readonly on: boolean;
  readonly label: string;
  readonly shortcut: string;
  readonly run: () => void;
  readonly children: preact.ComponentChildren;
}

function Toggle({ on, label, shortcut, run, children }: ToggleProps) {
  return (
    <button
      type="button"
      class={on ? 'button toggle' : 'button toggle off'}
      aria-pressed={on}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      title={`${label} ${on ? 'off' : 'on'} (${shortcut})`}
      onClick={run}
    >
      {children}
      <span aria-hidden="true">
        {label} {on ? 'on' : 'off'}
      </span>
    </button>
  );
}

function CopyLink() {
  const [copied, setCopied] = useState(false);
  if (navigator.clipboard === undefined) return null;
  const copy = (): void => {
    navigator.clipboard.writeText(location.origin + location.pathname).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), 2_000);
      },
      () => undefined,
    );
  };
  return (
    <button type="button" class="button small" onClick={copy}>
      <Copy />
      <span aria-live="polite">{copied ? 'Copied' : 'Copy link'}</span>
    </button>
  );
}

/** Joins, hurries when the network comes back, and leaves with the page. */
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

/** M and V, where no text is being typed and nothing else is meant. */
function useShortcuts({ toggleSound, toggleCamera }: OwnMedia): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
      if (event.key === 'm' || event.key === 'M') toggleSound();
      if (event.key === 'v' || event.key === 'V') toggleCamera();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [toggleSound, toggleCamera]);
}
