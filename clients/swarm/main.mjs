// One end of a BitTorrent swarm, as traffic beside a call: see ../README.md for
// what it reads and writes. The caller is the one seed, the callee a tracker
// and peers with an address each, none of whom gets the whole file. Needs Node,
// and of Debian `rtorrent` and `iproute2`.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { LACKING, TELL_EVERY, atEnd, end, fail, ownAddress, write } from '../end.mjs';

const REMEDY = 'install rtorrent (`make setup-clients`)';
/** As many as have an address: the network's first is the host's. */
const MOST_PEERS = 250;
const TRACKER_PORT = 6969;
const PORT = 6881;
/** What is shared: at 5 Mbit/s nobody has it within three minutes, and the run fails when somebody does. */
const FILE = { name: 'film', size: 128 << 20, piece: 256 << 10 };

const { values: given } = parseArgs({
  options: {
    role: { type: 'string' },
    peers: { type: 'string', default: '24' },
    network: { type: 'string' },
    algorithm: { type: 'string', default: 'reno' },
    scratch: { type: 'string', default: tmpdir() },
  },
});

const running = [];
let folder;

atEnd(() => {
  // Asked to end, they would say goodbye to each other for seconds.
  for (const each of running) each.kill('SIGKILL');
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

function start(name, args, options) {
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  running.push(child);
  let last = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    last = text.trim().split('\n').at(-1) || last;
  });
  child.on('error', ({ message }) => fail(`${name}: ${message}`, REMEDY, LACKING));
  child.on('exit', (status, signal) => fail(`${name} has ended (${signal ?? `exit status ${status}`}): ${last}`, 'run it by hand: see clients/README.md'));
}

/** The same at both ends: noise that nothing makes smaller. */
function contents() {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
  return noise.update(Buffer.alloc(FILE.size));
}

/** Numbers, texts and dictionaries of BitTorrent (BEP 3), keys in order. */
function bencoded(value) {
  if (typeof value === 'number') return Buffer.from(`i${value}e`);
  if (Buffer.isBuffer(value) || typeof value === 'string') return Buffer.concat([Buffer.from(`${Buffer.byteLength(value)}:`), Buffer.from(value)]);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([Buffer.from('d'), ...entries.flat().map(bencoded), Buffer.from('e')]);
}

const sha1 = (data) => createHash('sha1').update(data).digest();

/** What a torrent says of the file. */
function info(data) {
  const pieces = [];
  for (let at = 0; at < data.length; at += FILE.piece) pieces.push(sha1(data.subarray(at, at + FILE.piece)));
  return { length: FILE.size, name: FILE.name, 'piece length': FILE.piece, pieces: Buffer.concat(pieces), private: 1 };
}

/** Writes the torrent, and gives the file's name. */
function torrent(about, tracker) {
  const file = join(folder, 'film.torrent');
  writeFileSync(file, bencoded({ announce: `http://${tracker}:${TRACKER_PORT}/announce`, info: about }));
  return file;
}

/**
 * A tracker (BEP 3, with the compact answers of BEP 23) by which all hear of all;
 * calls `then` when it listens.
 */
function track(address, then) {
  const known = new Map();
  const server = createServer((request, response) => {
    const asked = new URL(request.url, 'http://tracker').searchParams;
    const from = request.socket.remoteAddress;
    const port = Number(asked.get('port'));
    const event = asked.get('event');
    const others = [...known].filter(([who]) => who !== from).map(([, where]) => where);
    known.set(from, Buffer.from([...from.split('.').map(Number), port >> 8, port & 255]));
    if (event === 'stopped') known.delete(from);
    // From now on nothing goes over the link.
    if (event === 'completed') fail(`a peer has the whole file of ${FILE.size >> 20} MiB`, 'a slower link, or a flow that stops earlier');
    response.end(bencoded({ interval: 1800, peers: Buffer.concat(others) }));
  });
  server.on('error', ({ message }) => fail(`the tracker: ${message}`, 'run it by hand: see clients/README.md'));
  server.listen(TRACKER_PORT, address, then);
}

/** rtorrent with an address of its own; its settings but for these are its own. */
function peer(name, address, torrentFile, downloads) {
  const home = join(folder, name);
  mkdirSync(join(home, 'session'), { recursive: true });
  const settings = [
    'system.daemon.set = true',
    `session.path.set = ${join(home, 'session')}`,
    `directory.default.set = ${downloads ?? home}`,
    `network.bind_address.set = ${address}`,
    `network.local_address.set = ${address}`,
    `network.port_range.set = ${PORT}-${PORT}`,
    'dht.mode.set = disable',
    'trackers.use_udp.set = no',
    `load.start = ${torrentFile}`,
  ];
  writeFileSync(join(home, 'rc'), `${settings.join('\n')}\n`);
  start('rtorrent', ['-n', '-o', `import=${join(home, 'rc')}`], { env: { ...process.env, HOME: home } });
}

/** What TCP does in this end's network; whether it can. */
function choose(algorithm) {
  try {
    writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', algorithm);
    return true;
  } catch ({ message }) {
    fail(`TCP cannot be ${algorithm} here: ${message}`, `modprobe tcp_${algorithm} if it is not there; run as root if it may not be chosen`, LACKING);
    return false;
  }
}

/**
 * Whether this end has a connection with a peer: an established one (01) of the
 * kernel's tables, in which IPv4 addresses stand backwards, and those of sockets
 * of IPv6 at the end of theirs.
 */
function hasMet() {
  const network = Buffer.from(given.network.split('.').slice(0, 3).map(Number)).reverse().toString('hex').toUpperCase();
  const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').trim().split('\n').slice(1));
  return rows.map((row) => row.trim().split(/\s+/)).some(([, , remote, state]) => state === '01' && remote.split(':')[0].endsWith(network));
}

function connected() {
  write({ state: 'connected' });
  setInterval(() => write({ sample: { unix_ms: Date.now() } }), TELL_EVERY);
}

/** Calls `then` once a peer is there. */
function whenMet(then) {
  const asking = setInterval(() => {
    if (!hasMet()) return;
    clearInterval(asking);
    then();
  }, 100);
}

function main() {
  const { role, algorithm } = given;
  const peers = Number(given.peers);
  if (role !== 'caller' && role !== 'callee') return fail(`--role ${role}`, 'write caller or callee', 2);
  if (!Number.isInteger(peers) || peers < 1 || peers > MOST_PEERS) return fail(`--peers ${given.peers}`, `write 1 to ${MOST_PEERS}`, 2);
  // Nobody does this to his own machine by leaving something out.
  if (isIP(given.network ?? '') !== 4) return fail(`--network ${given.network ?? 'is not there'}`, 'write 198.19.1.1, and run it in a network namespace: it gets the addresses beside this one, and its TCP the algorithm', 2);
  const version = spawnSync('rtorrent', ['-h'], { encoding: 'utf8' }).stdout?.match(/version (\d[\d.]*\d)/)?.[1];
  if (version === undefined) return fail('there is no rtorrent', REMEDY, LACKING);
  if (!choose(algorithm)) return undefined;
  folder = mkdtempSync(join(given.scratch, 'swarm-'));
  const data = contents();
  const about = info(data);
  const input = createInterface(process.stdin);
  input.on('close', () => end(0));
  write({ about: { client: 'swarm', version: `rtorrent ${version}`, role, peers, algorithm } });
  const own = ownAddress();
  if (role === 'caller') {
    writeFileSync(join(folder, FILE.name), data);
    input.on('line', (line) => {
      const { signal } = JSON.parse(line);
      if (signal?.tracker === undefined || running.length > 0) return;
      peer('seed', own, torrent(about, signal.tracker), folder);
      whenMet(() => {
        write({ signal: { seed: own } });
        connected();
      });
    });
    write({ ready: true });
  } else {
    const file = torrent(about, own);
    input.once('line', connected);
    track(own, () => {
      for (let at = 1; at <= peers; at += 1) {
        const address = given.network.replace(/\d+$/, String(at + 1));
        execFileSync('ip', ['address', 'replace', `${address}/32`, 'dev', 'lo']);
        peer(`peer${at}`, address, file);
      }
      write({ signal: { tracker: own } });
      write({ ready: true });
    });
  }
}

process.on('uncaughtException', ({ message }) => fail(message, 'run it by hand: see clients/README.md'));
main();
