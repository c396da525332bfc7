// One end of a SIP call by baresip, a phone whose pictures have a fixed rate:
// see ../README.md for what it reads and writes. Needs Node, and of Debian
// `baresip-core` and `baresip-ffmpeg`.
//
// There is no registrar: the callee tells its address, the caller calls it. The
// phone is started by a folder of settings, and says what it sends and receives
// in a line that it writes over itself.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { LACKING, TELL_EVERY, atEnd, clientOptions, end, fail, ownAddress, write } from '../end.mjs';

/** How often the clip is filmed: longer than any run. */
const LOOPS = 10_000;
/** Of each end, so that both may be on one machine (RFC 3261 section 19.1.2 has the first). */
const PORTS = { callee: 5060, caller: 5062 };
/** Where distributions put the phone's parts. */
const MODULES = ['/usr/lib/baresip/modules', '/usr/local/lib/baresip/modules'];
const REMEDY = 'install baresip-core and baresip-ffmpeg (`make setup-clients`)';

const given = clientOptions('1280x720', { video: { type: 'string' }, 'max-bps': { type: 'string', default: '500000' } });

let folder;
let phone;

atEnd(() => {
  phone?.kill('SIGTERM');
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** What the phone films: the clip again and again, as a list of FFmpeg. */
function film() {
  symlinkSync(given.video, join(folder, 'clip.y4m'));
  const list = join(folder, 'loop.ffconcat');
  writeFileSync(list, `ffconcat version 1.0\n${'file clip.y4m\n'.repeat(LOOPS)}`);
  return list;
}

/** The phone's settings; it always has sound. */
function configure(address, modules) {
  folder = mkdtempSync(join(given.scratch, 'baresip-'));
  const config = [
    'poll_method epoll',
    `module_path ${modules}`,
    `sip_listen ${address}:${PORTS[given.role]}`,
    'ausrc_channels 2',
    'auplay_channels 2',
    'audio_player aubridge,heard',
    'audio_alert aubridge,alert',
    'video_display fakevideo,nil',
    `video_size ${given.size}`,
    `video_bitrate ${given['max-bps']}`,
    `video_fps ${given.fps}`,
    // A call in which something has no source is never established: who has no
    // camera sends a still picture, some 3 kbit/s.
    'audio_source ausine,440',
    `video_source ${given.send && given.video !== undefined ? `avformat,${film()}` : 'fakevideo,nil'}`,
    ...['ausine', 'aubridge', 'opus', 'g711', 'avcodec', 'avformat', 'fakevideo'].map((name) => `module ${name}.so`),
    'module_tmp account.so',
    'module_app menu.so',
  ];
  writeFileSync(join(folder, 'config'), `${config.join('\n')}\n`);
  writeFileSync(join(folder, 'accounts'), `<sip:${given.role}@${address}>;regint=0;answermode=auto\n`);
  writeFileSync(join(folder, 'contacts'), '');
  mkdirSync(join(folder, 'home'));
}

/** Starts the phone; `onLine` gets what it says, `onSample` what it counts. */
function start(extra, onLine) {
  const env = { ...process.env, HOME: join(folder, 'home') };
  // What it says would stay in its buffer for seconds.
  phone = spawn('stdbuf', ['-o0', 'baresip', '-f', folder, ...extra], { stdio: ['ignore', 'pipe', 'pipe'], env });
  phone.on('error', ({ message }) => fail(`baresip: ${message}`, REMEDY, LACKING));
  let last = '';
  let rest = '';
  const hear = (text) => {
    // Escapes move over a line that is written again.
    const lines = (rest + text).split(/[\r\n]+/);
    rest = lines.pop();
    for (const line of lines) {
      last = line.trim() || last;
      onLine(line);
    }
  };
  for (const stream of [phone.stdout, phone.stderr]) stream.setEncoding('utf8').on('data', hear);
  phone.on('exit', (status, signal) => fail(`baresip has ended (${signal ?? `exit status ${status}`}): ${last}`, 'run it by hand: see clients/README.md'));
}

/** Rates and pictures a second, from `[0:00:10] audio=1/2 video=3/4 (bit/s) efps=30.1/27.1`. */
function counted(line) {
  const found = line.match(/audio=(\d+)\/(\d+) video=(\d+)\/(\d+) \(bit\/s\) efps=([\d.]+)\/([\d.]+)/);
  if (found === null) return undefined;
  const [audioSent, audioReceived, sent, received, sentFps, receivedFps] = found.slice(1).map(Number);
  const mbps = (...rates) => rates.reduce((sum, rate) => sum + rate, 0) / 1e6;
  return {
    sent: { mbps: mbps(audioSent, sent), fps: sentFps },
    received: { mbps: mbps(audioReceived, received), fps: receivedFps },
  };
}

function main() {
  const { role } = given;
  if (PORTS[role] === undefined) return fail(`--role ${role}`, 'write caller or callee', 2);
  const modules = MODULES.find((each) => existsSync(join(each, 'avformat.so')));
  if (modules === undefined) return fail(`no modules of baresip in ${MODULES.join(', ')}`, REMEDY, LACKING);
  const address = ownAddress();
  configure(address, modules);
  let counts;
  let telling;
  const onLine = (line) => {
    counts = counted(line) ?? counts;
    const version = line.match(/^baresip v(\S+)/)?.[1];
    if (version !== undefined) write({ about: { client: 'baresip', version, role, camera: given.size, 'max-bps': Number(given['max-bps']) } });
    if (line.startsWith('baresip is ready') && role === 'callee') {
      write({ ready: true });
      write({ signal: { sip: `sip:callee@${address}:${PORTS.callee}` } });
    }
    if (telling === undefined && /[Cc]all established|session established|incoming rtp for/.test(line)) {
      write({ state: 'connected' });
      telling = setInterval(() => write({ sample: { unix_ms: Date.now(), ...counts } }), TELL_EVERY);
    }
  };
  const input = createInterface(process.stdin);
  input.on('line', (line) => {
    const { signal } = JSON.parse(line);
    if (role === 'caller' && signal?.sip !== undefined && phone === undefined) start(['-e', `/dial ${signal.sip}`], onLine);
  });
  input.on('close', () => end(0));
  if (role === 'callee') start([], onLine);
  else write({ ready: true });
}

main();
