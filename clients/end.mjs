// What the clients of Node have in common: lines, and how they end.

import { networkInterfaces } from 'node:os';

/** Exit status where the machine lacks something. */
export const LACKING = 3;
/** Between two samples, ms. */
export const TELL_EVERY = 500;

/** Set by the client. */
let clean = () => {};
let ended = false;

export const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** `what` ends the programs that were started and removes the files. Signals end the client from now on. */
export function atEnd(what) {
  clean = what;
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(1));
}

export function end(status) {
  if (ended) return;
  ended = true;
  clean();
  // After what was written has gone.
  process.stdout.write('', () => process.exit(status));
}

/** Ends with a reason, unless it is ending already. */
export function fail(error, remedy, status = 1) {
  if (ended) return;
  write({ error, remedy });
  end(status);
}

/** The first address of a link; without any, that of the machine to itself. */
export function ownAddress() {
  const all = Object.values(networkInterfaces()).flat().filter(({ family }) => family === 'IPv4');
  return (all.find(({ internal }) => !internal) ?? all[0])?.address ?? '127.0.0.1';
}
