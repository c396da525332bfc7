// How systems are told apart: colour, dash and mark, never a colour alone.

import { useEffect, useState } from 'preact/hooks';

const COLOURS = 8;
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const MARKS = ['circle', 'square', 'diamond', 'triangle'] as const;

export interface Look {
  /** Name of a colour of the style sheet. */
  readonly colour: string;
  readonly dash: readonly number[];
  readonly mark: (typeof MARKS)[number];
}

export function lookOf(index: number): Look {
  const round = Math.floor(index / COLOURS) + index;
  return {
    colour: `series-${(index % COLOURS) + 1}`,
    dash: DASHES[round % DASHES.length] ?? [],
    mark: MARKS[round % MARKS.length] ?? 'circle',
  };
}

/** The colours of the style sheet, for canvases. */
export type Palette = (name: string) => string;

/** A new palette whenever light turns to dark, or the screen to paper. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState<Palette>(() => read());
  useEffect(() => {
    const media = ['(prefers-color-scheme: dark)', 'print'].map((query) => matchMedia(query));
    const change = (): void => setPalette(() => read());
    for (const each of media) each.addEventListener('change', change);
    return () => {
      for (const each of media) each.removeEventListener('change', change);
    };
  }, []);
  return palette;
}

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}
