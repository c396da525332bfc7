// `weft join --page` and `weft call --page`: pictures, links and switches of a sender, for a
// tablet or phone beside it.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { clock, mbps, megabytes, ms, percent } from '../view/format';
import { notes } from '../view/links';
import { Brand, Notice, ProblemPage, StateMark } from '../view/parts';
import { readJoinState, type JoinedLink, type JoinState, type LinkUse } from './state';

/** Polling interval, ms; the program updates its figures as often. */
const EVERY_MS = 1_000;

/** Pause between two pictures of a camera, ms. */
const PICTURE_MS = 150;

/** Number of failed polls after which the program counts as gone. */
const MOST_MISSES = 3;

const USES: readonly (readonly [LinkUse, string])[] = [
  ['use', 'Use'],
  ['backup', 'Backup'],
  ['off', 'Off'],
];

type Order =
  | { readonly do: 'link'; readonly name: string; readonly use: LinkUse }
  | { readonly do: 'microphone' | 'cameras' | 'recording'; readonly on: boolean }
  | { readonly do: 'leave' };

export function JoinPage() {
  const { state, seen, misses, refresh } = useJoinState();
  const [refused, setRefused] = useState(false);
  const [left, setLeft] = useState(false);
  const order = (order: Order): void => {
    fetch('/api/join', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) })
      .then(
        (response) => setRefused(!response.ok),
        () => setRefused(true),
      )
      .then(refresh);
    if (order.do === 'leave') setLeft(true);
  };
  if (left) return <ProblemPage problem={{ error: 'You have left the call.', remedy: 'Start weft again to return.', temporary: false }} />;
  if (state === null) {
    if (!seen && misses < MOST_MISSES) return null;
    return (
      <ProblemPage
        problem={{ error: 'This page needs its whole address.', remedy: 'Open the address that weft has printed; it contains a token.', temporary: false }}
      />
    );
  }
  const gone = misses >= MOST_MISSES;
  return (
    <main class="page join">
      <header class="join-head">
        <Brand />
        <h1 class="join-title">{state.title}</h1>
        <p class="quiet">
          {state.name} · {clock(state.seconds)} · {others(state.others)}
        </p>
      </header>
      {gone && <Notice problem={{ error: `weft ${state.command} does not answer.`, remedy: 'The figures are old; the call may have ended.', temporary: true }} />}
      {!gone && !state.connected && <Notice problem={ABSENT[state.command]} />}
      {state.recordingError !== null && (
        <Notice problem={{ error: `The recording is incomplete: ${state.recordingError}.`, remedy: 'Remove the cause, then stop and start the recording.', temporary: false }} />
      )}
      {refused && <Notice problem={{ error: 'The change was refused.', remedy: 'Reload the page and try again.', temporary: true }} onDismiss={() => setRefused(false)} />}
      <ul class="join-pictures" aria-label="Cameras">
        {state.pictures.map(({ participant, camera, name }) => (
          <li key={`${participant}/${camera}`}>
            <LivePicture path={`picture/${encodeURIComponent(participant)}/${camera}`} label={`Picture of ${name}`} />
            <span class="quiet">{name}</span>
          </li>
        ))}
        {state.cameras === 'on' &&
          Array.from({ length: state.previews }, (_, camera) => (
            <li key={camera}>
              <LivePicture path={`preview/${camera}`} label={`Own camera ${camera + 1}`} />
              <span class="quiet">You</span>
            </li>
          ))}
      </ul>
      <div class="join-switches">
        {state.microphone !== 'none' && (
          <button type="button" class="button" aria-pressed={state.microphone === 'on'} onClick={() => order({ do: 'microphone', on: state.microphone !== 'on' })}>
            {MICROPHONE[state.microphone]}
          </button>
        )}
        {state.cameras !== 'none' && (
          <button type="button" class="button" aria-pressed={state.cameras === 'on'} onClick={() => order({ do: 'cameras', on: state.cameras !== 'on' })}>
            {state.cameras === 'on' ? 'Turn cameras off' : 'Turn cameras on'}
          </button>
        )}
        {state.recording !== 'none' && (
          <button type="button" class="button" aria-pressed={state.recording === 'on'} onClick={() => order({ do: 'recording', on: state.recording !== 'on' })}>
            {state.recording === 'on' ? 'Stop recording' : 'Start recording'}
          </button>
        )}
        <button type="button" class="button" onClick={() => confirm('Leave the call?') && order({ do: 'leave' })}>
          Leave
        </button>
      </div>
      <ul class="join-links" aria-label="Links">
        {state.links.map((link) => (
          <LinkCard key={link.link.name} joined={link} onUse={(use) => order({ do: 'link', name: link.link.name, use })} />
        ))}
      </ul>
    </main>
  );
}

/** Shows pictures one after another, a few per second: enough to see who is there. */
function LivePicture({ path, label }: { readonly path: string; readonly label: string }) {
  const [number, setNumber] = useState(0);
  const next = (pause: number) => (): void => {
    setTimeout(() => setNumber((before) => before + 1), pause);
  };
  const source = `/api/join/${path}?n=${number}`;
  return <img src={source} alt={label} onLoad={next(PICTURE_MS)} onError={next(EVERY_MS)} />;
}

/** Texts shown without a connection. */
const ABSENT = {
  join: { error: 'Not connected to the server.', remedy: 'weft keeps trying over every link that is on.', temporary: true },
  call: { error: 'No browser is connected.', remedy: 'Open the first address that weft call has printed.', temporary: true },
} as const;

const MICROPHONE = { on: 'Mute microphone', off: 'Unmute microphone', muted: 'A moderator muted you: unmute' } as const;

function others(names: readonly string[]): string {
  if (names.length === 0) return 'nobody else is here';
  return names.length <= 3 ? `with ${names.join(', ')}` : `with ${names.length} others`;
}

function LinkCard({ joined, onUse }: { readonly joined: JoinedLink; readonly onUse: (use: LinkUse) => void }) {
  const { link, use, carriedMb } = joined;
  return (
    <li class="join-link">
      <div class="links-head">
        <strong>{link.name}</strong>
        {use === 'off' ? <span class="quiet">off</span> : <StateMark state={link.state} />}
      </div>
      <dl class="join-figures">
        <Figure term="sends" value={mbps(link.sentMbps)} />
        <Figure term="could send" value={mbps(link.targetMbps)} />
        <Figure term="round trip" value={ms(link.rttMs)} />
        <Figure term="loss" value={percent(link.loss)} />
        <Figure term="carried" value={megabytes(carriedMb)} />
      </dl>
      {notes(link).map((note) => (
        <p key={note} class="quiet join-note">
          {note}
        </p>
      ))}
      <fieldset class="join-use">
        <legend class="hidden-visually">Use of {link.name}</legend>
        {USES.map(([value, words]) => (
          <label key={value} class={value === use ? 'button small chosen' : 'button small'}>
            <input class="hidden-visually" type="radio" name={`use-${link.name}`} checked={value === use} onChange={() => onUse(value)} />
            {words}
          </label>
        ))}
      </fieldset>
    </li>
  );
}

function Figure({ term, value }: { readonly term: string; readonly value: string }) {
  return (
    <div>
      <dt class="quiet">{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Present state, and the number of failed polls since it was read. */
function useJoinState() {
  const [state, setState] = useState<JoinState | null>(null);
  const [seen, setSeen] = useState(false);
  const [misses, setMisses] = useState(0);
  const refresh = useCallback(() => {
    fetch('/api/call', { cache: 'no-store' })
      .then((response) => response.json())
      .then(
        (body: unknown) => {
          setState(readJoinState(body));
          setSeen(true);
          setMisses(0);
        },
        () => setMisses((before) => before + 1),
      );
  }, []);
  useEffect(() => {
    refresh();
    const timer = setInterval(refresh, EVERY_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  return { state, seen, misses, refresh };
}
