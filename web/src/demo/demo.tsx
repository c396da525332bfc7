import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import { problemFrom, type Problem } from '../model/problem';
import type { Slow, Tick } from '../model/types';
import { browserEnv } from '../signal/env';
import type { StreamState } from '../signal/sse';
import { Player } from '../signal/whep';
import { clock, whole } from '../view/format';
import { useSettled, useStore } from '../view/hooks';
import { Brand, Notice, ProblemPage } from '../view/parts';
import { Expert } from './expert';
import { Hands } from './hands';
import { runs, type History } from './history';
import { LinkPanel } from './link';
import { CallPicture } from './picture';
import { Plot, type Series } from './plot';
import { Strip } from './strip';
import { usePalette, type Palette } from './theme';
import { DemoWatch } from './watch';
import { SINGLE, storyOf, WEFT } from './words';

/** Placeholders that reserve the space of the buttons before the links are known. */
const UNKNOWN = ['wifi', 'lte'].map((name) => ({ name, forced: null }));

export function Demo() {
  const watch = useMemo(() => new DemoWatch(browserEnv()), []);
  const players = useMemo(() => {
    const env = browserEnv();
    return { weft: new Player(env, '/whep/demo/weft'), single: new Player(env, '/whep/demo/single') };
  }, []);
  const history = useStore(watch.history);
  const state = useStore(watch.state);
  const slow = useStore(watch.slow);
  const palette = usePalette();
  const [problem, setProblem] = useState<Problem | null>(null);
  useLife(watch, players, state);

  const tell = useCallback((wish: Promise<void>) => {
    wish.then(
      () => setProblem(null),
      (thrown: unknown) => setProblem(problemFrom(thrown)),
    );
  }, []);

  const tick = history.at(-1);
  if (state.kind === 'failed' && tick === undefined) {
    return <ProblemPage problem={{ ...state.problem, remedy: 'Start the server with “weft demo” to see the demo.' }} />;
  }
  const links = tick?.links ?? [];
  const dead = links.filter((link) => !link.up);
  return (
    <div class="demo">
      <header class="bar-top">
        <Brand />
        <h1>The same call twice: left over WiFi and LTE together, right over WiFi alone. Cut a link.</h1>
        <span class="clock quiet" title="Since the demo began">
          {clock(tick?.t ?? 0)}
        </span>
      </header>
      <main class={state.kind === 'waiting' ? 'demo-body stale' : 'demo-body'}>
        <StreamNotice state={state} retry={() => watch.open()} />
        {problem !== null && <Notice problem={problem} onDismiss={() => setProblem(null)} />}
        <Story tick={tick} />
        <div class="calls">
          <CallPicture
            kind="weft"
            caption="weft: WiFi and LTE together"
            player={players.weft}
            figures={tick?.calls.get(WEFT)}
            freezes={watch.freezes(WEFT)}
            hindrance={dead.length > 0 && dead.length === links.length ? 'both links are down.' : null}
          />
          <CallPicture
            kind="single"
            caption="Plain WebRTC: WiFi alone"
            player={players.single}
            figures={tick?.calls.get(SINGLE)}
            freezes={watch.freezes(SINGLE)}
            hindrance={dead.some((link) => link.name === 'wifi') ? 'WiFi is down.' : null}
          />
        </div>
        <Hands
          links={tick === undefined ? UNKNOWN : links}
          onForce={(link, forced) => tell(watch.force(link, forced))}
          onRestart={() => tell(watch.restart())}
        />
        <Ride slow={slow} />
        <FramesPanel history={history} palette={palette} />
        <div class="link-panels">
          {links.map((link) => (
            <LinkPanel key={link.name} link={link} history={history} palette={palette} />
          ))}
        </div>
        <Expert settings={tick?.settings ?? []} choose={(name, value) => tell(watch.choose(name, value))} />
      </main>
    </div>
  );
}

/** Opens the demo's connections, reconnects the pictures after a server restart, and
 *  closes everything with the page. */
function useLife(watch: DemoWatch, players: { weft: Player; single: Player }, state: StreamState): void {
  useEffect(() => {
    const each = [players.weft, players.single];
    watch.open();
    for (const player of each) player.start();
    const close = (): void => {
      watch.close();
      for (const player of each) player.close();
    };
    addEventListener('pagehide', close);
    return () => {
      removeEventListener('pagehide', close);
      close();
    };
  }, [watch, players]);
  useEffect(() => {
    if (state.kind !== 'open') return;
    for (const player of [players.weft, players.single]) {
      if (player.state.value.kind === 'waiting' || player.state.value.kind === 'interrupted') player.start();
    }
  }, [state.kind, players]);
}

function StreamNotice({ state, retry }: { readonly state: StreamState; readonly retry: () => void }) {
  if (state.kind !== 'waiting' && state.kind !== 'failed') return null;
  const problem = { ...state.problem, error: `${state.problem.error} The figures are from before.` };
  return <Notice problem={problem} action={{ label: 'Try now', run: retry }} />;
}

/** Description of the links' script, or a notice while the numbers describe the machine. */
function Ride({ slow }: { readonly slow: Slow | null }) {
  if (slow === null) {
    return <p class="hint ride">Without your help, the links follow a script of one minute: each degrades, fails and recovers.</p>;
  }
  return (
    <p class="hint ride slow" role="alert">
      This machine is too slow: it missed {whole(100 * slow.missed)} % of a camera’s pictures, so the figures show the machine, not the links. End other programs
      {slow.smaller !== null && (
        <>
          , or start <code>weft demo --size {slow.smaller}</code>
        </>
      )}
      .
    </p>
  );
}

/** Minimum duration of a story before it is announced, ms. */
const TELL_AFTER_MS = 700;

/** State of the links, and its effect on the calls. */
function Story({ tick }: { readonly tick: Tick | undefined }) {
  const phase = tick?.phase ?? 'Waiting for the calls…';
  const story = tick === undefined ? '' : storyOf(tick);
  const [of, told] = useSettled(`${phase}\n${story}`, TELL_AFTER_MS).split('\n');
  return (
    <div class="story" role="status">
      <p class="phase">{phase}</p>
      <p>{of === phase ? told : ''}</p>
    </div>
  );
}

const FRAMES: readonly Series[] = [
  { name: 'weft', colour: 'call-weft', pick: (tick) => tick.calls.get(WEFT)?.fps ?? null, show: whole, chars: 2 },
  { name: 'WiFi alone', colour: 'call-single', pick: (tick) => tick.calls.get(SINGLE)?.fps ?? null, show: whole, chars: 2, dashed: true },
];

const MOVING = { moving: 'in motion', frozen: 'frozen' };

function FramesPanel({ history, palette }: { readonly history: History; readonly palette: Palette }) {
  const now = history.at(-1)?.t ?? 0;
  const motion = (call: string) =>
    runs(history, (tick) => {
      const figures = tick.calls.get(call);
      return figures === undefined ? null : figures.frozen ? 'frozen' : 'moving';
    });
  return (
    <section class="card" aria-label="Frame rate and freezes of both calls">
      <Plot title="Frames" unit="a second" series={FRAMES} history={history} palette={palette} height={104} atLeast={30} timeAxis />
      <Strip label="weft" now={now} runs={motion(WEFT)} words={MOVING} />
      <Strip label="WiFi" now={now} runs={motion(SINGLE)} words={MOVING} />
    </section>
  );
}
