#!/usr/bin/env node
// Writes the tables of docs/results/converge.md from the results of its
// commands. Each table is between a line `<!-- table NAME -->` and a line `<!--
// end -->`.
//
//   node scripts/converge-tables.mjs DIR docs/results/converge.md
//
// DIR has the folders `all`, `lossy` and `same-rate`, filled by the commands of
// the page. A table without results stays as it is, and is named. Mean and half
// of the 95 % interval.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { summaries } from './results.mjs';

/** Title, metric, digits, and what the metric is multiplied by. */
const COLUMNS = {
  rate: ['rate, Mbps', 'throughput_mbps', 2],
  fps: ['fps', 'fps', 1],
  frozen: ['frozen, s', 'freeze_s', 1],
  frozenFine: ['frozen, s', 'freeze_s', 2],
  dropped: ['frames dropped', 'frames_dropped', 0],
  requests: ['keyframe requests', 'keyframe_requests', 1],
  latency: ['latency, ms', 'e2e_ms_mean', 0],
  latencyFine: ['latency, ms', 'e2e_ms_mean', 1],
  p95: ['p95, ms', 'e2e_ms_p95', 0],
  p95Fine: ['p95, ms', 'e2e_ms_p95', 1],
  qp: ['QP', 'qp', 1],
  psnr: ['PSNR, dB', 'psnr_db', 1],
  psnrFine: ['PSNR, dB', 'psnr_db', 2],
  overhead: ['FEC overhead, %', 'fec_overhead', 1, 100],
  used: ['FEC used, %', 'fec_utilisation', 1, 100],
  construction: ['frame construction, ms', 'fcd_ms', 1],
  between: ['between frames, ms', 'ifd_ms', 2],
};

const CALL = ['rate', 'fps', 'frozen', 'dropped', 'requests', 'latency', 'p95'];
const WHOLE = [...CALL, 'qp', 'psnr', 'overhead', 'used'];
/** By name: the folder, the scenario, the columns, and how many cameras where that is varied. */
const TABLES = {
  'path-repair': ['all', 'path-repair', CALL],
  'path-repair-lossy': ['lossy', 'path-repair', [...CALL, 'overhead']],
  'same-rate': ['same-rate', 'driving', [...CALL, 'overhead'], '1'],
  'feedback-ablation': ['all', 'feedback-ablation', ['fps', 'frozenFine', 'latencyFine', 'p95Fine', 'construction', 'between']],
  psnr: ['all', 'psnr', ['psnrFine', 'qp', 'rate']],
};
/** The sections of `radio-walk`, whose means stand beside those of the whole. */
const SECTIONS = [1, 2, 3, 4, 5];

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: converge-tables.mjs DIR FILE: DIR is what the commands of FILE have written');
  process.exit(2);
}

/** A scenario that has not been run. */
class Missing extends Error {}

/** The summary of a scenario in one of the folders. */
function summary(of, scenario) {
  const at = join(folder, of);
  const found = existsSync(at) ? summaries(at).find((each) => each.scenario === `converge/${scenario}`) : undefined;
  if (found === undefined) throw new Missing(`${at} has nothing of converge/${scenario}`);
  return found;
}

function cell({ results }, system, column) {
  const [, metric, digits, factor = 1] = COLUMNS[column];
  const row = results.find((each) => each.system === system && each.metric === metric);
  if (row === undefined) return '';
  const half = (row.ci95[1] - row.ci95[0]) / 2;
  return `${(row.mean * factor).toFixed(digits)} ± ${(half * factor).toFixed(digits)}`;
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n').replace(/^\| --- .*$/m, `|${'---|'.repeat(head.length)}`);
}

const titles = (columns) => columns.map((column) => COLUMNS[column][0]);
const systems = ({ results }) => [...new Set(results.map((row) => row.system))];
/** `converge (cameras 2)`, `converge (loss 2 %)`: the system, and what was varied. */
const parts = (system) => /^(\S+)(?: \((?:cameras |loss )?(.*)\))?$/.exec(system).slice(1);
const plain = (value) => (value >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

/** The systems of a scenario, or those with so many cameras. */
function ofSystems(of, columns, cameras) {
  const own = systems(of).filter((system) => parts(system)[1] === cameras);
  return table(['system', ...titles(columns)], own.map((system) => [`\`${parts(system)[0]}\``, ...columns.map((column) => cell(of, system, column))]));
}

/** What the paper says beside what came out, for so many cameras. */
function publishedRows(of, cameras) {
  return of.published.filter((row) => parts(row.system)[1] === cameras).map((row) => {
    const over = row.relative_to === null ? '' : ` over \`${parts(row.relative_to)[0]}\``;
    const [low, high] = row.agrees;
    const paper = row.published === null ? `${plain(low)} to ${plain(high)}` : plain(row.published);
    return [`\`${parts(row.system)[0]}\` ${row.metric}${over}: ${row.source}`, paper, row.here === null ? '' : plain(row.here), row.verdict];
  });
}

function radioWalk() {
  const of = summary('all', 'radio-walk');
  const bySection = (system, metric) => SECTIONS.map((section) => {
    const row = of.results.find((each) => each.system === system && each.metric === `${metric}#${section}`);
    return row === undefined ? '' : row.mean.toFixed(1);
  }).join(', ');
  const rows = systems(of).map((system) => {
    const [rate, fps, frozen, ...rest] = ['rate', 'fps', 'frozen', 'latency', 'p95', 'qp'].map((column) => cell(of, system, column));
    return [`\`${system}\``, rate, bySection(system, 'throughput_mbps'), fps, frozen, bySection(system, 'freeze_s'), ...rest];
  });
  const [rate, fps, frozen, ...rest] = titles(['rate', 'fps', 'frozen', 'latency', 'p95', 'qp']);
  return table(['system', rate, 'in the five parts', fps, frozen, 'in the five parts', ...rest], rows);
}

function fecSweep() {
  const of = summary('all', 'fec-sweep');
  const columns = ['overhead', 'used', 'rate', 'fps', 'frozen', 'dropped', 'requests', 'latency', 'p95'];
  const shown = systems(of).map((system) => [system, ...parts(system)]).filter(([, name]) => name !== 'weft');
  const losses = [...new Set(shown.map(([, , loss]) => loss))];
  const rows = losses.flatMap((loss) => shown.filter((each) => each[2] === loss)
    .map(([system, name]) => [loss, `\`${name}\``, ...columns.map((column) => cell(of, system, column))]));
  return table(['loss', 'system', ...titles(columns)], rows);
}

function make(name) {
  const call = /^(driving|walking|stationary)-([123])$/.exec(name);
  if (call !== null) return ofSystems(summary('all', call[1]), WHOLE, call[2]);
  const published = /^(driving|walking|stationary)-published$/.exec(name);
  if (published !== null) return table(['published', 'paper', 'here', 'verdict'], publishedRows(summary('all', published[1]), '1'));
  if (name === 'cameras-published') {
    const rows = ['driving', 'walking', 'stationary'].flatMap((scenario) => ['2', '3']
      .flatMap((cameras) => publishedRows(summary('all', scenario), cameras).map((row) => [`${scenario}, ${cameras}`, ...row])));
    return table(['scenario, cameras', 'published', 'paper', 'here', 'verdict'], rows);
  }
  if (name === 'radio-walk') return radioWalk();
  if (name === 'fec-sweep') return fecSweep();
  if (TABLES[name] === undefined) {
    console.error(`${file} wants a table ${name}, and there is none of this name`);
    process.exit(2);
  }
  const [of, scenario, columns, cameras] = TABLES[name];
  return ofSystems(summary(of, scenario), columns, cameras);
}

/** The table, or the text in its place if its scenario was not run. */
function madeOr(old, name) {
  try {
    return make(name);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    console.error(`table ${name} stays as it is: ${error.message}`);
    return old;
  }
}

const text = readFileSync(file, 'utf8').replace(/(<!-- table (\S+) -->\n)([^]*?)(\n<!-- end -->)/g,
  (_, begin, name, old, end) => `${begin}\n${madeOr(old.trim(), name)}\n${end}`);
writeFileSync(file, text);
