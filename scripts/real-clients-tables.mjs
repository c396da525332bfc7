#!/usr/bin/env node
// Writes tables of `weft lab run campaigns/real-clients.toml --out DIR`:
// clients against one TCP flow, the thesis's experiments, and simulator against
// emulator.
//
//   node scripts/real-clients-tables.mjs DIR docs/results/real-clients.md
//
// writes the tables with results in DIR into the file, each between its own
// mark and the next one. Clients without results against TCP keep their rows.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { doubts, estimate, head, line, order, partOf, replacePart, summaries } from './results.mjs';

const mark = (part) => `<!-- ${part}: written by scripts/real-clients-tables.mjs -->`;

/** Metrics with their titles and digits. */
const AGAINST_TCP = [
  ['throughput_mbps.call', 'media, Mbit/s', 2],
  ['goodput_mbps.download', 'TCP, Mbit/s', 2],
  ['queue_ms_mean', 'queue, ms', 0],
  ['queue_ms_p95', 'queue p95, ms', 0],
  ['fps', 'fps', 1],
  ['height_px', 'lines', 0],
  ['freeze_count', 'freezes', 1],
  ['freeze_s', 'frozen, s', 1],
  ['e2e_ms_mean', 'latency, ms', 0],
  ['loss.call', 'lost', 3],
];
const GCC = [
  ['throughput_mbps', 'Mbit/s, all calls', 2],
  ['throughput_mbps.tcp', 'TCP, Mbit/s', 2],
  ['utilisation', 'utilisation', 2],
  ['convergence_s', 'convergence, s', 1],
  ['queue_ms_mean', 'queue, ms', 0],
  ['queue_ms_p95', 'queue p95, ms', 0],
  ['fps', 'fps', 1],
  ['freeze_s', 'frozen, s', 1],
  ['jain_index', "Jain's index", 2],
];
/** The system of the simulator that stands for a client. */
const SIMULATED = { weft: 'weft', chromium: 'webrtc' };

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: real-clients-tables.mjs DIR FILE: DIR is what `weft lab run campaigns/real-clients.toml --out DIR` has written');
  process.exit(2);
}

/** `weft (tcp cubic, line SPEC)`: the system, and the values that were varied. */
function parts(system) {
  const [, name, varied = ''] = /^(.*?)(?: \((.*)\))?$/.exec(system);
  return { name, varied };
}

/** Rate, TCP and queue of the values of `real/against-tcp`. */
function placeOf(varied) {
  const [, tcp, spec] = /^tcp (\S+), line (\S+)$/.exec(varied);
  const keys = Object.fromEntries(spec.split(',').map((item) => item.split('=')));
  return [keys.rate.replace('mbit', ''), tcp, keys.aqm ?? keys.queue];
}

const systemsOf = (summary) => [...new Set(summary.results.map((row) => row.system))];
const rowOf = (summary, metric, system) => summary?.results.find((row) => row.metric === metric && row.system === system);

const told = (row, digits) => (row === undefined ? '-' : estimate(row, digits));

/** The rows that the file has of other clients against TCP. */
function rowsOfOthers(clients) {
  const lines = partOf(mark('against-tcp'), file).split('\n').filter((each) => /^\| \d/.test(each));
  const rows = lines.map((each) => each.slice(2, -2).split(' | '));
  return rows.filter(([, , , client]) => !clients.includes(client));
}

function againstTcp() {
  const at = join(folder, 'against-tcp');
  const clients = existsSync(at) ? readdirSync(at).filter((name) => name !== 'simulated').sort(order) : [];
  if (clients.length === 0) return '';
  const [simulated] = existsSync(join(at, 'simulated')) ? summaries(join(at, 'simulated')) : [];
  const lines = clients.flatMap((client) => summaries(join(at, client)).flatMap((summary) => systemsOf(summary).map((system) => {
    const { varied } = parts(system);
    const place = placeOf(varied);
    const cells = AGAINST_TCP.map(([metric, , digits]) => {
      const here = told(rowOf(summary, metric, system), digits);
      const there = rowOf(simulated, metric, `${SIMULATED[client]} (${varied})`);
      return there === undefined || here === '-' ? here : `${here} (${there.mean.toFixed(digits)})`;
    });
    const { n } = rowOf(summary, 'throughput_mbps.call', system);
    return [...place, client, n, ...cells, doubts(summary, system)];
  })));
  lines.push(...rowsOfOthers(clients));
  lines.sort((a, b) => order(a.slice(0, 4).join(' '), b.slice(0, 4).join(' ')));
  return '### A call against one TCP flow\n\nRound trip 50 ms, 360p, while both run; CoDel and FQ-CoDel with room for 10 BDP. In brackets what the simulator says of weft, and, beside Chromium, of plain WebRTC.\n\n'
    + head(['Mbit/s', 'TCP', 'queue', 'client', 'runs', ...AGAINST_TCP.map(([, title]) => title), 'doubts'])
    + lines.map(line).join('');
}

/** What was published of a metric; of the calls together, where there is one. A requirement is no measurement. */
function publishedOf(summary, metric, system) {
  const isIt = (each) => [metric, `${metric}.call`].includes(each.metric) && each.system === system;
  return summary.published.find((each) => isIt(each) && (each.published ?? null) !== null && !each.source.includes('requirement'))?.published;
}

function gcc() {
  const at = join(folder, 'gcc');
  if (!existsSync(at)) return '';
  const lines = summaries(at).flatMap((summary) => systemsOf(summary).map((system) => {
    const { varied } = parts(system);
    const cells = GCC.map(([metric, , digits]) => {
      const here = told(rowOf(summary, metric, system), digits);
      const published = publishedOf(summary, metric, system);
      return published === undefined || here === '-' ? here : `${here} (${published.toFixed(digits)})`;
    });
    return [summary.scenario + (varied === '' ? '' : ` (${varied})`), summary.seeds.length, ...cells, doubts(summary, system)];
  }));
  return "### The thesis's experiments with Chromium\n\nIn brackets what was published of the browser of 2013 to 2016.\n\n"
    + head(['experiment', 'runs', ...GCC.map(([, title]) => title), 'doubts'])
    + lines.map(line).join('');
}

function simulatorAgainstEmulator() {
  const at = join(folder, 'converge');
  if (!existsSync(at)) return '';
  const lines = readdirSync(at).sort(order).flatMap((name) => {
    const found = join(at, name, 'disagreements.json');
    if (!existsSync(found)) return [];
    const [emulated] = summaries(join(at, name, 'emu'));
    return JSON.parse(readFileSync(found, 'utf8')).map((each) => [
      emulated.scenario, each.system, emulated.seeds.length, each.metric, each.sim.toFixed(3), each.emu.toFixed(3),
      each.relative === null ? '-' : `${(each.relative * 100).toFixed(0)} %`, each.agrees ? '' : '**apart**', doubts(emulated, each.system),
    ]);
  });
  return '### Simulator against emulator\n\nThe two cellular links of [Converge](../protocol/scheduler-converge.md), one camera, `--client weft`. **apart**: by more than a tenth, and by more than 20 kbit/s, 2 ms, a fiftieth of the link or half a per cent of the packets.\n\n'
    + head(['scenario', 'system', 'seeds', 'metric', 'simulator', 'emulator', 'difference', '', 'doubts'])
    + lines.map(line).join('');
}

const PARTS = { 'against-tcp': againstTcp(), gcc: gcc(), converge: simulatorAgainstEmulator() };

if (Object.values(PARTS).every((text) => text === '')) {
  console.error(`${folder} has nothing of the campaign: neither against-tcp, nor gcc, nor converge`);
  process.exit(2);
}
for (const [part, text] of Object.entries(PARTS)) {
  if (text !== '') replacePart(mark(part), file, text);
}
