#!/usr/bin/env node
// Prints tables of the results of `weft lab run SET --out DIR`: a table for
// each metric, a row for each scenario, a column for each system. Mean and half
// of the 95 % interval; bold where the scenario's bounds say higher or lower.
//
//   node scripts/controller-tables.mjs DIR docs/results/controllers.md
//
// writes them into the file, after the line MARK.

import { estimate, replaceBehind, summaries } from './results.mjs';

const MARK = '<!-- What follows is written by scripts/controller-tables.mjs -->';
/** Metrics with their titles and digits, in the order of the tables; some for these scenarios alone. */
const TABLES = [
  ['throughput_mbps', 'Rate of all calls together, Mbit/s', 2],
  ['queue_ms_mean', 'Queueing delay, mean, ms', 0],
  ['queue_ms_p95', 'Queueing delay, 95th percentile, ms', 0],
  ['loss', 'Packets lost, of all', 3],
  ['convergence_s', 'Convergence, s', 1],
  ['rate_variation', 'Change of the rate from second to second, over the rate', 3],
  ['feedback_overhead', 'Feedback, of what is sent', 3],
  ['utilisation', 'Utilisation', 2],
  ['e2e_ms_p95', 'From capture to display, 95th percentile, ms', 0],
  ['freeze_s', 'Frozen, s', 1],
  ['jain_index', "Jain's index of all flows, TCP included", 2],
  ['fair_1s', 'Share of seconds in which no flow has more than three times the rate of another', 2],
  ['fair_5s', 'The same of spans of 5 s', 2],
  ['fair_20s', 'The same of spans of 20 s', 2],
  ['throughput_mbps.one', 'Rate of the call of twice the weight, Mbit/s', 2, /6-1-/],
  ['throughput_mbps.two', 'Rate of the second one', 2, /6-1-/],
  ['throughput_mbps.three', 'Rate of the third one', 2, /6-1-/],
  ['flow_rate_equality', 'Equality with TCP: 0 equal, 1 the call alone, -1 TCP alone', 2],
];

const [folder, file] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: controller-tables.mjs DIR [FILE]: DIR is what `weft lab run SET --out DIR` has written');
  process.exit(2);
}

/** `single/nada (300ms)`: the controller, and what was varied. */
function parts(system) {
  const found = /^(?:single\/)?(\S+)(?: \((.*)\))?$/.exec(system);
  return found === null ? [system, ''] : [found[1], found[2] ?? ''];
}

const all = summaries(folder);

function cell(summary, row, digits) {
  const judged = summary.published.find((each) => each.metric === row.metric && (each.system === row.system || each.system === row.system.split(' ')[0]));
  const text = estimate(row, digits);
  return judged?.verdict === 'higher' || judged?.verdict === 'lower' ? `**${text}**` : text;
}

function table([metric, title, digits, only = /./]) {
  const systems = [...new Set(all.flatMap((summary) => summary.results.map((row) => parts(row.system)[0])))];
  const lines = all.filter((summary) => only.test(summary.scenario)).flatMap((summary) => {
    const rows = summary.results.filter((row) => row.metric === metric);
    const cases = [...new Set(rows.map((row) => parts(row.system)[1]))];
    return cases.map((varied) => {
      const cells = systems.map((system) => {
        const row = rows.find((each) => parts(each.system)[0] === system && parts(each.system)[1] === varied);
        return row === undefined ? '' : cell(summary, row, digits);
      });
      const name = summary.scenario.replace(/^.*\//, '');
      const seeds = Math.min(...rows.map((row) => row.n));
      return `| ${[`${name} ${varied}`.trim(), seeds, ...cells].join(' | ')} |`;
    });
  });
  if (lines.length === 0) return '';
  const head = `| ${['scenario', 'seeds', ...systems.map((system) => `\`${system}\``)].join(' | ')} |`;
  return `## ${title}\n\n${head}\n|${'---|'.repeat(systems.length + 2)}\n${lines.join('\n')}\n`;
}

const text = TABLES.map(table).filter((each) => each !== '').join('\n');
if (file === undefined) {
  process.stdout.write(text);
} else {
  replaceBehind(MARK, file, text);
}
