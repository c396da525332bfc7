// Description of the demo in words that match its pictures.

import type { CallFigures, Tick } from '../model/types';

export const WEFT = 'weft';
export const SINGLE = 'single:wifi';

const TITLES: Readonly<Record<string, string>> = { wifi: 'WiFi', lte: 'LTE' };

/** Returns the name of a link as people write it. */
export function titleOf(link: string): string {
  return TITLES[link] ?? link;
}

/** Returns the effect of the links on both calls, in a sentence or two. */
export function storyOf({ links, calls }: Tick): string {
  const [weft, single] = [calls.get(WEFT), calls.get(SINGLE)];
  const alive = links.filter((link) => link.up).map((link) => titleOf(link.name));
  if (isFrozen(weft) && isFrozen(single)) {
    return alive.length === 0 ? 'Nothing gets through: both calls are frozen.' : 'Both calls are frozen.';
  }
  if (isFrozen(single)) return `The call over WiFi alone is frozen. weft continues${alive.length === 1 ? ` over ${alive[0]}` : ''}.`;
  if (isFrozen(weft)) return 'weft is frozen. The call over WiFi alone continues.';
  if (alive.length === 0) return 'Nothing gets through.';
  return alive.length < links.length ? `Both calls continue, now over ${alive.join(' and ')}.` : 'Both calls work.';
}

function isFrozen(figures: CallFigures | undefined): boolean {
  return figures?.frozen === true;
}
