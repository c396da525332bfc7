#!/usr/bin/env node
// Fits the parameters of the GCC thesis's WiFi and LTE cells that it does not
// state to its TCP rates, with TCP alone: the evaluated call plays no part.
//
//   node scripts/fit-radio.mjs target/release/weft [SEEDS]
//
// runs gcc/wifi-4-tcp and gcc/lte-2-tcp with the values of the scenarios, and
// with each value changed separately, and prints the root mean square of
// ln(here / published) over the rates of its connections.

import { spawnSync } from 'node:child_process';

const [program, seeds = '4'] = process.argv.slice(2);
if (program === undefined) {
  console.error('usage: fit-radio.mjs PROGRAM [SEEDS]: PROGRAM is a release build of weft');
  process.exit(2);
}

/** Tables 6.7 and 6.9, Mbit/s, by section and connection. */
const PUBLISHED = {
  near: { '#1.pc3-down': 38.33, '#1.pc4-down': 45.53, '#2.pc3-down': 20.14, '#2.pc4-down': 22.71, '#2.pc3-up': 20.75, '#2.pc4-up': 22.83 },
  far: { '#1.pc3-down': 15.0, '#1.pc4-down': 15.36, '#2.pc3-down': 7.6, '#2.pc4-down': 7.65, '#2.pc3-up': 4.28, '#2.pc4-up': 5.15 },
  mixed: { '#1.pc3-down': 17.51, '#1.pc4-down': 31.56, '#2.pc3-down': 10.12, '#2.pc4-down': 18.93, '#2.pc3-up': 4.44, '#2.pc4-up': 28.27 },
  'LTE near': { '#1.pc4-up': 6.75, '#1.pc4-down': 24.58, '#2.pc3-up': 5.35, '#2.pc4-up': 4.58, '#2.pc3-down': 12.43, '#2.pc4-down': 13.42 },
  'LTE far': { '#1.pc4-up': 6.81, '#1.pc4-down': 10.88, '#2.pc3-up': 4.47, '#2.pc4-up': 4.65, '#2.pc3-down': 6.23, '#2.pc4-down': 7.83 },
};

const FLOWS = ['pc3-up', 'pc4-up', 'pc3-down', 'pc4-down'];
const flows = (field, value, of = FLOWS) => of.map((flow) => [`flows.${flow}.${field}`, value]);
const up = ['pc3-up', 'pc4-up'];
const down = ['pc3-down', 'pc4-down'];

/** A station at a rate and a signal, and the access point at it. */
const station = (link, rate, snr, back = snr, motion = 'still') => [
  [`links.${link}.rate`, rate],
  [`links.${link}.back`, `rate=${rate},snr=${back}`],
  [`links.${link}.snr`, snr],
  [`links.${link}.motion`, motion],
];
const near = (link) => station(link, 'mcs15', '40dB');
const far = (link, snr = '14dB', back = '18dB') => station(link, 'minstrel', snr, back, 'walking');
const windows = (pc3, pc4) => [
  ...flows('receive-window', pc3, ['pc3-up', 'pc3-down']),
  ...flows('receive-window', pc4, ['pc4-up', 'pc4-down']),
];
const terminals = (back) => ['pc3', 'pc4'].map((link) => [`links.${link}.back`, back]);

const interference = ['0%', '10%', '20%', '40%'].map((share) => [`interference ${share}`, [['media.home.interference', share]]]);
const queues = ['1ms', '100ms'].map((time) => [`small queues ${time}`, flows('small-queues', time, up)]);
const LTE_WINDOWS = [['1MB', '3MB'], ['1500kB', '3MB'], ['3MB', '3MB'], ['1250kB', '2MB'], ['1250kB', '4500kB']];
const lteWindows = LTE_WINDOWS.map(([ups, downs]) => [
  `windows ${ups} up, ${downs} down`,
  [...flows('receive-window', ups, up), ...flows('receive-window', downs, down)],
]);

/** How far stations at these links hear and are heard, and who else they do not. */
const places = (links) => [
  ...[['12dB', '16dB'], ['16dB', '20dB'], ['14dB', '14dB'], ['14dB', '22dB']].map(([snr, back]) => [
    `signal ${snr} up, ${back} down`, links.flatMap((link) => far(link, snr, back)),
  ]),
  ['MCS 4 at 13.5 dB', links.flatMap((link) => station(link, 'mcs4', '13.5dB'))],
  ['7 attempts', [['media.home.attempts', '"7"']]],
  ['hidden from strangers of 3%', [['media.home.interference', '3%'], ...links.map((link) => [`links.${link}.strangers`, 'hidden'])]],
];

const CASES = [
  ['near', 'gcc/wifi-4-tcp', [...near('pc3'), ...near('pc4')], [...interference, ...queues, ['windows 1 MB', windows('1MB', '1MB')], ['windows 3 MB', windows('3MB', '3MB')]]],
  ['far', 'gcc/wifi-4-tcp', [...far('pc3'), ...far('pc4'), ...windows('700kB', '700kB')], [
    ...interference,
    ...queues,
    ['windows 1500 kB', windows('1500kB', '1500kB')],
    ...places(['pc3', 'pc4']),
  ]],
  ['mixed', 'gcc/wifi-4-tcp', [...far('pc3'), ...near('pc4'), ...windows('600kB', '1050kB')], [
    ...interference,
    ...queues,
    ['windows 1500 kB', windows('1500kB', '1500kB')],
    ...places(['pc3']),
  ]],
  ['LTE near', 'gcc/lte-2-tcp', terminals('cqi=14,rank=2'), lteWindows],
  ['LTE far', 'gcc/lte-2-tcp', terminals('cqi=10,rank=2'), lteWindows],
];

function rates(scenario, changes) {
  const sets = changes.flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const run = spawnSync(program, ['lab', 'run', scenario, '--json', '--seeds', seeds, ...sets], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (run.status !== 0) {
    console.error(run.stderr);
    process.exit(1);
  }
  return new Map(JSON.parse(run.stdout).results.map((row) => [row.metric, row.mean]));
}

console.log('| place | changed | residual | here / published, Mbit/s |\n|---|---|---|---|');
for (const [place, scenario, base, changes] of CASES) {
  for (const [label, change] of [['as it is', []], ...changes]) {
    // A later value of a key replaces an earlier one.
    const here = rates(scenario, [...new Map([...base, ...change])]);
    const rows = Object.entries(PUBLISHED[place]).map(([name, published]) => [name, here.get(`goodput_mbps${name}`), published]);
    const squares = rows.map(([, mine, published]) => Math.log(Math.max(mine, 0.01) / published) ** 2);
    const residual = Math.sqrt(squares.reduce((a, b) => a + b) / rows.length);
    const text = rows.map(([name, mine, published]) => `${name.slice(1)} ${mine.toFixed(1)} / ${published}`).join(', ');
    console.log(`| ${place} | ${label} | ${residual.toFixed(2)} | ${text} |`);
  }
}
