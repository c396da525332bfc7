// One of the two pictures, with what the page itself sees of it.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallFigures } from '../model/types';
import type { Player } from '../signal/whep';
import { fps, mbps, ms, seconds, size, whole } from '../view/format';
import { useFreeze, useStore } from '../view/hooks';
import { peerWords, Picture } from '../view/parts';

/** From here on the overlay shows, ms: shorter than this nobody reads it. */
const OVERLAY_MS = 400;

/** From here on a screen reader hears of it, ms. */
const SAY_MS = 1_000;

interface CallPictureProps {
  readonly kind: 'weft' | 'single';
  readonly caption: string;
  readonly player: Player;
  readonly figures: CallFigures | undefined;
  readonly say: (sentence: string) => void;
}

export function CallPicture({ kind, caption, player, figures, say }: CallPictureProps) {
  const stream = useStore(player.streams)[0] ?? null;
  const state = useStore(player.state);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, stream);
  const words = peerWords(state);
  const frozen = standing.frozen && standing.forMs >= OVERLAY_MS;
  const longFrozen = standing.frozen && standing.forMs >= SAY_MS;
  const told = useRef(false);
  useEffect(() => {
    if (longFrozen) say(`${caption}: the picture is frozen.`);
    else if (told.current) say(`${caption}: the picture moves again.`);
    told.current = longFrozen;
  }, [longFrozen, caption, say]);

  return (
    <figure class={`call call-${kind}`}>
      <figcaption>
        <span class="call-swatch" aria-hidden="true" />
        <h2>{caption}</h2>
      </figcaption>
      <div class={frozen ? 'tile frozen' : 'tile'}>
        <Picture stream={stream} label={caption} muted onElement={setVideo} />
        {words !== null && <p class="veil">{words}</p>}
        {words === null && !standing.seen && <p class="veil">Waiting for the first picture…</p>}
        {words === null && frozen && (
          <p class="freeze" aria-hidden="true">
            <svg viewBox="0 0 24 24" class="icon" focusable="false">
              <path d="M9 6v12M15 6v12" />
            </svg>
            Frozen <strong>{seconds(standing.forMs / 1000)}</strong>
          </p>
        )}
      </div>
      <dl class="figures">
        <Figure term="Frozen so far" value={seconds(figures?.freezeS ?? null)} loud />
        <Figure term="Freezes" value={whole(figures?.freezeCount ?? null)} />
        <Figure term="Picture" value={size(figures?.width ?? null, figures?.height ?? null)} />
        <Figure term="Frame rate" value={fps(figures?.fps ?? null)} />
        <Figure term="Latency" value={ms(figures?.e2eMs ?? null)} />
        <Figure term="Rate" value={mbps(figures?.throughputMbps ?? null)} />
      </dl>
      <p class="measured" title="From the moments at which frames appear in this page, by the W3C's definition of a freeze">
        Seen in this page: {seconds(standing.totalMs / 1000)} frozen in {standing.count}{' '}
        {standing.count === 1 ? 'freeze' : 'freezes'}, {standing.fps} {standing.fps === 1 ? 'frame' : 'frames'} a second
      </p>
    </figure>
  );
}

function Figure({ term, value, loud = false }: { readonly term: string; readonly value: string; readonly loud?: boolean }) {
  return (
    <div class={loud ? 'loud' : ''}>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}
