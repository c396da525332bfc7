// Parts that the clients in Node share: lines, how they end, and how they start a browser.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';

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

/** Page that a browser shows. */
export const HTML = '<!doctype html><video id="shown" autoplay muted playsinline></video>';

/** Reads the options of a client: the size of its camera by default, and options of its own. */
export function clientOptions(size, own = {}) {
  const { values } = parseArgs({
    options: {
      role: { type: 'string' },
      send: { type: 'boolean', default: false },
      size: { type: 'string', default: size },
      fps: { type: 'string', default: '30' },
      'max-bps': { type: 'string', default: '2500000' },
      degradation: { type: 'string', default: 'balanced' },
      sound: { type: 'boolean', default: false },
      scratch: { type: 'string', default: tmpdir() },
      ...own,
    },
  });
  return values;
}

/** Reads the options of a client with a browser, which also names its codec. */
export const browserOptions = (size, own = {}) => clientOptions(size, { codec: { type: 'string', default: 'vp8' }, ...own });

/** Whether the role is one of the two; ends the client otherwise. */
export function hasRole({ role }) {
  const known = role === 'caller' || role === 'callee';
  if (!known) fail(`--role ${role}`, 'write caller or callee', 2);
  return known;
}

/** Call that `chromium/page.js` begins with these options. */
export function plan({ role, send, size, fps, codec, 'max-bps': maxBps, degradation, sound }) {
  const [width, height] = size.split('x').map(Number);
  return { role, sends: send, width, height, fps: Number(fps), codec, maxBps: Number(maxBps), degradation, sound };
}

/** The first of these programs on the search path. */
export function find(names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((each) => existsSync(each));
}

/** Makes a folder for a browser's profile. */
export const makeProfile = (scratch, name) => mkdtempSync(join(scratch, `${name}-`));

/** Ends the browser and removes its profile, where there is one. */
export function endBrowser(browser, profile) {
  browser?.kill('SIGKILL');
  try {
    if (profile !== undefined) rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch {
    // It is in the folder for temporary files, or in one that the lab removes.
  }
}
