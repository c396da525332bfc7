import { useMemo } from 'preact/hooks';
import { useMedia } from '../view/hooks';

/** Colours of the style sheet, for canvases. */
export type Palette = (name: string) => string;

/** Returns a new palette when the theme changes, so that plots are redrawn. */
export function usePalette(): Palette {
  const dark = useMedia('(prefers-color-scheme: dark)');
  return useMemo(() => {
    const style = getComputedStyle(document.documentElement);
    // The values depend on `dark`.
    void dark;
    return (name) => style.getPropertyValue(`--${name}`).trim();
  }, [dark]);
}
