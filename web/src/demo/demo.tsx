import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import { problemFrom, type Problem } from '../model/problem';
import type { Tick } from '../model/types';
import { browserEnv } from '../signal/env';
import type { StreamState } from '../signal/sse';
import { Player } from '../signal/whep';
import { clock, whole } from '../view/format';
import { useMedia, useStore } from '../view/hooks';
import { Announcer, Brand, Notice, ProblemPage } from '../view/parts';
import { runs, type History } from './history';
import { LinkPanel } from './link';
import { CallPicture } from './picture';
import { Plot, type Series } from './plot';
import { Settings } from './settings';
import { Strip } from './strip';
import { usePalette, type Palette } from './theme';
import { DemoWatch } from './watch';

const WEFT = 'weft';
const SINGLE = 'single:wifi';

/** Where the settings do not fit beside the headline; as in demo.css. */
const SMALL = '(max-width: 900px)';

export function Demo() {
  const watch = useMemo(() => new DemoWatch(browserEnv()), []);
  const players = useMemo(() => {
    const env = browserEnv();
    return { weft: new Player(env, '/whep/demo/weft'), single: new Player(env, '/whep/demo/single') };
  }, []);
  const history = useStore(watch.history);
  const state = useStore(watch.state);
  const palette = usePalette();
  const small = useMedia(SMALL);
  const [said, setSaid] = useState('');
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
    return <ProblemPage problem={{ ...state.problem, remedy: 'The demo runs where the server was started by “weft demo”.' }} />;
  }
  const links = tick?.links ?? [];
  // On a phone the pictures come before what one can choose about them.
  const settings = tick !== undefined && <Settings settings={tick.settings} choose={(name, value) => tell(watch.choose(name, value))} />;
  return (
    <div class="demo">
      <header class="bar-top">
        <Brand />
        <h1 class="hidden-visually">One call, two ways to send it</h1>
        <Phase tick={tick} />
        {tick !== undefined && (
          <div class="count">
            {!small && settings}
            <span class="quiet">{clock(tick.t)}</span>
          </div>
        )}
      </header>
      <main class="demo-body">
        <StreamNotice state={state} retry={() => watch.open()} />
        {problem !== null && <Notice problem={problem} onDismiss={() => setProblem(null)} />}
        <div class="calls">
          <CallPicture
            kind="weft"
            caption={`weft over ${links.length > 0 ? links.map((link) => link.name).join(' + ') : 'wifi + lte'}`}
            player={players.weft}
            figures={tick?.calls.get(WEFT)}
            say={setSaid}
          />
          <CallPicture
            kind="single"
            caption="plain WebRTC over wifi alone"
            player={players.single}
            figures={tick?.calls.get(SINGLE)}
            say={setSaid}
          />
        </div>
        {small && settings}
        <FramesPanel history={history} palette={palette} />
        <div class="link-panels">
          {links.map((link) => (
            <LinkPanel
              key={link.name}
              link={link}
              history={history}
              palette={palette}
              onForce={(forced) => tell(watch.force(link.name, forced))}
            />
          ))}
        </div>
      </main>
      <Announcer>{said}</Announcer>
    </div>
  );
}

/** Opens what the demo needs, lets a picture follow a server that came back, and ends it with the page. */
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
  return <Notice problem={state.problem} action={{ label: 'Try now', run: retry }} />;
}

function Phase({ tick }: { readonly tick: Tick | undefined }) {
  return (
    <p class="phase" aria-live="polite">
      {tick === undefined ? 'Waiting for the first figures…' : tick.phase}
    </p>
  );
}

const FRAMES: readonly Series[] = [
  { name: 'weft', colour: 'call-weft', pick: (tick) => tick.calls.get(WEFT)?.fps ?? null, show: whole, chars: 2 },
  { name: 'wifi alone', colour: 'call-single', pick: (tick) => tick.calls.get(SINGLE)?.fps ?? null, show: whole, chars: 2, dashed: true },
];

const MOVING = { moving: 'moves', frozen: 'frozen' };

function FramesPanel({ history, palette }: { readonly history: History; readonly palette: Palette }) {
  const now = history.at(-1)?.t ?? 0;
  const motion = (call: string) =>
    runs(history, (tick) => {
      const figures = tick.calls.get(call);
      return figures === undefined ? null : figures.frozen ? 'frozen' : 'moving';
    });
  return (
    <section class="card" aria-label="Frame rate and freezes of both calls">
      <Plot title="Frame rate" unit="fps" series={FRAMES} history={history} palette={palette} height={104} atLeast={30} timeAxis />
      <Strip label="weft" now={now} runs={motion(WEFT)} words={MOVING} />
      <Strip label="wifi" now={now} runs={motion(SINGLE)} words={MOVING} />
    </section>
  );
}
