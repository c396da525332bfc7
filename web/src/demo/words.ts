// What the demo says in words: the same story as its pictures tell.

import type { CallFigures, Tick } from '../model/types';

export const WEFT = 'weft';
export const SINGLE = 'single:wifi';

const TITLES: Readonly<Record<string, string>> = { wifi: 'WiFi', lte: 'LTE' };

/** A link as people write it. */
export function titleOf(link: string): string {
  return TITLES[link] ?? link;
}

/** What the state of the links does to both calls, a sentence or two. */
export function storyOf({ links, calls }: Tick): string {
  const [weft, single] = [calls.get(WEFT), calls.get(SINGLE)];
  const alive = links.filter((link) => link.up).map((link) => titleOf(link.name));
  if (stands(weft) && stands(single)) {
    return alive.length === 0 ? 'Nothing gets through: both calls stand still.' : 'Both calls stand still.';
  }
  if (stands(single)) return `The call over WiFi alone stands still. weft goes on${alive.length === 1 ? ` over ${alive[0]}` : ''}.`;
  if (stands(weft)) return 'weft stands still. The call over WiFi alone goes on.';
  if (alive.length === 0) return 'Nothing gets through.';
  return alive.length < links.length ? `Both calls go on, now over ${alive.join(' and ')}.` : 'Both calls go on.';
}

function stands(figures: CallFigures | undefined): boolean {
  return figures?.frozen === true;
}
