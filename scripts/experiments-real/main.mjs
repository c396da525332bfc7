#!/usr/bin/env node
// Real clients in the emulator: many runs, in real time, one after the other.
//
//   node scripts/experiments-real/main.mjs plan|run|table [OPTIONS]
//
// `run` leaves a file for each run that has ended, and does not run again what
// is there: after an interruption, start it again. Repetitions come round by
// round, so every stop leaves whole rounds of everything. `table` prints the
// Markdown of what is there; with --into FILE each part goes behind its mark.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

import { KNOWN, units } from './plan.mjs';
import { tables } from './tables.mjs';

/** What stands before the table of a part, and what ends it. */
const WRITTEN = 'written by scripts/experiments-real';
const mark = (part) => `<!-- ${part}: ${WRITTEN} -->`;
const END = '<!-- end -->';
/** What weft means by its exit status. */
const [RUN_FAILED, LACKING] = [1, 3];
/** How often a run is tried that fails. */
const ATTEMPTS = 2;

const list = (text) => ({ type: 'string', default: text });
const OPTIONS = {
  weft: list('target/release/weft'),
  out: list('out/real'),
  parts: list('against-tcp,gcc,converge'),
  clients: list('chromium,weft,pion,aiortc'),
  tcp: list('cubic,bbr1'),
  rates: list('2,5'),
  queues: list('2bdp,0.5bdp,codel,10bdp,fq_codel'),
  gcc: list('wired-1,wired-2-text,wired-3,wired-4'),
  converge: list('driving,walking,stationary'),
  repetitions: list('5'),
  duration: { type: 'string' },
  strict: { type: 'boolean', default: false },
  into: { type: 'string' },
};

const USAGE = `usage: main.mjs plan|run|table [--weft PATH] [--out DIR] [--parts against-tcp,gcc,converge]
  [--clients A,B] [--tcp cubic,bbr1] [--rates 2,5] [--queues 0.5bdp,2bdp,10bdp,codel,fq_codel]
  [--gcc wired-1,...] [--converge driving,...] [--repetitions N] [--duration S] [--strict] [--into FILE]
--duration shortens every run; --strict throws runs away in which the machine was too slow`;

/** Ends with what is wrong and what can be written. */
function refuse(what) {
  console.error(`${what}\n${USAGE}`);
  process.exit(2);
}

function parsed() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS });
  } catch ({ message }) {
    return refuse(message);
  }
}

/** The words of an option, all of them known. */
function known(option, text) {
  const words = text.split(',').filter((word) => word !== '');
  const these = KNOWN[option];
  const is = (word) => (Array.isArray(these) ? these.includes(word) : these.pattern.test(word));
  const unknown = words.filter((word) => !is(word));
  if (unknown.length > 0 || words.length === 0) refuse(`--${option} ${unknown.join(',') || text}: write some of ${these.words ?? these.join(', ')}`);
  return words;
}

function seconds(text) {
  const number = Number(text);
  return Number.isFinite(number) && number > 0 ? number : refuse(`--duration ${text}: write a number of seconds above 0`);
}

function count(text) {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 ? number : refuse(`--repetitions ${text}: write a whole number from 1 on`);
}

const { values: given, positionals } = parsed();
const wanted = {
  ...given,
  ...Object.fromEntries(Object.keys(KNOWN).map((option) => [option, known(option, given[option])])),
  repetitions: count(given.repetitions),
  duration: given.duration === undefined ? undefined : seconds(given.duration),
};

const file = (unit) => join(given.out, `${unit.name}.json`);
const hours = (seconds) => (seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

const line = (args) => ['weft', ...args].join(' ');
const isReal = (unit) => unit.args.includes('--engine');
const argsOf = (unit) => [...unit.args, '--json', ...(given.strict || !isReal(unit) ? [] : ['--keep-rejected'])];

/** Whether the run's file is there. One of a shorter or stricter run would count as this one. */
function isThere(unit) {
  const path = file(unit);
  if (!existsSync(path)) return false;
  const { command } = JSON.parse(readFileSync(path, 'utf8'));
  if (command !== line(argsOf(unit))) refuse(`${path} is of another run, ${command}: name another folder with --out, or remove it`);
  return true;
}

function plan(all) {
  const left = all.filter((unit) => !isThere(unit));
  const seconds = left.reduce((sum, unit) => sum + unit.seconds, 0);
  return `${all.length - left.length} of ${all.length} runs are there; the others take about ${hours(seconds)}`;
}

let child;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isStopped = true;
    child?.kill(signal);
  });
}

/** Exit status, output and complaints of weft. */
function weft(args) {
  return new Promise((done) => {
    // A group of its own: it is told once to end, by us.
    child = spawn(given.weft, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (errors += data));
    child.on('error', ({ message }) => done({ status: LACKING, output, errors: `${message}: give --weft PATH` }));
    child.on('close', (status) => done({ status: status ?? RUN_FAILED, output, errors: errors.trim() }));
  });
}

/** The result of a run, or why there is none. */
async function attempt(unit) {
  const args = argsOf(unit);
  const { status, output, errors } = await weft(args);
  if (status !== 0) return { status, errors };
  const result = { name: unit.name, ...unit.labels, command: line(args), result: JSON.parse(output) };
  const path = file(unit);
  mkdirSync(dirname(path), { recursive: true });
  // A file is whole or not there.
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, `${JSON.stringify(result, null, 1)}\n`);
  renameSync(part, path);
  rmSync(`${path}.failed`, { force: true });
  return { status };
}

async function runAll(all) {
  console.log(plan(all));
  const [failed, lacking] = [[], new Map()];
  for (const [index, unit] of all.entries()) {
    const client = unit.labels.client;
    // The simulator may have changed since, and takes seconds.
    const isDone = isThere(unit) && isReal(unit);
    if (isStopped || isDone || lacking.has(client)) continue;
    let ended = { status: RUN_FAILED };
    const begun = Date.now();
    for (let tried = 0; tried < ATTEMPTS && ended.status === RUN_FAILED && !isStopped; tried += 1) ended = await attempt(unit);
    if (isStopped) break;
    console.log(`${index + 1} of ${all.length}: ${unit.name}: ${ended.status === 0 ? 'done' : ended.errors} (${Math.round((Date.now() - begun) / 1e3)} s)`);
    if (ended.status === 0) continue;
    if (ended.status === LACKING) lacking.set(client, ended.errors);
    failed.push(unit.name);
    mkdirSync(dirname(file(unit)), { recursive: true });
    writeFileSync(`${file(unit)}.failed`, `${ended.errors}\n`);
  }
  console.log(plan(all));
  for (const [client, why] of lacking) console.error(`${client} cannot be run here: ${why}`);
  if (failed.length > 0) console.error(`not done: ${failed.join(', ')}`);
  return lacking.size > 0 ? LACKING : failed.length > 0 || isStopped ? RUN_FAILED : 0;
}

/** Prints the tables of the parts that are wanted, or puts each in its place in a file. */
function write(texts) {
  const there = wanted.parts.map((part) => [part, texts[part]]).filter(([, text]) => text !== '');
  if (there.length === 0) refuse(`nothing of ${given.parts} has been run: ${given.out} has none of it`);
  if (given.into === undefined) return process.stdout.write(there.map(([, text]) => text).join('\n'));
  if (!existsSync(given.into)) refuse(`--into ${given.into}: there is no such file`);
  let whole = readFileSync(given.into, 'utf8');
  for (const [part, text] of there) {
    const [before, after, ...more] = whole.split(mark(part));
    const end = after?.indexOf(END) ?? -1;
    const isOwn = end >= 0 && !after.slice(0, end).includes(WRITTEN);
    if (more.length > 0 || !isOwn) refuse(`${given.into} has not one line ${mark(part)} and ${END} behind it: add them where the table is to stand`);
    whole = `${before}${mark(part)}\n\n${text}\n${after.slice(end)}`;
  }
  writeFileSync(given.into, whole);
}

const all = units(wanted);
const [what] = positionals;
if (what === 'plan') console.log([...all.map((unit) => `${isThere(unit) ? 'done' : '    '}  ${unit.name}`), plan(all)].join('\n'));
else if (what === 'run') process.exitCode = await runAll(all);
else if (what === 'table') write(tables(given.out));
else refuse(what === undefined ? 'plan, run or table?' : `${what}: write plan, run or table`);
