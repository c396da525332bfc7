// One of the two pictures, with its viewer's statistics.

import { useState } from 'preact/hooks';
import type { CallFigures } from '../model/types';
import type { Player } from '../signal/whep';
import { fps, mbps, ms, seconds, size } from '../view/format';
import { useFreeze, useStore } from '../view/hooks';
import { peerWords, Picture } from '../view/parts';
import type { Freezes } from './watch';

/** Duration of a freeze after which the overlay appears, ms; shorter ones are unreadable. */
const OVERLAY_MS = 400;

interface CallPictureProps {
  readonly kind: 'weft' | 'single';
  readonly caption: string;
  readonly player: Player;
  readonly figures: CallFigures | undefined;
  readonly freezes: Freezes | null;
  /** Reason why there may be no picture yet; null if none is known. */
  readonly hindrance: string | null;
}

export function CallPicture({ kind, caption, player, figures, freezes, hindrance }: CallPictureProps) {
  const stream = useStore(player.streams)[0] ?? null;
  const state = useStore(player.state);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, stream);
  const words = peerWords(state);
  const frozen = standing.frozen && standing.forMs >= OVERLAY_MS;
  // A frozen picture stays visible and is not covered by a reconnect message.
  const veil = standing.seen ? null : hindrance !== null ? `No picture yet: ${hindrance}` : (words ?? 'Waiting for the first picture…');

  return (
    <figure class={`call call-${kind}`}>
      <figcaption>
        <span class="call-swatch" aria-hidden="true" />
        <h2>{caption}</h2>
      </figcaption>
      <div class={frozen ? 'tile frozen' : 'tile'}>
        <Picture stream={stream} label={caption} muted onElement={setVideo} />
        {veil !== null && (
          // A new text is a new element, so that the other elements do not move.
          <p key={veil} class="veil">
            {veil}
          </p>
        )}
        {veil === null && frozen && (
          <p class="freeze" aria-hidden="true">
            <svg viewBox="0 0 24 24" class="icon" focusable="false">
              <path d="M9 6v12M15 6v12" />
            </svg>
            Frozen <strong>{seconds(standing.forMs / 1000)}</strong>
          </p>
        )}
      </div>
      <dl class="figures">
        <div class="loud" title="By the W3C's definition of a freeze, as the call's receiver sees its pictures">
          <dt>Frozen for</dt>
          <dd>
            <span class="value">{seconds(freezes?.s ?? null)}</span>
            <span class="times">{freezes !== null && freezes.count > 0 && times(freezes.count)}</span>
          </dd>
        </div>
        <Figure term="Picture" value={size(figures?.width ?? null, figures?.height ?? null)} />
        <Figure term="Frames" value={fps(figures?.fps ?? null)} />
        <Figure term="Delay" value={ms(figures?.e2eMs ?? null)} />
        <Figure term="Rate" value={mbps(figures?.throughputMbps ?? null)} />
      </dl>
    </figure>
  );
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function Figure({ term, value }: { readonly term: string; readonly value: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}
