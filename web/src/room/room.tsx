import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { problemFrom, ProblemError, type Problem } from '../model/problem';
import { roomPath } from '../routes';
import type { May } from '../signal/access';
import { browserEnv } from '../signal/env';
import { isOwn, others, personOf, type Presence } from '../signal/presence';
import { RoomVisit } from '../signal/visit';
import { useShortcuts, useSize, useStore } from '../view/hooks';
import { Chat as ChatIcon, Copy, Leave, Lock, People as PeopleIcon, Sound } from '../view/icons';
import { Announcer, Brand, Notice, soundBlocked } from '../view/parts';
import { Chat } from './chat';
import { CameraToggle, MicrophoneToggle, PanelToggle, ScreenToggle, ViewToggle } from './controls';
import { DevicesButton } from './devices';
import { arrange, speakerOf } from './layout';
import type { OwnMedia } from './media';
import type { PanelKind } from './panel';
import { People } from './people';
import { ReactionsButton } from './reactions';
import { useScreen, useSound, type OwnScreen } from './screen';
import { RemoteTiles, screenKeys, SelfTile, tileKeys } from './tile';
import { TileWatch } from './watch';

/** Gap between tiles, CSS pixels. */
const GAP = 10;

interface RoomProps {
  readonly room: string;
  readonly name: string;
  readonly may: May;
  readonly own: OwnMedia;
  readonly onLeave: () => void;
}

export function Room({ room, name, may, own, onLeave }: RoomProps) {
  const visit = useMemo(() => new RoomVisit(browserEnv(), location.origin, room, name), [room, name]);
  useVisitLife(visit);
  const session = useStore(visit.session);
  const presence = useStore(session.presence);
  const receiving = useStore(session.reception.state);
  const watch = useMemo(() => new TileWatch((view) => visit.show(view)), [visit]);
  useEffect(() => watch.run(), [watch]);
  const events = useStore(session.events);
  const reactions = useStore(session.reactions);
  const said = useStore(session.said);
  const publishing = useStore(session.publisher.state);
  const blocked = useStore(soundBlocked);
  const [pinned, setPinned] = useState<string | null>(null);
  /** Shared screen that we made small again. */
  const [dismissed, setDismissed] = useState<string | null>(null);
  const [speakerView, setSpeakerView] = useState(false);
  const { speaker, onSpeech } = useSpeaker(presence);
  const toggleView = useCallback(() => {
    setPinned(null);
    setSpeakerView((before) => !before);
  }, []);
  const [panel, setPanel] = useState<PanelKind | null>(null);
  const toggle = (kind: PanelKind): void => setPanel((open) => (open === kind ? null : kind));
  const unread = useUnread(presence, panel === 'chat');
  const [refused, setRefused] = useState<Problem | null>(null);
  const screen = useScreen(setRefused);
  usePublishing(visit, own, screen);
  const attempt = (act: Promise<unknown>): void => void act.catch((thrown: unknown) => setRefused(problemFrom(thrown)));
  useEffect(() => {
    const error = presence.recordingFailed;
    if (error !== null) setRefused({ error, remedy: 'Ask the server’s operator about its disk.', temporary: false });
  }, [presence.recordingFailed]);
  const self = presence.self === null ? undefined : presence.participants.get(presence.self);
  const raised = self?.hand != null;
  const setHand = (up: boolean): void => attempt(session.acts.setHand(up));
  const muted = useMute(self?.muted === true, own, () => attempt(session.acts.unmute()));
  useShortcuts({
    m: may === 'take_part' ? muted.toggleSound : null,
    v: may === 'take_part' ? own.toggleCamera : null,
    s: toggleView,
    d: () => document.getElementById('devices')?.togglePopover(),
    r: () => document.getElementById('reactions')?.togglePopover(),
    h: () => setHand(!raised),
    c: () => toggle('chat'),
    p: () => toggle('people'),
    e: may === 'take_part' ? screen.toggle : null,
  });
  const shownName = self?.name ?? name;
  const waiting = useStore(session.waiting);
  const [setGrid, size] = useSize();
  const stage = useCallback(
    (element: HTMLElement | null) => {
      setGrid(element);
      // The form that had the focus is gone; keyboard and screen reader continue here.
      element?.focus();
    },
    [setGrid],
  );
  const people = others(presence);
  const media = useStore(visit.media.all);
  const keys = people.flatMap(tileKeys);
  const presented = useLatest(people.flatMap(screenKeys), dismissed);
  const chosen = pinned !== null && keys.includes(pinned) ? pinned : (presented ?? (speakerView && speaker !== null ? `${speaker}/0` : null));
  const large = keys.length > 1 ? chosen : null;
  const pin = (key: string): void => {
    const ends = key === (pinned ?? presented);
    setPinned(ends ? null : key);
    if (ends && pinned === null) setDismissed(key);
  };
  const layout = arrange(keys.length, large !== null, size.width, size.height, GAP);
  const lost = events.kind !== 'open' && events.kind !== 'connecting';

  const problems: { problem: Problem; action?: { label: string; run: () => void }; onDismiss?: () => void }[] = [];
  if (events.kind === 'waiting' || events.kind === 'failed') {
    problems.push({ problem: events.problem, action: { label: 'Try now', run: () => visit.hurry() } });
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
  if (self?.muted === true) {
    problems.push({ problem: { error: 'A moderator has muted you.', remedy: 'Turn your microphone on when you want to speak.', temporary: true } });
  }
  if (!presence.complete) {
    problems.push({ problem: { error: 'People on other servers may be missing.', remedy: 'The servers cannot reach each other now. You see everybody as soon as they can.', temporary: true } });
  }
  if (refused !== null) problems.push({ problem: refused, onDismiss: () => setRefused(null) });

  if (waiting) return <WaitingPage room={room} problems={problems} onLeave={onLeave} />;
  return (
    <div class="room">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{room}</h1>
        {presence.settings.locked && (
          <span class="locked" title="The room is locked: nobody else comes in">
            <Lock />
            <span>Locked</span>
          </span>
        )}
        {presence.settings.recorded && (
          <span class="locked recorded" title="The server records what everybody here says and shows">
            <i aria-hidden="true" />
            <span>Recording</span>
          </span>
        )}
        <PanelToggle kind="people" open={panel === 'people'} label={`People in the room: ${people.length + 1}${presence.queue.length > 0 ? `, ${presence.queue.length} waiting` : ''}`} shortcut="P" run={() => toggle('people')}>
          <PeopleIcon />
          <span class="count" aria-hidden="true">{people.length === 0 ? 'only you' : `${people.length + 1} people`}</span>
          <span class="count-short" aria-hidden="true">
            {people.length + 1}
          </span>
          {presence.queue.length > 0 && (
            <span class="unread" aria-hidden="true">
              {presence.queue.length}
            </span>
          )}
        </PanelToggle>
        <CopyInvitation room={room} visit={visit} fail={setRefused} />
      </header>
      {problems.length > 0 && <div class="notices">{problems.map((each) => <Notice key={each.problem.error} {...each} />)}</div>}
      <div class="room-body">
        <main class="stage" ref={stage} tabIndex={-1}>
          <ul
            class={`tiles tiles-${layout.kind}`}
            aria-label="Participants"
            style={{ gap: `${GAP}px`, '--tile': `${layout.tile}px`, '--large': `${layout.large}px` }}
          >
            {people.map((each) => (
              <RemoteTiles
                key={each.id}
                person={each}
                received={media.get(each.id)}
                reception={session.reception}
                reaction={reactions.get(each.id)?.reaction ?? null}
                watch={watch}
                old={lost}
                large={large}
                pinned={pinned ?? presented}
                onSpeech={onSpeech}
                onPin={keys.length > 1 ? pin : null}
              />
            ))}
            <SelfTile name={shownName} may={may} own={own} state={publishing} raised={raised} reaction={(self && reactions.get(personOf(presence, self.id))?.reaction) ?? null} />
          </ul>
          {people.length === 0 && events.kind === 'open' && (
            <p class="alone">You are the only one here. Copy an invitation and send it to the others.</p>
          )}
        </main>
        {panel === 'chat' && <Chat presence={presence} outbox={visit.outbox} onClose={() => setPanel(null)} />}
        {panel === 'people' && <People presence={presence} session={session} attempt={attempt} onClose={() => setPanel(null)} />}
      </div>
      <footer class="controls">
        {blocked && (
          <button type="button" class="button primary" onClick={() => soundBlocked.set(false)}>
            <Sound /> Turn on sound
          </button>
        )}
        {may === 'take_part' && (
          <>
            <MicrophoneToggle own={muted} />
            <CameraToggle own={own} />
            {screen.toggle !== null && <ScreenToggle shared={screen.track !== null} run={screen.toggle} />}
          </>
        )}
        {keys.length > 1 && <ViewToggle speaker={speakerView} run={toggleView} />}
        <DevicesButton cameras={may === 'take_part' ? own.cameras : null} microphones={may === 'take_part' ? own.microphones : null} stream={own.stream} soundOn={own.soundOn} />
        <ReactionsButton raised={raised} setHand={setHand} react={(reaction) => attempt(session.acts.react(reaction))} />
        <PanelToggle kind="chat" open={panel === 'chat'} label={unread.count === 0 ? 'Chat' : `Chat, ${unread.count} unread`} shortcut="C" run={() => toggle('chat')}>
          <ChatIcon />
          <span aria-hidden="true">Chat</span>
          {unread.count > 0 && (
            <span class="unread" aria-hidden="true">
              {unread.count > 99 ? '99+' : unread.count}
            </span>
          )}
        </PanelToggle>
        <button type="button" class="button leave" aria-label="Leave" onClick={onLeave}>
          <Leave />
          <span aria-hidden="true">Leave</span>
        </button>
      </footer>
      <Announcer>{said}</Announcer>
      <Announcer>{unread.latest}</Announcer>
    </div>
  );
}

interface WaitingPageProps {
  readonly room: string;
  readonly problems: readonly { readonly problem: Problem; readonly action?: { readonly label: string; readonly run: () => void } }[];
  readonly onLeave: () => void;
}

/** Shown until a moderator admits us; nobody sees or hears us. */
function WaitingPage({ room, problems, onLeave }: WaitingPageProps) {
  return (
    <main class="page narrow">
      <Brand />
      <h1>Waiting to be let into “{room}”</h1>
      <p class="lead" role="status">
        A moderator has to let you in. Until then nobody sees or hears you, and you see and hear nobody.
      </p>
      {problems.map(({ problem, action }) => (
        <Notice key={problem.error} problem={problem} action={action} />
      ))}
      <button type="button" class="button" onClick={onLeave}>
        Leave
      </button>
    </main>
  );
}

/** Switches our microphone off when a moderator mutes us; switching it on again ends the mute. */
function useMute(muted: boolean, own: OwnMedia, unmute: () => void): OwnMedia {
  const { soundOn, toggleSound } = own;
  const before = useRef(false);
  useEffect(() => {
    if (muted && !before.current && soundOn) toggleSound();
    before.current = muted;
  }, [muted, soundOn, toggleSound]);
  const toggle = (): void => {
    if (muted && !soundOn) unmute();
    toggleSound();
  };
  return { ...own, toggleSound: toggle };
}

/** Copies an invitation link for a guest. */
function CopyInvitation({ room, visit, fail }: { readonly room: string; readonly visit: RoomVisit; readonly fail: (problem: Problem) => void }) {
  const [copied, setCopied] = useState(false);
  if (navigator.clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    try {
      const address = await visit.session.value.invite(visit.server, roomPath(room));
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
function useVisitLife(visit: RoomVisit): void {
  useEffect(() => {
    visit.join();
    const hurry = (): void => visit.hurry();
    const suspend = (): void => visit.suspend();
    addEventListener('online', hurry);
    addEventListener('pagehide', suspend);
    return () => {
      removeEventListener('online', hurry);
      removeEventListener('pagehide', suspend);
      visit.leave();
    };
  }, [visit]);
}

/** Publishes our media whenever they change. */
function usePublishing(visit: RoomVisit, { stream, cameraOn, soundOn }: OwnMedia, screen: OwnScreen): void {
  const publishes = useRef(false);
  const video = stream?.getVideoTracks()[0] ?? null;
  const audio = useSound(stream?.getAudioTracks()[0] ?? null, screen.sound);
  useEffect(() => {
    // Without any media we only watch; earlier tracks are withdrawn.
    if (video === null && audio === null && screen.track === null && !publishes.current) return;
    publishes.current = true;
    void visit.publish({ video, audio, screen: screen.track });
  }, [visit, video, audio, screen.track]);
  const hasSound = soundOn || screen.sound !== null;
  const shares = screen.track !== null;
  useEffect(
    () => visit.tell({ video: cameraOn, audio: hasSound, screen: shares }),
    [visit, stream, cameraOn, hasSound, shares],
  );
}

/** Returns the most recent of the present keys that is not `dismissed`. */
function useLatest(keys: readonly string[], dismissed: string | null): string | null {
  const order = useRef<readonly string[]>([]);
  const known = order.current.filter((key) => keys.includes(key));
  order.current = [...known, ...keys.filter((key) => !known.includes(key))];
  return order.current.filter((key) => key !== dismissed).at(-1) ?? null;
}

/** Participant who is large in the speaker view. */
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

/** Messages of others since the chat was last open; `latest` is for screen readers. */
function useUnread(presence: Presence, open: boolean): { readonly count: number; readonly latest: string } {
  const { chat } = presence;
  const read = useRef<string | null>(null);
  const last = chat.at(-1);
  if (open) read.current = last?.id ?? null;
  const since = chat.findIndex(({ id }) => id === read.current) + 1;
  const unread = chat.slice(since).filter(({ from }) => !isOwn(presence, from));
  const latest = unread.at(-1);
  return { count: unread.length, latest: latest === undefined ? '' : `Message from ${latest.name}: ${latest.text}` };
}
