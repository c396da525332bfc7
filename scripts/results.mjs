// Shared code of the scripts that make tables from `weft lab run SET --out
// DIR`.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of names, in which numbers count as numbers. */
export const order = new Intl.Collator('en', { numeric: true }).compare;

/** Every summary in a folder and below it, in the order of the scenarios' names. */
export function summaries(folder) {
  return below(folder).sort((a, b) => order(a.scenario, b.scenario));
}

function below(at) {
  const own = join(at, 'summary.json');
  const folders = readdirSync(at, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'series');
  const deeper = folders.flatMap((entry) => below(join(at, entry.name)));
  return existsSync(own) ? [{ ...JSON.parse(readFileSync(own, 'utf8')), folder: at }, ...deeper] : deeper;
}

/** The value of each run of a scenario: `of(system, metric)`, in the order of the seeds. */
export function runs({ folder }) {
  const [, ...lines] = readFileSync(join(folder, 'runs.csv'), 'utf8').trim().split('\n');
  const values = new Map();
  for (const line of lines) {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
    const [system, , metric, value] = cells;
    const key = `${system}|${metric}`;
    values.set(key, [...(values.get(key) ?? []), Number(value)]);
  }
  return (system, metric) => values.get(`${system}|${metric}`) ?? [];
}

/** Mean of a row and half of its 95 % interval, each times a factor. */
export function estimate({ mean, ci95: [low, high] }, digits, sign = ' ±', factor = 1) {
  const told = (value) => (value * factor).toFixed(digits);
  return told(mean) + (low === null || high === null ? '' : `${sign}${told((high - low) / 2)}`);
}

export const sum = (values) => values.reduce((whole, value) => whole + value, 0);

/** A row of a table, and its first two lines. */
export const line = (cells) => `| ${cells.join(' | ')} |\n`;
export const head = (titles) => line(titles) + `|${'---|'.repeat(titles.length)}\n`;

/** In how many runs of a system the machine was too slow, and the worst. */
export function doubts(summary, system) {
  // Properties of every run are omitted.
  const notes = summary.notes.filter((note) => note.startsWith(`${system}, seed `) || !/, seed \d+: /.test(note));
  const found = (pattern) => notes.flatMap((note) => pattern.exec(note)?.[1] ?? []).map(Number);
  const late = found(/packets were up to ([\d.]+) ms late/);
  const untaken = found(/(\d+) packets were lost before the emulator could take them/);
  const unlogged = found(/(\d+) packets are missing from the log/);
  const limited = found(/the processor limited the pictures for ([\d.]+) s/);
  return [
    late.length > 0 && `${late.length} late (${Math.max(...late).toFixed(0)} ms)`,
    untaken.length > 0 && `${untaken.length} not taken (${sum(untaken)} packets)`,
    unlogged.length > 0 && `${unlogged.length} not written down (${sum(unlogged)} packets)`,
    limited.length > 0 && `${limited.length} short of processor`,
  ].filter(Boolean).join(', ') || '-';
}

/** Puts a text in place of what a file has behind this line. */
export function replaceBehind(mark, file, text) {
  const [before] = split(mark, file);
  writeFileSync(file, `${before}\n\n${text}`);
}

/** Puts a text between this line of a file and its next line of the kind, or its end. */
export function replacePart(mark, file, text) {
  const [before, , after] = split(mark, file);
  writeFileSync(file, `${before}\n\n${text}${after}`);
}

/** What stands there. */
export function partOf(mark, file) {
  const [, part] = split(mark, file);
  return part;
}

/** A file up to this line, what follows it, and from the next line of the kind on. */
function split(mark, file) {
  const page = readFileSync(file, 'utf8');
  const from = page.indexOf(mark);
  if (from < 0) {
    console.error(`${file} has no line ${mark}: add it where the table is to begin`);
    process.exit(2);
  }
  const start = from + mark.length;
  const next = page.indexOf('\n<!-- ', start);
  const end = next < 0 ? page.length : next;
  return [page.slice(0, start), page.slice(start, end), page.slice(end)];
}
