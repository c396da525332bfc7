// Numbers in a readable form.

const NONE = '–';

export function mbps(value: number | null): string {
  if (value === null) return NONE;
  return value >= 10 ? `${value.toFixed(0)} Mbps` : `${value.toFixed(1)} Mbps`;
}

/** Amount of data, in decimal units like data plans. */
export function megabytes(value: number): string {
  return value >= 1000 ? `${(value / 1000).toFixed(1)} GB` : `${value.toFixed(0)} MB`;
}

export function ms(value: number | null): string {
  return value === null ? NONE : `${Math.round(value)} ms`;
}

export function seconds(value: number | null): string {
  return value === null ? NONE : `${value.toFixed(1)} s`;
}

/** A share, 0 to 1, in percent. */
export function percent(share: number | null): string {
  if (share === null) return NONE;
  const value = share * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

export function fps(value: number | null): string {
  return value === null ? NONE : `${value.toFixed(0)} fps`;
}

/** Time of day of milliseconds since 1970. */
export function timeOfDay(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** Width and height in pixels. */
export function size(width: number | null, height: number | null): string {
  return width === null || height === null ? NONE : `${width.toFixed(0)}×${height.toFixed(0)}`;
}

export function whole(value: number | null): string {
  return value === null ? NONE : value.toFixed(0);
}

/** Minutes and seconds. */
export function clock(s: number): string {
  const all = Math.max(0, Math.floor(s));
  return `${Math.floor(all / 60)}:${String(all % 60).padStart(2, '0')}`;
}

/** First letters of a name, or first letter and number, for a tile without a picture. */
export function initials(name: string): string {
  const words = name.trim().split(/[\s_-]+/u).filter((word) => word !== '');
  const [first = '?', last = ''] = [words[0], words.length > 1 ? words.at(-1) : ''];
  const end = /^\d+$/.test(last) ? last.slice(-3) : initial(last);
  return (initial(first) + end).toUpperCase();
}

function initial(word: string): string {
  return [...word][0] ?? '';
}

/** Colours of avatars. */
const HUES = 12;

/** Hue of a name's avatar in degrees; other names with the same initials mostly have another
 *  one. */
export function hue(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return ((sum % HUES) * 360) / HUES;
}
