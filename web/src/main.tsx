import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fetchServed, WatchCall, type Served } from './call/call';
import { JoinPage } from './join/join';
import { missingInBrowser } from './model/problem';
import { Entry } from './room/entry';
import { roomPath, routeOf, type Route } from './routes';
import { RelayPage } from './start/relay';
import { Start } from './start/start';
import './style/index.css';
import { ProblemPage } from './view/parts';

function App() {
  const [route, setRoute] = useState<Route>(() => routeOf(location.pathname, location.search));
  useEffect(() => {
    const onPop = (): void => setRoute(routeOf(location.pathname, location.search));
    addEventListener('popstate', onPop);
    return () => removeEventListener('popstate', onPop);
  }, []);

  const enter = (room: string): void => {
    history.pushState(null, '', roomPath(room));
    setRoute({ kind: 'room', room, name: null });
  };
  const leave = (): void => {
    history.pushState(null, '', '/');
    setRoute({ kind: 'start' });
  };

  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);

  const missing = missingInBrowser(globalThis);
  if (missing !== null) return <ProblemPage problem={missing} />;
  switch (route.kind) {
    case 'start':
      return <StartOrCall onEnter={enter} />;
    case 'room':
      return <Entry key={route.room} room={route.room} name={route.name} onLeave={leave} />;
    case 'demo':
      return <LazyDemo />;
    default:
      return (
        <ProblemPage
          problem={{ error: 'This page does not exist.', remedy: 'Open the start page.', temporary: false }}
        >
          <a class="button primary" href="/">
            To the start
          </a>
        </ProblemPage>
      );
  }
}

function titleOf(route: Route): string {
  if (route.kind === 'room') return `${route.room} · weft`;
  return route.kind === 'demo' ? 'Demo · weft' : 'weft';
}

/** Start page, or the single call of `weft call`, which also serves this page. */
function StartOrCall({ onEnter }: { readonly onEnter: (room: string) => void }) {
  const [served, setServed] = useState<Served | null>(null);
  useEffect(() => {
    fetchServed().then(setServed, () => setServed('rooms'));
  }, []);
  if (served === null) return null;
  if (served === 'relay') return <RelayPage />;
  if (served === 'join') return <JoinPage />;
  return typeof served === 'object' ? <WatchCall first={served} /> : <Start demo={served === 'demo'} onEnter={onEnter} />;
}

/** The plots are most of the code, so only the demo loads them. */
function LazyDemo() {
  const [demo, setDemo] = useState<{ readonly Demo: () => preact.VNode } | null>(null);
  useEffect(() => {
    void import('./demo/demo').then(setDemo);
  }, []);
  return demo === null ? null : <demo.Demo />;
}

// A page restored from the back-forward cache has already left its call.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
