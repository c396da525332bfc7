// Small components shared by several views.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../model/problem';
import type { LinkState } from '../model/types';
import type { PeerState } from '../signal/peer';
import { Store } from '../model/store';
import { Mark } from './icons';

export function Brand() {
  return (
    <a class="brand" href="/">
      <Mark />
      <span>weft</span>
    </a>
  );
}

interface NoticeProps {
  readonly problem: Problem;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
  readonly onDismiss?: (() => void) | undefined;
}

/** A problem with its remedy. */
export function Notice({ problem, action, onDismiss }: NoticeProps) {
  return (
    <div class="notice" role={problem.temporary ? 'status' : 'alert'}>
      <p>
        <strong>{problem.error}</strong> {problem.remedy}
      </p>
      <div class="notice-actions">
        {action && (
          <button type="button" class="button small" onClick={action.run}>
            {action.label}
          </button>
        )}
        {onDismiss && (
          <button type="button" class="button small quiet" onClick={onDismiss}>
            Dismiss
          </button>
        )}
      </div>
    </div>
  );
}

/** Page that shows only a problem. */
export function ProblemPage({ problem, children }: { readonly problem: Problem; readonly children?: ComponentChildren }) {
  return (
    <main class="page narrow">
      <Brand />
      <h1>{problem.error}</h1>
      <p class="lead">{problem.remedy}</p>
      {children}
    </main>
  );
}

/** Announces changes to screen readers only. */
export function Announcer({ children }: { readonly children: string }) {
  return (
    <div class="hidden-visually" aria-live="polite" role="status">
      {children}
    </div>
  );
}

const STATE_WORDS: Record<LinkState, string> = { up: 'up', suspect: 'suspect', down: 'down' };

/** State as shape, colour and word. */
export function StateMark({ state }: { readonly state: LinkState }) {
  return (
    <span class={`state state-${state}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true" focusable="false">
        {state === 'up' && <circle cx="6" cy="6" r="4.5" />}
        {state === 'suspect' && <path d="M6 1l5.5 10H.5z" />}
        {state === 'down' && <path class="cross" d="M2 2l8 8M10 2l-8 8" />}
      </svg>
      {STATE_WORDS[state]}
    </span>
  );
}

/** Joins a problem and its remedy into one text. */
export function sentences({ error, remedy }: Problem): string {
  return `${error} ${remedy}`;
}

/** Returns the text in place of a missing picture; null if there is one. */
export function peerWords(state: PeerState): string | null {
  switch (state.kind) {
    case 'idle':
    case 'connecting':
      return 'Connecting…';
    case 'interrupted':
      return 'Connection interrupted…';
    case 'waiting':
      return `${state.problem.error} Trying again…`;
    case 'failed':
      return sentences(state.problem);
    default:
      return null;
  }
}

/** Whether the browser requires a click before it plays sound. */
export const soundBlocked = new Store(false);

/** Id of the loudspeaker for all sound; empty for the system's choice. */
export const loudspeaker = new Store('');

interface PictureProps {
  readonly stream: MediaStream | null;
  readonly label: string;
  readonly muted?: boolean;
  /** Whether the stream has sound now; only then do browsers accept a loudspeaker for it. */
  readonly sounds?: boolean;
  readonly mirrored?: boolean;
  readonly onElement?: (video: HTMLVideoElement | null) => void;
}

/** Video element for any stream. */
export function Picture({ stream, label, muted = false, sounds = false, mirrored = false, onElement }: PictureProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [silenced, setSilenced] = useState(soundBlocked.value);
  useEffect(() => soundBlocked.subscribe(() => setSilenced(soundBlocked.value)), []);
  useEffect(() => {
    onElement?.(video.current);
    return () => onElement?.(null);
  }, [onElement]);
  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    element.muted = muted || silenced;
    if (element.srcObject !== stream) element.srcObject = stream;
    if (stream === null) return;
    element.play().catch((thrown: unknown) => {
      if (thrown instanceof Error && thrown.name === 'NotAllowedError' && !element.muted) soundBlocked.set(true);
    });
  }, [stream, muted, silenced]);
  useEffect(() => {
    if (!sounds) return undefined;
    const choose = (): void => {
      // If it is missing or fails, the system's choice continues to play.
      void video.current?.setSinkId?.(loudspeaker.value).catch(() => loudspeaker.set(''));
    };
    if (loudspeaker.value !== '') choose();
    return loudspeaker.subscribe(choose);
  }, [sounds]);
  return <video ref={video} class={mirrored ? 'mirrored' : ''} aria-label={label} playsInline autoPlay />;
}
