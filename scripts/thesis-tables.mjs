#!/usr/bin/env node
// Compares tables 6.4 to 6.9 of the GCC thesis with `weft lab run gcc/wifi-1
// ... --out DIR`, and lists the requirements that each controller meets.
//
//   node scripts/thesis-tables.mjs DIR docs/results/gcc-radio.md
//
// writes them into the file, after the line MARK.

import { head, line, order, replaceBehind, summaries } from './results.mjs';

const MARK = '<!-- What follows is written by scripts/thesis-tables.mjs -->';
const SCENARIOS = ['gcc/wifi-1', 'gcc/wifi-2', 'gcc/wifi-3', 'gcc/wifi-4', 'gcc/lte-1', 'gcc/lte-2'];
/** Section 6.1: what the thesis says of each. */
const THESIS = {
  'gcc/wifi-1': 'meets 1a, 1b, 2, 5',
  'gcc/wifi-2': 'meets 1a, 1b, 2, 5',
  'gcc/wifi-3': 'quick and fair; unstable far and mixed',
  'gcc/wifi-4': 'fails 1c, 2, 3',
  'gcc/lte-1': 'as on wires: meets 1a, 2, 5',
  'gcc/lte-2': 'fails 1, 2, 3 beside TCP of its own terminal',
};
/** Chosen by us: the IETF's 100 ms, RFC 8868's third, and a tenth for starving. */
const LONGEST = 100;
const FAIR = 1 / 3;
const STARVED = 0.1;
const STABLE = 0.2;

const [folder, file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: thesis-tables.mjs DIR FILE: DIR is what `weft lab run SCENARIO --out DIR` has written');
  process.exit(2);
}

const all = summaries(folder).filter((summary) => SCENARIOS.includes(summary.scenario));
all.sort((a, b) => SCENARIOS.indexOf(a.scenario) - SCENARIOS.indexOf(b.scenario));

const number = (value) => (value === null || value === undefined ? '' : String(Number(value.toPrecision(3))));
const table = (titles, rows) => head(titles) + rows.map(line).join('');

function parts(row) {
  const [, study, place, part] = /(table [\d.]+), (\w+), part (\d)/.exec(row.source);
  const [, base, owner = ''] = /^([a-z0-9_]+)#\d(?:\.(.+))?$/.exec(row.metric);
  return { ...row, study, place, part, base, owner };
}

const rows = all.flatMap((summary) => summary.published.map(parts));
const controllers = [...new Set(rows.map((row) => row.system.replace(/-\w+$/, '')))];
const studies = [...new Set(rows.map((row) => row.study))];
const kinds = { goodput_mbps: 'rates', rate_sd_mbps: 'their deviation', rtt_rise_ms_mean: 'delay, mean', rtt_rise_ms_p95: 'delay, 95 %', loss: 'loss, mean', loss_max: 'loss, largest' };

function agreement() {
  const counted = (of) => `${of.filter((row) => row.verdict === 'agrees').length} of ${of.length}`;
  const lines = controllers.flatMap((controller) => studies.map((study) => {
    const own = rows.filter((row) => row.study === study && row.system.replace(/-\w+$/, '') === controller);
    return [`\`${controller}\``, study, ...Object.keys(kinds).map((base) => counted(own.filter((row) => row.base === base)))];
  }));
  return table(['system', '', ...Object.values(kinds)], lines);
}

function one(study) {
  const own = rows.filter((row) => row.study === study && row.system.startsWith('webrtc-'));
  const lines = own.filter((row) => row.base !== 'rate_sd_mbps').map((row) => {
    const [low, high] = row.ci95;
    const interval = low === null ? '' : ` [${number(low)}, ${number(high)}]`;
    const verdict = row.verdict === 'agrees' ? 'agrees' : `**${row.verdict}**`;
    const value = row.here === null ? '' : `${number(row.here)}${interval}`;
    return [`${row.place} ${row.part}`, `${kinds[row.base]}, ${row.owner}`, number(row.published), value, verdict];
  });
  return `## ${study[0].toUpperCase()}${study.slice(1)}\n\n${table(['part', '', 'published', 'here', 'verdict'], lines)}`;
}

/** Of a system in a scenario: which requirements of section 6.1 hold. */
function verdicts(summary, system) {
  const get = (metric) => summary.results.find((row) => row.system === system && row.metric === metric)?.mean;
  const flows = [...new Set(summary.results.filter((row) => row.metric.startsWith('goodput_mbps#1.')).map((row) => row.metric.slice(15)))].filter((flow) => ['call', 'up', 'down'].includes(flow));
  const loaded = flows.flatMap((flow) => ['2', '3'].map((part) => ({ flow, part })));
  const rate = (flow, part) => get(`goodput_mbps#${part}.${flow}`);
  const share = ({ flow, part }) => rate(flow, part) / rate(flow, '1');
  const delay = loaded.every(({ flow, part }) => get(`rtt_rise_ms_p95#${part}.${flow}`) < LONGEST);
  const stable = loaded.every(({ flow, part }) => get(`rate_sd_mbps#${part}.${flow}`) / rate(flow, part) < STABLE);
  const besideTcp = /wifi-4|lte-2/.test(summary.scenario);
  const met = { [besideTcp ? '1c' : '1a']: delay, 2: loaded.every((each) => share(each) >= FAIR) };
  if (besideTcp) {
    met[3] = loaded.every((each) => share(each) >= STARVED);
    met[4] = flows.every((flow) => rate(flow, '4') >= 0.8 * rate(flow, '1'));
  }
  met[5] = stable;
  const worst = Math.min(...loaded.map(share));
  const names = (wanted) => Object.entries(met).filter(([, holds]) => holds === wanted).map(([name]) => name).sort(order).join(', ') || 'none';
  return [names(true), names(false), number(worst)];
}

function requirements() {
  const lines = all.flatMap((summary) => {
    const systems = [...new Set(summary.results.map((row) => row.system))];
    return systems.map((system) => [summary.scenario.replace('gcc/', ''), `\`${system}\``, ...verdicts(summary, system), system.startsWith('webrtc') ? THESIS[summary.scenario] : '']);
  });
  return table(['', 'system', 'meets', 'fails', 'least rate beside others, of that alone', "the thesis's verdict on GCC"], lines);
}

const seeds = all.map((summary) => `${summary.scenario.replace('gcc/', '')} ${Math.max(...summary.results.map((row) => row.n))}`).join(', ');
const text = [
  `Seeds: ${seeds}.\n`,
  `## Requirements\n\n1a, 1c: 95 % of the delays below ${LONGEST} ms beside calls, beside TCP; 2: at least a third of the rate alone; 3: at least a tenth; 4: 80 % of it in the minute after TCP; 5: a deviation below ${STABLE} of the rate. Both ways, in parts 2 and 3; the numbers were chosen by us. 1b, the reaction within about a second, is not judged.\n\n${requirements()}`,
  `## How many rows agree\n\n${agreement()}`,
  ...studies.map(one),
].join('\n');

replaceBehind(MARK, file, text);
