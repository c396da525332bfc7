// One end of a WebRTC call in a real Firefox, for tests: see ../README.md for
// what it reads and writes. Needs Node and Firefox only.
//
// The browser is driven through Marionette, its own remote control: messages
// of JSON, each with its length in front, over TCP on the loopback interface.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { HTML, LACKING, atEnd, browserOptions, end, endBrowser, fail, find, hasRole, makeProfile, plan, write } from '../end.mjs';

const NAMES = ['firefox-esr', 'firefox'];
/** How long the browser may take to start, ms. */
const PATIENCE_MS = 60_000;
/** How often the page's lines are asked for, ms. */
const LISTEN_MS = 100;

const SETTINGS = {
  'app.update.auto': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'media.autoplay.default': 0,
  'media.navigator.permission.disabled': true,
  'media.navigator.streams.fake': true,
  // Host candidates with addresses instead of names that only mDNS resolves.
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.enabled': false,
};

const given = browserOptions('640x480');

let profile;
let browser;

atEnd(() => endBrowser(browser, profile));

/** Marionette's connection: requests with answers, one after the other. */
class Marionette {
  #socket;
  #rest = Buffer.alloc(0);
  #waiting = [];

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#take(data));
    // The end of the browser is reported by its exit.
    socket.on('error', () => {});
  }

  #take(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const colon = this.#rest.indexOf(':');
      const length = Number(this.#rest.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 1 || this.#rest.length < colon + 1 + length) return;
      const message = JSON.parse(this.#rest.subarray(colon + 1, colon + 1 + length).toString());
      this.#rest = this.#rest.subarray(colon + 1 + length);
      // The first message is a greeting.
      if (!Array.isArray(message)) continue;
      const [, , error, result] = message;
      const { resolve, reject } = this.#waiting.shift();
      if (error === null) resolve(result);
      else reject(new Error(error.message));
    }
  }

  ask(command, parameters = {}) {
    const message = JSON.stringify([0, 0, command, parameters]);
    this.#socket.write(`${Buffer.byteLength(message)}:${message}`);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async run(script, ...args) {
    return (await this.ask('WebDriver:ExecuteScript', { script, args, sandbox: null })).value;
  }
}

/** Starts the browser; gives its connection. */
async function start() {
  const program = process.env.WEFT_FIREFOX ?? find(NAMES);
  if (program === undefined) {
    fail(`none of ${NAMES.join(', ')}`, 'install firefox-esr, or set WEFT_FIREFOX', LACKING);
    return undefined;
  }
  profile = makeProfile(given.scratch, 'firefox');
  const settings = Object.entries({ ...SETTINGS, 'marionette.port': 0 });
  const lines = settings.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  browser = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', profile], {
    stdio: 'ignore',
    env: { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: '1' },
  });
  browser.on('error', ({ message }) => fail(`${program}: ${message}`, 'set WEFT_FIREFOX to one that starts', LACKING));
  browser.on('exit', (status, signal) => {
    fail(`Firefox has ended (${signal ?? `exit status ${status}`})`, 'run it by hand: is there memory left?');
  });
  const port = join(profile, 'MarionetteActivePort');
  for (const began = Date.now(); !existsSync(port); await sleep(50)) {
    if (Date.now() - began > PATIENCE_MS) throw new Error('Firefox opens no port for its remote control');
  }
  // The file appears before its content.
  await sleep(50);
  const socket = connect(Number(readFileSync(port, 'utf8')), '127.0.0.1');
  return new Marionette(socket);
}

/** Serves the page; loopback is a secure context. */
async function servePage() {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(HTML));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/`;
}

async function main() {
  if (!hasRole(given)) return;
  const marionette = await start();
  if (marionette === undefined) return;
  const { capabilities } = await marionette.ask('WebDriver:NewSession', { acceptInsecureCerts: true });
  await marionette.ask('WebDriver:Navigate', { url: await servePage() });
  const { role, codec, size: camera } = given;
  write({ about: { client: 'firefox', version: capabilities.browserVersion, role, codec, camera } });
  const page = readFileSync(new URL('../chromium/page.js', import.meta.url), 'utf8');
  await marionette.run(`const script = document.createElement('script');
    script.textContent = 'const told = []; const tell = (line) => told.push(line);' + arguments[0];
    document.head.append(script);`, page);
  // What the page complains of becomes a line, too.
  const call = (of) => `${of}.catch((error) => tell(JSON.stringify({ error: String(error), remedy: 'see clients/firefox' })))`;
  await marionette.run(`window.eval(${JSON.stringify(call(`begin(${JSON.stringify(plan(given))})`))}); return null;`);
  setInterval(async () => {
    const lines = await marionette.run(`return window.eval('told.splice(0)');`);
    for (const line of lines) process.stdout.write(`${line}\n`);
  }, LISTEN_MS);
  const input = createInterface(process.stdin);
  input.on('line', (line) => {
    const { signal } = JSON.parse(line);
    if (signal !== undefined) void marionette.run(`window.eval(${JSON.stringify(call(`onSignal(${JSON.stringify(signal)})`))}); return null;`);
  });
  input.on('close', () => end(0));
  write({ ready: true });
}

main().catch((error) => fail(error.message, 'run the client by hand: see clients/README.md'));
