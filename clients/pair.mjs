// Connects two clients as the lab does, without an emulated network:
//
//   node clients/pair.mjs SECONDS CALLER-COMMAND -- CALLEE-COMMAND
//
// Prints what they tell, each line with the end that it is from.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [seconds, ...words] = process.argv.slice(2);
const middle = words.indexOf('--');
if (!(Number(seconds) > 0) || middle < 1) {
  console.error('usage: node clients/pair.mjs SECONDS CALLER-COMMAND -- CALLEE-COMMAND');
  process.exit(2);
}

const start = ([program, ...args]) => spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const ends = { caller: start(words.slice(0, middle)), callee: start(words.slice(middle + 1)) };
const ready = { caller: false, callee: false };
const held = { caller: [], callee: [] };
const hand = (name, line) => (ready[name] ? ends[name].stdin.write(line) : held[name].push(line));

for (const [name, other] of [['caller', 'callee'], ['callee', 'caller']]) {
  ends[name].stdin.on('error', () => {});
  createInterface(ends[name].stdout).on('line', (line) => {
    const event = JSON.parse(line);
    if (event.signal !== undefined) return hand(other, `${line}\n`);
    if (event.ready) {
      ready[name] = true;
      for (const waiting of held[name].splice(0)) hand(name, waiting);
    }
    console.log(JSON.stringify({ from: name, ...event }));
  });
}
setTimeout(() => Object.values(ends).forEach((end) => end.stdin.end()), Number(seconds) * 1e3);
