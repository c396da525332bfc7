import { useEffect, useRef, useState } from 'preact/hooks';
import type { Store } from '../model/store';
import { FreezeMeter, type Standing } from '../media/freeze';
import { watchFrames } from '../media/frames';
import { levelOf, LISTEN_MS, SpeechMeter } from '../media/speech';

/** Value of a store, redrawn when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState({});
  useEffect(() => {
    let drawn = store.value;
    // Draws changes between rendering and subscribing.
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

/** Whether a condition has been true for `ms`. */
export function useLasting(holds: boolean, ms: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    setLasts(false);
    if (!holds) return undefined;
    const timer = setTimeout(() => setLasts(true), ms);
    return () => clearTimeout(timer);
  }, [holds, ms]);
  return holds && lasts;
}

/** Whether a media query matches. */
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

/** Inner size of an element. */
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

const unseen = new FreezeMeter().at(0);

/** Measures the freezes of a video element. `source` is what it plays, a new object whenever the
 *  picture is another person's; null while it plays nothing. */
export function useFreeze(video: HTMLVideoElement | null, source: object | null): Standing {
  const meter = useRef(new FreezeMeter());
  const [measured, setMeasured] = useState<{ readonly source: object | null; readonly standing: Standing }>({ source, standing: unseen });
  useEffect(() => {
    if (video === null || source === null) return undefined;
    meter.current.begin();
    const stop = watchFrames(video, (now) => {
      const first = !meter.current.at(now).seen;
      meter.current.onFrame(now);
      if (first) look();
    });
    const look = (): void => {
      const standing = meter.current.at(performance.now());
      setMeasured((now) => (now.source === source && same(now.standing, standing) ? now : { source, standing }));
    };
    // A hidden page draws no frames, which is not a freeze.
    const onVisibility = (): void => meter.current.interrupt();
    document.addEventListener('visibilitychange', onVisibility);
    const timer = setInterval(look, REDRAW_MS);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', onVisibility);
      clearInterval(timer);
    };
  }, [video, source]);
  // Between a change and its effect, the measurement belongs to the former source.
  return measured.source === source ? measured.standing : unseen;
}

function same(a: Standing, b: Standing): boolean {
  return (Object.keys(a) as (keyof Standing)[]).every((key) => a[key] === b[key]);
}

/** Whether somebody speaks, from the receiver of their sound. */
export function useSpeaking(sound: RTCRtpReceiver | null, sends: boolean): boolean {
  const [speaks, setSpeaks] = useState(false);
  useEffect(() => {
    if (sound === null || !sends) return undefined;
    const meter = new SpeechMeter();
    const timer = setInterval(() => {
      levelOf(sound).then((now) => setSpeaks(meter.at(performance.now(), now)), () => undefined);
    }, LISTEN_MS);
    return () => {
      clearInterval(timer);
      setSpeaks(false);
    };
  }, [sound, sends]);
  return speaks;
}

/** Handles the keys of the controls, unless a text field or a modifier key is in use. */
export function useShortcuts(keys: Readonly<Record<string, (() => void) | null>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
      const run = latest.current[event.key.toLowerCase()];
      if (run == null) return;
      // A field that this opens must not receive the letter.
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
