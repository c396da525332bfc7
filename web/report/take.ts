// A plot to take along: its values, and a drawing of them.

export interface Taken {
  readonly title: string;
  readonly unit: string;
  readonly xUnit: string;
  readonly x: readonly number[];
  readonly lines: readonly TakenLine[];
  /** Where the axis of values ends. */
  readonly top: number;
}

interface TakenLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly colour: string;
  readonly dash: readonly number[];
  readonly area?: boolean;
  readonly band?: { readonly lower: readonly (number | null)[]; readonly upper: readonly (number | null)[] };
}

/** A row for each moment, empty where there is no value. */
export function csvOf({ x, xUnit, unit, lines }: Taken): string {
  const columns = lines.flatMap(({ name, values, band }) => [
    { name, values },
    ...(band === undefined ? [] : [
      { name: `${name}, lower`, values: band.lower },
      { name: `${name}, upper`, values: band.upper },
    ]),
  ]);
  const head = [`x_${xUnit}`, ...columns.map(({ name }) => cell(`${name}${unit === '' ? '' : ` (${unit})`}`))];
  const rows = x.map((at, row) => [at, ...columns.map(({ values }) => values[row] ?? '')].join(','));
  return `${[head.join(','), ...rows].join('\n')}\n`;
}

/** Text as a cell of a table. */
export function cell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const [WIDTH, HEIGHT] = [720, 300];
const [LEFT, RIGHT, ABOVE, BELOW] = [52, 12, 28, 44];

/** A drawing for papers: black on white, as large as it is drawn. */
export function svgOf({ title, unit, xUnit, x, lines, top }: Taken): string {
  const [first, last] = [x[0] ?? 0, x.at(-1) ?? 1];
  const across = (at: number): number => LEFT + ((at - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
  const up = (value: number): number => HEIGHT - BELOW - (Math.min(Math.max(value, 0), top) / (top || 1)) * (HEIGHT - ABOVE - BELOW);
  const text = (at: readonly [number, number], words: string, anchor = 'start'): string => `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" text-anchor="${anchor}">${escaped(words)}</text>`;
  const label = (value: number): string => String(Number(value.toPrecision(3)));
  const parts = [0, 0.5, 1].flatMap((share) => [
    `<path d="M${LEFT} ${up(top * share).toFixed(1)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
    text([LEFT - 6, up(top * share) + 4], label(top * share), 'end'),
    text([across(first + (last - first) * share), HEIGHT - BELOW + 16], `${label(first + (last - first) * share)}${share === 1 ? ` ${xUnit}` : ''}`, share === 1 ? 'end' : share === 0 ? 'start' : 'middle'),
  ]);
  const filled = lines.map(({ area, band, values, colour }) => {
    const upper = band?.upper ?? (area === true ? values : []);
    const lower = band?.lower ?? upper.map((value) => (value === null ? null : 0));
    return `<path d="${between(x.map(across), lower, upper, up)}" fill="${escaped(colour)}" fill-opacity="0.19"/>`;
  });
  const drawn = lines.map((line) => `<path d="${pathOf(x.map(across), line.values, up)}" fill="none" stroke="${escaped(line.colour)}" stroke-width="1.6" stroke-dasharray="${line.dash.join(' ')}"/>`);
  const keys = lines.map((line, place) => `<g fill="${escaped(line.colour)}">${text([LEFT + (place * (WIDTH - LEFT)) / lines.length, HEIGHT - 8], line.name)}</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>${text([LEFT, 18], `${title} ${unit}`)}${parts.join('')}${filled.join('')}${drawn.join('')}${keys.join('')}</svg>\n`;
}

/** A line with gaps where there are no values. */
function pathOf(across: readonly number[], values: readonly (number | null)[], up: (value: number) => number): string {
  let pen = 'M';
  return across
    .map((at, place) => {
      const value = values[place] ?? null;
      const step = value === null ? '' : `${pen}${at.toFixed(1)} ${up(value).toFixed(1)}`;
      pen = value === null ? 'M' : 'L';
      return step;
    })
    .join('');
}

/** What lies between two lines, where both are known. */
function between(across: readonly number[], lower: readonly (number | null)[], upper: readonly (number | null)[], up: (value: number) => number): string {
  const known = across.flatMap((at, place) => {
    const [low, high] = [lower[place] ?? null, upper[place] ?? null];
    return low === null || high === null ? [] : [[at, up(low), up(high)] as const];
  });
  const there = known.map(([at, , high]) => `${at.toFixed(1)} ${high.toFixed(1)}`);
  const back = known.map(([at, low]) => `${at.toFixed(1)} ${low.toFixed(1)}`).reverse();
  return known.length === 0 ? '' : `M${[...there, ...back].join('L')}Z`;
}

export function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** What is on the screen, on the colour of the page. */
export function pngOf(canvas: HTMLCanvasElement, background: string): Promise<Blob | null> {
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const paint = copy.getContext('2d');
  if (paint === null) return Promise.resolve(null);
  paint.fillStyle = background;
  paint.fillRect(0, 0, copy.width, copy.height);
  paint.drawImage(canvas, 0, 0);
  return new Promise((resolve) => copy.toBlob(resolve));
}

/** Lets the browser save it. */
export function save(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
