#!/usr/bin/env node
// Compares the published values of the application studies with `weft lab run
// SET --out DIR`: the number of matches, and a table for each figure.
//
//   node scripts/study-tables.mjs DIR docs/results/zoom.md
//
// writes them into the file, after the line MARK. Values that parameters were
// fitted to have "(fitted)" in their source, and do not count as checks.

import { order, replaceBehind, summaries } from './results.mjs';
import { studyChecks } from './study-checks.mjs';

const MARK = '<!-- What follows is written by scripts/study-tables.mjs -->';
/** More rows of one kind than this get one line for each verdict that more than FEW have. */
const MANY = 8;
const FEW = 3;

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: study-tables.mjs DIR FILE: DIR is what `weft lab run SET --out DIR` has written');
  process.exit(2);
}

const all = summaries(folder);

const number = (value) => (value === null ? '' : String(Number(value.toPrecision(3))));

const rows = all.flatMap((summary) => summary.published.map((row) => {
  const [, figure, said = ''] = /^.*?, ([^:,(]*[^:,( ])[:,]? ?(.*)$/.exec(row.source);
  const name = summary.scenario.replace(/^.*\//, '');
  const seeds = Math.max(...summary.results.map((each) => each.n));
  return { ...row, figure, said: said.replace(/ ?\(fitted\)/, '') || number(row.published), name, seeds, fitted: row.source.includes('(fitted)') };
}));

function range({ agrees: [low, high] }) {
  if (low === null) return `at most ${number(high)}`;
  return high === null ? `at least ${number(low)}` : `${number(low)} to ${number(high)}`;
}

function here({ here: value, ci95: [low, high] }) {
  if (value === null) return '';
  return low === null ? number(value) : `${number(value)} [${number(low)}, ${number(high)}]`;
}

function line(row) {
  const verdict = row.verdict === 'agrees' ? 'agrees' : `**${row.verdict}**`;
  const kind = row.fitted ? ' (fitted)' : '';
  return `| ${[row.name, `${row.system}${against(row)}`, `\`${row.metric}\``, row.said, range(row), here(row), `${verdict}${kind}`].join(' | ')} |`;
}

/** What a value is held against, in words. */
function against(row) {
  const other = [row.relative_metric && `\`${row.relative_metric}\``, row.relative_to].filter((words) => words).join(' of ');
  if (other === '') return '';
  return row.by === 'difference' ? `, less that of ${other}` : `, over that of ${other}`;
}

/** Rows of one scenario, metric and source. */
function kinds(of) {
  const keys = of.map((row) => [row.name, row.metric, row.source].join('|'));
  return [...new Set(keys)].map((key) => of.filter((_, index) => keys[index] === key));
}

function lines(kind) {
  if (kind.length <= MANY) return kind.map(line);
  const verdicts = [...new Set(kind.map((row) => row.verdict))].sort(order);
  return verdicts.flatMap((verdict) => {
    const own = kind.filter((row) => row.verdict === verdict);
    if (own.length <= FEW) return own.map(line);
    const values = own.map((row) => row.here);
    const span = `${number(Math.min(...values))} to ${number(Math.max(...values))}`;
    const [first] = own;
    const over = first.relative_to === null && first.relative_metric === null ? '' : ', against another';
    const said = verdict === 'agrees' ? 'agrees' : `**${verdict}**`;
    return [`| ${[first.name, `${own.length} of ${kind.length} conditions${over}`, `\`${first.metric}\``, first.said, range(first), span, said].join(' | ')} |`];
  });
}

function table(figure) {
  const own = rows.filter((row) => row.figure === figure);
  const head = '| scenario | condition | metric | published | agrees | here | verdict |\n|---|---|---|---|---|---|---|';
  const title = `${figure[0].toUpperCase()}${figure.slice(1)}`;
  return `## ${title}\n\n${head}\n${kinds(own).flatMap(lines).join('\n')}\n`;
}

function count(title, of) {
  const holding = of.filter((row) => row.verdict === 'agrees').length;
  return `| ${title} | ${holding} of ${of.length} |`;
}

const checks = studyChecks(all);
const checked = checks.map((each) => `| ${each.figure} | ${each.said} | ${each.here} | ${each.agrees ? 'agrees' : '**differs**'} |`);
const figures = [...new Set(rows.map((row) => row.figure))].sort(order);
const share = figures.map((figure) => count(figure, rows.filter((row) => row.figure === figure && !row.fitted)));
const seeds = kinds(rows.map((row) => ({ ...row, metric: '', source: '' }))).map(([row]) => `${row.name} ${row.seeds}`);
const text = [
  '## How many agree\n',
  '| | agree |\n|---|---|',
  count('**checks of single conditions**', rows.filter((row) => !row.fitted)),
  ...share.filter((each) => !each.endsWith('of 0 |')),
  count('what parameters were fitted to', rows.filter((row) => row.fitted)),
  ...(checks.length > 0 ? [`| **checks of many conditions or runs together** | ${checks.filter((each) => each.agrees).length} of ${checks.length} |`] : []),
  `\nSeeds: ${seeds.join(', ')}.\n`,
  ...(checks.length > 0 ? [`## Of many conditions or runs together\n\n| figure | published | here | verdict |\n|---|---|---|---|\n${checked.join('\n')}\n`] : []),
  ...figures.map(table),
].join('\n');

replaceBehind(MARK, file, text);
