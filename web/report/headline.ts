// Which results stand first, and which are folded away behind them.

import { split } from './data';

/** So many cards are seen at once; chosen by us: three rows of a wide screen. */
export const AT_ONCE = 9;

/** The results to show, and the rest: nothing is folded that fits. */
export function foremost(names: readonly string[], key: readonly string[]): readonly [readonly string[], readonly string[]] {
  if (names.length <= AT_ONCE) return [names, []];
  const rank = (name: string): number => key.indexOf(split(name)[0]);
  const first = names.filter((name) => rank(name) >= 0).sort((a, b) => rank(a) - rank(b));
  if (first.length === 0) return [names, []];
  return [first, names.filter((name) => rank(name) < 0)];
}
