// For the scripts that make tables of what `weft lab run SET --out DIR` has left.

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
  return existsSync(own) ? [JSON.parse(readFileSync(own, 'utf8')), ...deeper] : deeper;
}

/** Puts a text in place of what a file has behind this line. */
export function replaceBehind(mark, file, text) {
  const [before, after] = readFileSync(file, 'utf8').split(mark);
  if (after === undefined) {
    console.error(`${file} has no line ${mark}: add it where the tables are to begin`);
    process.exit(2);
  }
  writeFileSync(file, `${before}${mark}\n\n${text}`);
}
