// Buttons for our own camera and microphone, before and in a room or call, and for the
// view.

import type { ComponentChildren } from 'preact';
import { Camera, Microphone, Screen, View } from '../view/icons';
import type { OwnMedia } from './media';
import type { PanelKind } from './panel';

export function MicrophoneToggle({ own }: { readonly own: Pick<OwnMedia, 'soundOn' | 'toggleSound'> }) {
  return (
    <Toggle on={own.soundOn} label={own.soundOn ? 'Mute microphone' : 'Unmute microphone'} shortcut="M" run={own.toggleSound}>
      <Microphone off={!own.soundOn} />
    </Toggle>
  );
}

export function CameraToggle({ own }: { readonly own: Pick<OwnMedia, 'cameraOn' | 'toggleCamera'> }) {
  return (
    <Toggle on={own.cameraOn} label={own.cameraOn ? 'Turn camera off' : 'Turn camera on'} shortcut="V" run={own.toggleCamera}>
      <Camera off={!own.cameraOn} />
    </Toggle>
  );
}

export function ScreenToggle({ shared, run }: { readonly shared: boolean; readonly run: () => void }) {
  return (
    <Toggle on label={shared ? 'Stop sharing' : 'Share screen'} shortcut="E" run={run}>
      <Screen off={!shared} />
    </Toggle>
  );
}

export function ViewToggle({ speaker, run }: { readonly speaker: boolean; readonly run: () => void }) {
  return (
    <Toggle on label={speaker ? 'Show everybody' : 'Show speaker'} shortcut="S" run={run}>
      <View speaker={!speaker} />
    </Toggle>
  );
}

interface PanelToggleProps {
  readonly kind: PanelKind;
  readonly open: boolean;
  /** Name for screen readers; the children are hidden from them. */
  readonly label: string;
  readonly shortcut: string;
  readonly run: () => void;
  readonly children: ComponentChildren;
}

/** Opens or closes a panel beside the tiles. */
export function PanelToggle({ kind, open, label, shortcut, run, children }: PanelToggleProps) {
  return (
    <button
      type="button"
      id={`${kind}-button`}
      class="button toggle panel-toggle"
      aria-expanded={open}
      aria-controls={open ? `${kind}-panel` : undefined}
      aria-keyshortcuts={shortcut}
      title={`${label} (${shortcut})`}
      onClick={run}
    >
      <span class="hidden-visually">{label}</span>
      {children}
    </button>
  );
}

interface ToggleProps {
  readonly on: boolean;
  /** Effect of pressing it. */
  readonly label: string;
  readonly shortcut: string;
  readonly run: () => void;
  readonly children: ComponentChildren;
}

function Toggle({ on, label, shortcut, run, children }: ToggleProps) {
  return (
    <button
      type="button"
      class={on ? 'button toggle' : 'button toggle off'}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      title={`${label} (${shortcut})`}
      onClick={run}
    >
      {children}
      <span aria-hidden="true">{label}</span>
    </button>
  );
}
