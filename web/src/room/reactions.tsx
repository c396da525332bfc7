// Raised hand and reactions.

import { REACTIONS, type Reaction } from '../model/types';
import { Hand, Smile } from '../view/icons';

const SIGNS: Record<Reaction, readonly [string, string]> = {
  thumbs_up: ['👍', 'Thumbs up'],
  clap: ['👏', 'Applause'],
  heart: ['❤️', 'Heart'],
  laugh: ['😂', 'Laughter'],
  surprise: ['😮', 'Surprise'],
  party: ['🎉', 'Party'],
};

interface ReactionsButtonProps {
  readonly raised: boolean;
  readonly setHand: (raised: boolean) => void;
  readonly react: (reaction: Reaction) => void;
}

/** Button that opens the reactions; closed by Escape or a click elsewhere. */
export function ReactionsButton({ raised, setHand, react }: ReactionsButtonProps) {
  return (
    <>
      <button type="button" class={raised ? 'button toggle raised' : 'button toggle'} aria-label="Reactions" aria-keyshortcuts="R" title="Reactions (R)" popovertarget="reactions">
        {raised ? <Hand /> : <Smile />}
        <span aria-hidden="true">{raised ? 'Hand raised' : 'Reactions'}</span>
      </button>
      <div class="card popover reactions" id="reactions" popover="auto" role="dialog" aria-label="Reactions">
        <button type="button" class="button" aria-pressed={raised} aria-keyshortcuts="H" title="H" onClick={() => setHand(!raised)}>
          <Hand />
          {raised ? 'Lower hand' : 'Raise hand'}
        </button>
        <div class="signs">
          {REACTIONS.map((each) => (
            <button key={each} type="button" class="button" aria-label={SIGNS[each][1]} title={SIGNS[each][1]} onClick={() => react(each)}>
              {SIGNS[each][0]}
            </button>
          ))}
        </div>
      </div>
    </>
  );
}

/** Signs over a tile: a raised hand, and the latest reaction. */
export function Signs({ hand, reaction }: { readonly hand: boolean; readonly reaction: Reaction | null }) {
  if (!hand && reaction === null) return null;
  return (
    <p class="signs-on-tile">
      {hand && (
        <span class="raised">
          <Hand />
          <span class="hidden-visually">Hand raised</span>
        </span>
      )}
      {reaction !== null && (
        <span class="reaction" role="img" aria-label={SIGNS[reaction][1]}>
          {SIGNS[reaction][0]}
        </span>
      )}
    </p>
  );
}
