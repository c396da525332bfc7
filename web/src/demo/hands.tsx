// Large buttons under the pictures: cut a link, restore it, restart.

import type { DemoLink, Forced } from '../model/types';
import { Cut, Restart } from '../view/icons';
import { titleOf } from './words';

interface HandsProps {
  readonly links: readonly Pick<DemoLink, 'name' | 'forced'>[];
  readonly onForce: (link: string, forced: Forced) => void;
  readonly onRestart: () => void;
}

export function Hands({ links, onForce, onRestart }: HandsProps) {
  return (
    <div class="hands" role="group" aria-label="Links">
      {links.map(({ name, forced }) => {
        const cut = forced === 'cut';
        return (
          <button
            key={name}
            type="button"
            class={cut ? 'button hand back' : 'button hand cut'}
            data-widest={`Restore ${titleOf(name)}`}
            title={cut ? 'Restore it now' : 'Block it until you restore it or leave'}
            onClick={() => onForce(name, cut ? 'up' : 'cut')}
          >
            <span class="hand-face">
              <Cut mended={cut} />
              <span>{cut ? `Restore ${titleOf(name)}` : `Cut ${titleOf(name)}`}</span>
            </span>
          </button>
        );
      })}
      <button type="button" class="button hand again" title="From the beginning, every figure at zero" onClick={onRestart}>
        <Restart />
        <span>Restart</span>
      </button>
    </div>
  );
}
