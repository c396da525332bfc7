// One end of a WebRTC call in a real Chromium, as a client of the lab: see
// ../README.md for what it reads and writes. Needs Node and Chromium only.
//
// The browser is driven through its debugging pipe (file descriptors 3 and 4,
// messages end with a zero byte), so nothing but media crosses the network
// that the browser runs in. When this process dies the pipe closes, and the
// browser ends.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { HTML, LACKING, atEnd, browserOptions, end, endBrowser, fail, find, hasRole, makeProfile, plan, write } from '../end.mjs';

/** As `weft doctor` has them. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** A page must have a secure context to use a camera; nobody is asked for this one. */
const PAGE = 'https://lab.test/';

const SWITCHES = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--disable-renderer-backgrounding',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--mute-audio',
  '--autoplay-policy=no-user-gesture-required',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  // Host candidates with addresses instead of names that only mDNS resolves.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
  '--remote-debugging-pipe',
];

const given = browserOptions('1280x720', { video: { type: 'string' } });

let profile;
let browser;

atEnd(() => endBrowser(browser, profile));

/** The browser's debugging pipe: requests with answers, and events. */
class Pipe {
  #to;
  #waiting = new Map();
  #next = 1;
  onEvent = () => {};

  constructor(to, from) {
    this.#to = to;
    let rest = '';
    from.setEncoding('utf8');
    from.on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages) this.#take(JSON.parse(message));
    });
    // What a browser that has ended can no longer take is told by its exit.
    to.on('error', () => {});
  }

  #take({ id, result, error, ...event }) {
    if (id === undefined) return this.onEvent(event);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }

  ask(method, params = {}, sessionId) {
    const id = this.#next++;
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

function start() {
  const program = process.env.WEFT_CHROMIUM ?? find(NAMES);
  if (program === undefined || !existsSync(program)) {
    fail(program === undefined ? `none of ${NAMES.join(', ')}` : `no Chromium at ${program}`, 'install chromium, or set WEFT_CHROMIUM', LACKING);
    return undefined;
  }
  profile = makeProfile(given.scratch, 'chromium');
  const own = [`--user-data-dir=${profile}`];
  if (given.video !== undefined) own.push(`--use-file-for-fake-video-capture=${given.video}`);
  browser = spawn(program, [...SWITCHES, ...own, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    // Crash reports and settings stay in the profile.
    env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
  });
  let complaints = '';
  browser.stderr.setEncoding('utf8').on('data', (text) => (complaints = (complaints + text).slice(-2_000)));
  browser.on('error', ({ message }) => fail(`${program}: ${message}`, 'set WEFT_CHROMIUM to one that starts', LACKING));
  browser.on('exit', (status, signal) => {
    const last = complaints.trim().split('\n').pop() ?? '';
    fail(`Chromium has ended (${signal ?? `exit status ${status}`}): ${last}`, 'run it by hand: is there memory left?');
  });
  return new Pipe(browser.stdio[3], browser.stdio[4]);
}

/** Opens the page without asking any server for it. */
async function open(pipe) {
  const { targetInfos } = await pipe.ask('Target.getTargets');
  const { targetId } = targetInfos.find(({ type }) => type === 'page') ?? (await pipe.ask('Target.createTarget', { url: 'about:blank' }));
  const { sessionId } = await pipe.ask('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params) => pipe.ask(method, params, sessionId);
  const loaded = new Promise((resolve) => {
    pipe.onEvent = ({ method, params }) => {
      if (method === 'Fetch.requestPaused') {
        const body = Buffer.from(HTML).toString('base64');
        const responseHeaders = [{ name: 'Content-Type', value: 'text/html' }];
        void ask('Fetch.fulfillRequest', { requestId: params.requestId, responseCode: 200, responseHeaders, body });
      } else if (method === 'Page.loadEventFired') resolve();
      else if (method === 'Runtime.bindingCalled') process.stdout.write(`${params.payload}\n`);
      else if (method === 'Inspector.targetCrashed') fail('the page has crashed', 'is there memory left?');
    };
  });
  await Promise.all([ask('Page.enable'), ask('Runtime.enable'), ask('Fetch.enable', { patterns: [{ urlPattern: `${PAGE}*` }] })]);
  await ask('Runtime.addBinding', { name: 'tell' });
  await ask('Page.navigate', { url: PAGE });
  await loaded;
  const run = async (expression) => {
    const { exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, userGesture: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  };
  await run(readFileSync(new URL('page.js', import.meta.url), 'utf8'));
  return run;
}

async function main() {
  if (!hasRole(given)) return;
  const pipe = start();
  if (pipe === undefined) return;
  const { product } = await pipe.ask('Browser.getVersion');
  const run = await open(pipe);
  const { role, degradation, codec, size: camera } = given;
  write({ about: { client: 'chromium', version: product, role, degradation, codec, camera } });
  await run(`begin(${JSON.stringify(plan(given))})`);
  const input = createInterface(process.stdin);
  input.on('line', (line) => {
    const { signal } = JSON.parse(line);
    if (signal !== undefined) run(`onSignal(${JSON.stringify(signal)})`).catch((error) => fail(error.message, 'the other end sent what this one refuses'));
  });
  input.on('close', () => end(0));
  write({ ready: true });
}

main().catch((error) => fail(error.message, 'run the client by hand: see clients/README.md'));
