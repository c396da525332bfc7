import { useEffect, useRef, useState } from 'preact/hooks';
import type { Store } from '../model/store';
import { FreezeMeter, type Standing } from '../media/freeze';
import { watchFrames } from '../media/frames';
import { levelOf, LISTEN_MS, SpeechMeter } from '../media/speech';
import type { Player } from '../signal/whep';

/** Value of a store, redrawn when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState({});
  useEffect(() => {
    let drawn = store.value;
    // Draw changes between rendering and subscribing.
    redraw({});
    return store.subscribe(() => {
      if (Object.is(drawn, store.value)) return;
      drawn = store.value;
      redraw({});
    });
  }, [store]);
  return store.value;
}

/** Value that has stayed the same for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const listen = (): void => setMatches(list.matches);
    listen();
    list.addEventListener('change', listen);
    return () => list.removeEventListener('change', listen);
  }, [query]);
  return matches;
}

/** The inner size of an element. */
export function useSize(): [(element: HTMLElement | null) => void, { width: number; height: number }] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, size];
}

/** Redraw interval of a freeze's clock, ms. */
const REDRAW_MS = 100;

/** Measures the freezes of a video element; `stream` is what it plays. */
export function useFreeze(video: HTMLVideoElement | null, stream: MediaStream | null): Standing {
  const meter = useRef(new FreezeMeter());
  const [standing, setStanding] = useState<Standing>(() => meter.current.at(0));
  useEffect(() => {
    if (video === null || stream === null) return undefined;
    meter.current.begin();
    const stop = watchFrames(video, (now) => meter.current.onFrame(now));
    // A hidden page draws no frames: that is no freeze.
    const onVisibility = (): void => meter.current.interrupt();
    document.addEventListener('visibilitychange', onVisibility);
    const timer = setInterval(() => {
      const next = meter.current.at(performance.now());
      setStanding((now) => (same(now, next) ? now : next));
    }, REDRAW_MS);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', onVisibility);
      clearInterval(timer);
    };
  }, [video, stream]);
  return standing;
}

function same(a: Standing, b: Standing): boolean {
  return (Object.keys(a) as (keyof Standing)[]).every((key) => a[key] === b[key]);
}

/** Whether somebody speaks. */
export function useSpeaking(player: Player | undefined, sends: boolean): boolean {
  const [speaks, setSpeaks] = useState(false);
  useEffect(() => {
    if (player === undefined || !sends) return undefined;
    const meter = new SpeechMeter();
    const timer = setInterval(() => {
      const peer = player.peer;
      const level = peer === null ? Promise.resolve(null) : levelOf(peer);
      level.then((now) => setSpeaks(meter.at(performance.now(), now)), () => undefined);
    }, LISTEN_MS);
    return () => {
      clearInterval(timer);
      setSpeaks(false);
    };
  }, [player, sends]);
  return speaks;
}
