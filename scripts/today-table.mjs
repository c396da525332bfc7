#!/usr/bin/env node
// Checks which findings of the three application studies hold for today's
// calls: the results of `weft lab run today --out DIR`, next to those of `weft
// lab run campaigns/today-clients.toml --out CLIENTS` with real clients and,
// for clients beside TCP, docs/results/real-clients.md.
//
//   node scripts/today-table.mjs DIR CLIENTS docs/results/studies-today.md
//
// writes the table into the file, after the line MARK.

import { readFileSync } from 'node:fs';

import { head, line, replaceBehind, summaries } from './results.mjs';

const MARK = '<!-- What follows is written by scripts/today-table.mjs -->';
const REAL = new URL('../docs/results/real-clients.md', import.meta.url);
const SYSTEMS = ['weft', 'webrtc', 'gcc_draft', 'nada', 'scream'];
const CLIENTS = ['chromium', 'pion', 'aiortc', 'weft', 'baresip'];

const [folder, clientsFolder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: today-table.mjs DIR CLIENTS FILE: DIR is what `weft lab run today --out DIR` has written, CLIENTS what `weft lab run campaigns/today-clients.toml --out CLIENTS` has');
  process.exit(2);
}

/**
 * What a metric is of a system, or of a real client, under the varied values if
 * there are any: `of(scenario, system, metric, ...varied)`.
 */
function measured(all) {
  return (scenario, system, metric, ...varied) => {
    const named = (name) => name === system || name === `single/${system}`;
    const rows = all.filter((each) => each.scenario === `today/${scenario}`).flatMap((each) => each.results);
    const row = rows.find((each) => {
      const [, name, values = ''] = /^([^(]*?)(?: \((.*)\))?$/.exec(each.system);
      return each.metric === metric && named(name) && values === varied.join(', ');
    });
    return row?.mean;
  };
}

const [simulated, emulated] = [summaries(folder), summaries(clientsFolder)];
const [here, there] = [measured(simulated), measured(emulated)];

const rows = new Map();
for (const text of readFileSync(REAL, 'utf8').split('\n')) {
  const cells = text.split('|').map((cell) => cell.trim());
  if (CLIENTS.includes(cells[4]) && /^[25]$/.test(cells[1])) rows.set(cells.slice(1, 5).join(' '), { call: parseFloat(cells[6]), tcp: parseFloat(cells[7]) });
}
const real = (rate, tcp, queue, client) => rows.get([rate, tcp, queue, client].join(' '));

const harm = (found) => (found === undefined ? undefined : (1.9 - found.call) / 1.9);
const equality = (found) => (found === undefined ? undefined : found.call >= found.tcp ? 1 - found.tcp / found.call : found.call / found.tcp - 1);
const over = (a, b) => (a === undefined || b === undefined ? undefined : a / b);

/** Findings: who said what, what is told of a system and of a client of docs/results/real-clients.md, and whether that is the same. */
const BESIDE_TCP = [
  ['2023', 'a WebRTC call loses three quarters of its rate to CUBIC behind drop-tail', 'harm; more than half', (system) => here('sharing', system, 'harm', 'cubic', 'droptail'), (client) => harm(real('5', 'cubic', '2bdp', client)), (value) => value > 0.5],
  ['2023', 'and more to BBRv2 (real clients: BBRv1)', 'harm; more than half', (system) => here('sharing', system, 'harm', 'bbr2', 'droptail'), (client) => harm(real('5', 'bbr1', '2bdp', client)), (value) => value > 0.5],
  ['2023', 'CoDel changes little: 0.62 beside CUBIC', 'harm; more than half', (system) => here('sharing', system, 'harm', 'cubic', 'codel'), (client) => harm(real('5', 'cubic', 'codel', client)), (value) => value > 0.5],
  ['2023', 'FQ_CoDel protects it', 'harm; at most a tenth', (system) => here('sharing', system, 'harm', 'cubic', 'fq_codel'), (client) => harm(real('5', 'cubic', 'fq_codel', client)), (value) => value <= 0.1],
  ['2021', 'a call takes twice CUBIC’s rate and more in a short queue (1 Mbit/s; real clients: 2)', 'equality; at least 0.5', (system) => here('narrow', system, 'flow_rate_equality', 'cubic', '0.5bdp'), (client) => equality(real('2', 'cubic', '0.5bdp', client)), (value) => value >= 0.5],
  ['2021', 'and in a long one', 'equality; at least 0.3', (system) => here('narrow', system, 'flow_rate_equality', 'cubic', '10bdp'), (client) => equality(real('2', 'cubic', '10bdp', client)), (value) => value >= 0.3],
  ['2021', 'but has half of BBR’s there, going up', 'equality; at most -0.3', (system) => here('narrow', system, 'flow_rate_equality', 'bbr1', '10bdp'), (client) => equality(real('2', 'bbr1', '10bdp', client)), (value) => value <= -0.3],
];

/** And those of which the same is told of both. */
const ALONE = [
  ['2021', 'it sends its old rate for half a minute into a link of an eighth', 'loss from 5 to 25 s after the fall; at least a half', (of, name) => of('fall', name, 'loss#3'), (value) => value >= 0.5],
  ['2021', 'the client needs minutes to come back', 'rate in the first half minute of 4 Mbit/s, over that before; below 0.9', (of, name) => over(of('fall', name, 'throughput_mbps#6'), of('fall', name, 'sent_mbps#1')), (value) => value < 0.9],
  ['2009', 'one of four follows a falling capacity and loses nothing', 'loss; at most 1 %', (of, name) => of('steps', name, 'loss'), (value) => value <= 0.01],
  ['2009', 'two of four do not come back within half a minute', 'rate 25 s after, over that before; below 0.9', (of, name) => over(of('steps', name, 'sent_mbps#9'), of('steps', name, 'sent_mbps#1')), (value) => value < 0.9],
  ['2009', 'three of four keep their rate beside an upload', 'rate beside it, over that before; at least 0.95', (of, name) => over(of('upload', name, 'sent_mbps#3.call', 'uploads 1'), of('upload', name, 'sent_mbps#1.call', 'uploads 1')), (value) => value >= 0.95],
  ['2009', 'two of four keep it beside BitTorrent', 'rate beside it, over that before; at least 0.95', (of, name) => over(of('upload', name, 'sent_mbps#3.call', 'uploads 24'), of('upload', name, 'sent_mbps#1.call', 'uploads 24')), (value) => value >= 0.95],
  ['2009', 'two of four send the same with 1 % of random loss', 'rate, over that without; 0.95 to 1.05', (of, name) => over(of('random-loss', name, 'sent_mbps', 'loss 1%'), of('random-loss', name, 'sent_mbps', 'loss 0%')), (value) => value >= 0.95 && value <= 1.05],
];

/** Where the picture stood still, of how many seconds: scenario, and what was varied. */
const STANDSTILLS = [
  ['4 Mbit/s become 0.5, and 4 again', 210, 'fall'],
  ['deep steps', 105, 'steps'],
  ['1 % of random loss', 60, 'random-loss', 'loss 1%'],
  ['beside one upload', 150, 'upload', 'uploads 1'],
  ['beside 24 uploads', 150, 'upload', 'uploads 24'],
];

const UNKNOWN = 'not measured';

function cell(value, holds) {
  if (value === undefined || Number.isNaN(value)) return UNKNOWN;
  return `${value.toFixed(value > 0.9 && value < 1.1 ? 3 : 2)} ${holds(value) ? 'holds' : '**no**'}`;
}

const frozen = (value) => (value === undefined ? 'not told' : value.toFixed(1));

const FINDINGS = [
  ...BESIDE_TCP,
  ...ALONE.map(([study, finding, told, value, holds]) => [study, finding, told, (system) => value(here, system), (client) => value(there, client), holds]),
];
const titles = ['study', 'finding', 'here', ...SYSTEMS.map((name) => `\`${name}\``), ...CLIENTS.map((name) => `${name}, real`)];
const cells = FINDINGS.map(([, , , ofSystem, ofClient, holds]) => [
  ...SYSTEMS.map((name) => cell(ofSystem(name), holds)),
  ...CLIENTS.map((name) => cell(ofClient(name), holds)),
]);
const held = cells[0].map((_, at) => {
  const told = cells.map((row) => row[at]).filter((text) => text !== UNKNOWN);
  return `${told.filter((text) => text.endsWith(' holds')).length} of ${told.length}`;
});
const seeds = (all) => Math.min(...all.flatMap((summary) => summary.results.map((row) => row.n)));
const text = [
  head(titles),
  ...FINDINGS.map(([study, finding, told], at) => line([study, finding, told, ...cells[at]])),
  line(['', '**hold**', 'of those measured', ...held]),
  '\n## Seconds in which the picture stood still\n\n',
  head(['where', 'of', ...titles.slice(3)]),
  ...STANDSTILLS.map(([where, of, scenario, ...varied]) => line([
    where,
    of,
    ...[...SYSTEMS.map((name) => [here, name]), ...CLIENTS.map((name) => [there, name])].map(([ofWhom, name]) => frozen(ofWhom(scenario, name, 'freeze_s', ...varied))),
  ])),
  `\nSimulated with ${seeds(simulated)} seeds or more each, real clients that are not beside CUBIC or BBR with ${seeds(emulated)}.\n`,
].join('');
replaceBehind(MARK, file, text);
