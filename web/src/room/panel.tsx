// Panel beside the tiles: chat or people.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Close } from '../view/icons';

export type PanelKind = 'chat' | 'people';

interface PanelProps {
  readonly kind: PanelKind;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Closes on Escape; the focus returns to the button that opened it. */
export function Panel({ kind, title, onClose, children }: PanelProps) {
  // While the panel still has the focus, not after the next paint.
  useLayoutEffect(() => () => document.getElementById(`${kind}-button`)?.focus(), [kind]);
  return (
    <aside
      class="panel card"
      id={`${kind}-panel`}
      aria-labelledby={`${kind}-title`}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose();
      }}
    >
      <header class="panel-head">
        <h2 id={`${kind}-title`}>{title}</h2>
        <button type="button" class="button small quiet" aria-label={`Close ${title.toLowerCase()}`} onClick={onClose}>
          <Close />
        </button>
      </header>
      {children}
    </aside>
  );
}
