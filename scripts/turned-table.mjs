#!/usr/bin/env node
// One thing turned at a time on the links fitted to Converge: a row for each
// system of what `weft lab run converge/driving-turned --out DIR` has left.
//
//   node scripts/turned-table.mjs DIR docs/results/converge-as-published.md
//
// writes it into the file, between MARK and the mark that ends it.

import { estimate, replacePart, summaries } from './results.mjs';

const MARK = '<!-- turned: written by scripts/turned-table.mjs -->';
/** Metrics with their titles, digits, and what they are multiplied with. */
const METRICS = [
  ['throughput_mbps', 'rate, Mbps', 2],
  ['fps', 'fps', 1],
  ['freeze_s', 'frozen, s', 1],
  ['frames_dropped', 'frames dropped', 0],
  ['keyframe_requests', 'keyframe requests', 1],
  ['e2e_ms_mean', 'latency, ms', 0],
  ['fec_overhead', 'FEC overhead, %', 1, 100],
  ['fec_utilisation', 'FEC used, %', 1, 100],
];

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: turned-table.mjs DIR FILE: DIR is what `weft lab run converge/driving-turned --out DIR` has written');
  process.exit(2);
}

const summary = summaries(folder).find((each) => each.scenario === 'converge/driving-turned');
if (summary === undefined) {
  console.error(`${folder} has no results of converge/driving-turned`);
  process.exit(2);
}

function cell(system, [metric, , digits, factor = 1]) {
  const row = summary.results.find((each) => each.system === system && each.metric === metric);
  return row === undefined ? '-' : estimate(row, digits, ' ± ', factor);
}

const systems = [...new Set(summary.results.map((row) => row.system))];
const lines = systems.map((system) => `| ${[`\`${system}\``, ...METRICS.map((metric) => cell(system, metric))].join(' | ')} |`);
const head = `| system | ${METRICS.map(([, title]) => title).join(' | ')} |\n|${'---|'.repeat(METRICS.length + 1)}`;
replacePart(MARK, file, `${summary.seeds.length} seeds:\n\n${head}\n${lines.join('\n')}\n`);
