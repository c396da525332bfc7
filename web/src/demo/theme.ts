import { useMemo } from 'preact/hooks';
import { useMedia } from '../view/hooks';

/** The colours of the style sheet, for canvases. */
export type Palette = (name: string) => string;

/** A new palette when light turns to dark, so that plots are drawn anew. */
export function usePalette(): Palette {
  const dark = useMedia('(prefers-color-scheme: dark)');
  return useMemo(() => {
    const style = getComputedStyle(document.documentElement);
    // `dark` is what the values depend on.
    void dark;
    return (name) => style.getPropertyValue(`--${name}`).trim();
  }, [dark]);
}
