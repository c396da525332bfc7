#!/usr/bin/env node
// Writes the table of `weft lab run campaigns/radio-clients.toml --out DIR`:
// real clients and the kernel's TCP in the thesis's cells, next to the
// simulator and the published values.
//
//   node scripts/radio-clients-table.mjs DIR docs/results/gcc-radio.md
//
// writes it into the file, between its mark and the next one.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { doubts, estimate, head, line, order, replacePart, sum, summaries } from './results.mjs';

const MARK = '<!-- What follows is written by scripts/radio-clients-table.mjs -->';
const PARTS = [1, 2, 3, 4];
/** Metrics of flows that are added up. A browser does not tell what of its packets was payload. */
const COLUMNS = [
  ['call up', 'throughput_mbps', ['up']],
  ['call down', 'throughput_mbps', ['down']],
  ['TCP down', 'goodput_mbps', ['tcp-pc3-down', 'tcp-pc4-down']],
  ['TCP up', 'goodput_mbps', ['tcp-pc3-up', 'tcp-pc4-up']],
];

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: radio-clients-table.mjs DIR FILE: DIR is what `weft lab run campaigns/radio-clients.toml --out DIR` has written');
  process.exit(2);
}

/** The simulated system that an emulated one stands for, which says the place: `chromium@pc3 (webrtc-far)`. */
const simulatedOf = (system) => /\((.*)\)$/.exec(system)?.[1] ?? system;
const placeOf = (system) => /-(near|far|mixed)$/.exec(simulatedOf(system))?.[1] ?? system;

/** The rows of these flows in a part, as far as there are any. */
function rowsOf(summary, system, metric, part, flows) {
  const metrics = flows.map((flow) => `${metric}#${part}.${flow}`);
  return summary.results.filter((row) => row.system === system && metrics.includes(row.metric));
}

/** `emulated (simulated; published)`, Mbit/s. */
function cell(emulated, simulated, system, part, [, metric, flows]) {
  const here = rowsOf(emulated, system, metric, part, flows);
  const there = rowsOf(simulated, simulatedOf(system), metric, part, flows);
  if (here.length === 0) return '';
  const digits = flows.length > 1 ? 1 : 2;
  const found = here.length > 1 ? sum(here.map((row) => row.mean)).toFixed(digits) : estimate(here[0], digits);
  const isOf = (each) => each.system === simulatedOf(system) && flows.some((flow) => each.metric === `goodput_mbps#${part}.${flow}`);
  const published = simulated.published.filter((each) => isOf(each) && (each.published ?? null) !== null);
  const told = published.length === 0 ? '' : `; ${sum(published.map((each) => each.published)).toFixed(digits)}`;
  return `${found} (${sum(there.map((row) => row.mean)).toFixed(digits)}${told})`;
}

function rowsOfClient(experiment, client) {
  const at = (engine) => join(folder, experiment, client, engine);
  if (!existsSync(join(at('emu'), 'summary.json'))) return [];
  const [[emulated], [simulated]] = [summaries(at('emu')), summaries(at('sim'))];
  const systems = [...new Set(emulated.results.map((row) => row.system))];
  return systems.flatMap((system) => PARTS.map((part) => [
    experiment, placeOf(system), client, part, emulated.seeds.length,
    ...COLUMNS.map((column) => cell(emulated, simulated, system, part, column)),
    part === 1 ? doubts(emulated, system) : '',
  ]));
}

const folders = (at) => (existsSync(at) ? readdirSync(at).sort(order) : []);
const rows = ['wifi-4', 'lte-2'].flatMap((experiment) => folders(join(folder, experiment)).flatMap((client) => rowsOfClient(experiment, client)));
if (rows.length === 0) {
  console.error(`${folder} has nothing of the campaign: neither wifi-4 nor lte-2 with an emulated client`);
  process.exit(2);
}
replacePart(MARK, file, `Mbit/s that arrived, of calls with their headers: in the emulator (in the simulator; published).\n\n${
  head(['experiment', 'place', 'client', 'part', 'runs', ...COLUMNS.map(([title]) => title), 'doubts'])}${rows.map(line).join('')}`);
