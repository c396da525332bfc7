// Markdown tables of what runs have left.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { SIMULATED } from './plan.mjs';

/** Student's t for 95 % by degrees of freedom (1 to 9), as weft's own statistics use it. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
/** What notes say where the machine was too slow: how late packets were, how many never came, what the encoder missed. */
const REJECTED = /not to be believed: /;
const LATE = /packets were up to ([\d.]+) ms late/;
const UNTAKEN = /(\d+) packets were lost before the emulator could take them/;
const UNWRITTEN = /(\d+) packets are missing from the log/;
const LIMITED = /the processor limited the pictures for ([\d.]+) s/;

/** Metrics of the table, with their titles and digits. */
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

/** Every result below a folder. */
function results(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return results(path);
    return entry.name.endsWith('.json') ? [JSON.parse(readFileSync(path, 'utf8'))] : [];
  });
}

/** Mean, and half of the 95 % interval of several. */
function mean(values, digits) {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return '-';
  const centre = known.reduce((sum, value) => sum + value, 0) / known.length;
  if (known.length === 1) return centre.toFixed(digits);
  const variance = known.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (known.length - 1);
  const t = T95[Math.min(known.length - 2, T95.length - 1)];
  return `${centre.toFixed(digits)} ±${(t * Math.sqrt(variance / known.length)).toFixed(digits)}`;
}

const value = (summary, metric, system) => summary.results.find((row) => row.metric === metric && (system === undefined || row.system === system))?.mean;

/** What was published of a metric; of the calls together, where there is one. A requirement is no measurement. */
function publishedOf(summary, metric, system) {
  const isIt = (each) => [metric, `${metric}.call`].includes(each.metric) && each.system === system;
  return summary.published.find((each) => isIt(each) && each.published !== null && !each.source.includes('requirement'))?.published;
}

/** Groups by a key, in the order of the keys. */
function grouped(list, key) {
  const groups = new Map();
  for (const each of list) groups.set(key(each), [...(groups.get(key(each)) ?? []), each]);
  return [...groups].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
}

/** How often the machine was too slow, and the worst. A summary has a note for each of its runs, and a run may have several. */
export function doubts(summaries) {
  const notes = summaries.flatMap((summary) => summary.notes);
  const found = (pattern) => notes.map((note) => pattern.exec(note)?.[1]).filter((each) => each !== undefined).map(Number);
  const sum = (numbers) => numbers.reduce((whole, each) => whole + each, 0);
  const [late, untaken, unwritten, limited] = [LATE, UNTAKEN, UNWRITTEN, LIMITED].map(found);
  const others = notes.filter((note) => REJECTED.test(note) && !LATE.test(note) && !UNTAKEN.test(note));
  const parts = [
    late.length > 0 ? `${late.length} late (${Math.max(...late).toFixed(0)} ms)` : '',
    untaken.length > 0 ? `${untaken.length} not taken (${sum(untaken)} packets)` : '',
    unwritten.length > 0 ? `${unwritten.length} not written down (${sum(unwritten)} packets)` : '',
    others.length > 0 ? `${others.length} not to be believed` : '',
    limited.length > 0 ? `${limited.length} short of processor` : '',
  ];
  return parts.filter((part) => part !== '').join(', ') || '-';
}

const line = (cells) => `| ${cells.join(' | ')} |\n`;
const head = (titles) => line(titles) + `|${'---|'.repeat(titles.length)}\n`;

function againstTcp(all) {
  const real = all.filter((run) => run.client !== 'simulated');
  if (real.length === 0) return '';
  let text = '### A call against one TCP flow\n\n';
  text += 'Round trip 50 ms, 360p, while both run; CoDel and FQ-CoDel with room for 10 BDP. ';
  text += 'In brackets what the simulator says of weft, and, beside Chromium, of plain WebRTC: the mean of five seeds.\n\n';
  text += head(['Mbit/s', 'TCP', 'queue', 'client', 'runs', ...AGAINST_TCP.map(([, title]) => title), 'doubts']);
  const place = ({ rate, tcp, queue }) => `${rate} ${tcp} ${queue}`;
  const simulated = new Map(all.filter((run) => run.client === 'simulated').map((run) => [place(run), run.result]));
  for (const [, runs] of grouped(real, (run) => `${place(run)} ${run.client}`)) {
    const { rate, tcp, queue, client } = runs[0];
    const summaries = runs.map((run) => run.result);
    const beside = simulated.get(place(runs[0]));
    const system = SIMULATED[client];
    const cells = AGAINST_TCP.map(([metric, , digits]) => {
      const here = mean(summaries.map((summary) => value(summary, metric)), digits);
      const there = beside && system && value(beside, metric, system);
      return there === undefined || here === '-' ? here : `${here} (${there.toFixed(digits)})`;
    });
    text += line([rate, tcp, queue, client, runs.length, ...cells, doubts(summaries)]);
  }
  return text;
}

function gcc(all) {
  if (all.length === 0) return '';
  const summaries = all.map((run) => run.result);
  let text = '### The thesis\'s experiments with Chromium\n\nIn brackets what was published of the browser of 2013 to 2016.\n\n';
  text += head(['experiment', 'runs', ...GCC.map(([, title]) => title), 'doubts']);
  const rows = summaries.flatMap((summary) => [...new Set(summary.results.map((row) => row.system))].map((system) => ({ summary, system })));
  for (const [name, group] of grouped(rows, ({ summary, system }) => `${summary.scenario} ${system}`)) {
    const cells = GCC.map(([metric, , digits]) => {
      const published = publishedOf(group[0].summary, metric, group[0].system);
      const here = mean(group.map(({ summary, system }) => value(summary, metric, system)), digits);
      return published === undefined || here === '-' ? here : `${here} (${published.toFixed(digits)})`;
    });
    text += line([name.replace(/ chromium/, ''), group.length, ...cells, doubts(group.map(({ summary }) => summary))]);
  }
  return text;
}

function converge(all) {
  if (all.length === 0) return '';
  let text = '### Simulator against emulator\n\nThe two cellular links of [Converge](converge.md), one camera, `--client weft`.\n\n';
  text += head(['scenario', 'system', 'seeds', 'metric', 'simulator', 'emulator', 'difference', '', 'doubts']);
  for (const [, runs] of grouped(all, (run) => `${run.scenario} ${run.system}`)) {
    // With more seeds it is another run, which has those of the shorter one.
    const [{ result }] = runs.sort((a, b) => b.result.emu.seeds.length - a.result.emu.seeds.length);
    for (const each of result.disagreements) {
      const relative = each.relative === null ? '-' : `${(each.relative * 100).toFixed(0)} %`;
      const mark = each.agrees ? '' : '**apart**';
      text += line([result.emu.scenario, each.system, result.emu.seeds.length, each.metric, each.sim.toFixed(3), each.emu.toFixed(3), relative, mark, doubts([result.emu])]);
    }
  }
  return text;
}

/** The table of each part, empty where nothing of it was run. */
export function tables(folder) {
  const all = results(folder);
  const of = (part) => all.filter((run) => run.part === part);
  return { 'against-tcp': againstTcp(of('against-tcp')), gcc: gcc(of('gcc')), converge: converge(of('converge')) };
}
