#!/usr/bin/env node
// Which findings of the three studies of applications hold for the calls of
// today: what `weft lab run today --out DIR` has left, beside what
// docs/results/real-clients.md has of real clients.
//
//   node scripts/today-table.mjs DIR docs/results/studies-today.md
//
// writes the table into the file, behind the line that MARK is.

import { readFileSync } from 'node:fs';

import { replaceBehind, summaries } from './results.mjs';

const MARK = '<!-- What follows is written by scripts/today-table.mjs -->';
const REAL = new URL('../docs/results/real-clients.md', import.meta.url);
const SYSTEMS = ['weft', 'webrtc', 'gcc_draft', 'nada', 'scream'];
const CLIENTS = ['chromium', 'pion', 'aiortc', 'weft'];

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: today-table.mjs DIR FILE: DIR is what `weft lab run today --out DIR` has written');
  process.exit(2);
}

const all = summaries(folder);

/** What a metric is of a system here, under the varied values if there are any. */
function here(scenario, system, metric, ...varied) {
  const summary = all.find((each) => each.scenario === `today/${scenario}`);
  const named = (name) => name === system || name === `single/${system}`;
  const row = summary?.results.find((each) => {
    const [, name, values = ''] = /^([^(]*?)(?: \((.*)\))?$/.exec(each.system);
    return each.metric === metric && named(name) && values === varied.join(', ');
  });
  return row?.mean;
}

const rows = new Map();
for (const line of readFileSync(REAL, 'utf8').split('\n')) {
  const cells = line.split('|').map((cell) => cell.trim());
  if (CLIENTS.includes(cells[4]) && /^[25]$/.test(cells[1])) rows.set(cells.slice(1, 5).join(' '), { call: parseFloat(cells[6]), tcp: parseFloat(cells[7]) });
}
const real = (rate, tcp, queue, client) => rows.get([rate, tcp, queue, client].join(' '));

const harm = (found) => (found === undefined ? undefined : (1.9 - found.call) / 1.9);
const equality = (found) => (found === undefined ? undefined : found.call >= found.tcp ? 1 - found.tcp / found.call : found.call / found.tcp - 1);
const over = (a, b) => (a === undefined || b === undefined ? undefined : a / b);

/** A finding: what was said, by whom, what is told of a system or client, and whether that is the same. */
const FINDINGS = [
  ['2023', 'a WebRTC call loses three quarters of its rate to CUBIC behind drop-tail', 'harm; more than half', (system) => here('sharing', system, 'harm', 'cubic', 'droptail'), (client) => harm(real('5', 'cubic', '2bdp', client)), (value) => value > 0.5],
  ['2023', 'and more to BBRv2 (real clients: BBRv1)', 'harm; more than half', (system) => here('sharing', system, 'harm', 'bbr2', 'droptail'), (client) => harm(real('5', 'bbr1', '2bdp', client)), (value) => value > 0.5],
  ['2023', 'CoDel changes little: 0.62 beside CUBIC', 'harm; more than half', (system) => here('sharing', system, 'harm', 'cubic', 'codel'), (client) => harm(real('5', 'cubic', 'codel', client)), (value) => value > 0.5],
  ['2023', 'FQ_CoDel protects it', 'harm; at most a tenth', (system) => here('sharing', system, 'harm', 'cubic', 'fq_codel'), (client) => harm(real('5', 'cubic', 'fq_codel', client)), (value) => value <= 0.1],
  ['2021', 'a call takes twice CUBIC’s rate and more in a short queue (1 Mbit/s; real clients: 2)', 'equality; at least 0.5', (system) => here('narrow', system, 'flow_rate_equality', 'cubic', '0.5bdp'), (client) => equality(real('2', 'cubic', '0.5bdp', client)), (value) => value >= 0.5],
  ['2021', 'and in a long one', 'equality; at least 0.3', (system) => here('narrow', system, 'flow_rate_equality', 'cubic', '10bdp'), (client) => equality(real('2', 'cubic', '10bdp', client)), (value) => value >= 0.3],
  ['2021', 'but has half of BBR’s there, going up', 'equality; at most -0.3', (system) => here('narrow', system, 'flow_rate_equality', 'bbr1', '10bdp'), (client) => equality(real('2', 'bbr1', '10bdp', client)), (value) => value <= -0.3],
  ['2021', 'it sends its old rate for half a minute into a link of an eighth', 'loss from 5 to 25 s after the fall; at least a half', (system) => here('fall', system, 'loss#3'), () => undefined, (value) => value >= 0.5],
  ['2021', 'the client needs minutes to come back', 'rate in the first half minute of 4 Mbit/s, over that before; below 0.9', (system) => over(here('fall', system, 'throughput_mbps#6'), here('fall', system, 'sent_mbps#1')), () => undefined, (value) => value < 0.9],
  ['2009', 'one of four follows a falling capacity and loses nothing', 'loss; at most 1 %', (system) => here('steps', system, 'loss'), () => undefined, (value) => value <= 0.01],
  ['2009', 'two of four do not come back within half a minute', 'rate 25 s after, over that before; below 0.9', (system) => over(here('steps', system, 'sent_mbps#9'), here('steps', system, 'sent_mbps#1')), () => undefined, (value) => value < 0.9],
  ['2009', 'three of four keep their rate beside an upload', 'rate beside it, over that before; at least 0.95', (system) => over(here('upload', system, 'sent_mbps#3.call', 'uploads 1'), here('upload', system, 'sent_mbps#1.call', 'uploads 1')), () => undefined, (value) => value >= 0.95],
  ['2009', 'two of four keep it beside BitTorrent', 'rate beside it, over that before; at least 0.95', (system) => over(here('upload', system, 'sent_mbps#3.call', 'uploads 24'), here('upload', system, 'sent_mbps#1.call', 'uploads 24')), () => undefined, (value) => value >= 0.95],
  ['2009', 'two of four send the same with 1 % of random loss', 'rate, over that without; 0.95 to 1.05', (system) => over(here('random-loss', system, 'sent_mbps', 'loss 1%'), here('random-loss', system, 'sent_mbps', 'loss 0%')), () => undefined, (value) => value >= 0.95 && value <= 1.05],
];

function cell(value, holds) {
  if (value === undefined || Number.isNaN(value)) return 'not measured';
  return `${value.toFixed(value > 0.9 && value < 1.1 ? 3 : 2)} ${holds(value) ? 'holds' : '**no**'}`;
}

const head = `| study | finding | here | ${SYSTEMS.map((name) => `\`${name}\``).join(' | ')} | ${CLIENTS.map((name) => `${name}, real`).join(' | ')} |`;
const lines = FINDINGS.map(([study, finding, told, simulated, client, holds]) => `| ${[study, finding, told, ...SYSTEMS.map((system) => cell(simulated(system), holds)), ...CLIENTS.map((name) => cell(client(name), holds))].join(' | ')} |`);
const count = (at) => lines.filter((line) => / holds$/.test(line.split(' | ')[at].replace(/ \|$/, ''))).length;
const sums = [...SYSTEMS, ...CLIENTS].map((_, place) => String(count(place + 3)));
const seeds = Math.min(...all.flatMap((summary) => summary.results.map((row) => row.n)));
const text = [head, `|${'---|'.repeat(3 + SYSTEMS.length + CLIENTS.length)}`, ...lines, `| | **hold** | of ${FINDINGS.length} | ${sums.join(' | ')} |`, `\nSimulated with ${seeds} seeds or more each.\n`].join('\n');
replaceBehind(MARK, file, text);
