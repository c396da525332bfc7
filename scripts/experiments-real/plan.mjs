// What is run, in the order of its use: every round has everything once.

/** A run has programs to start and to end beside its own time, seconds. */
const AROUND_S = 6;
/** What a call against TCP lasts. */
const AGAINST_TCP_S = 60;
/** The call is alone for so long before the TCP flow comes, as in the scenario. */
const ALONE_S = 20;
/** What wired-1 to wired-4 last, all their varied values together. */
const GCC_S = { 'wired-1': 120, 'wired-2-text': 3 * 160, 'wired-2-table': 3 * 160, 'wired-3': 420, 'wired-4': 2 * 240 };
const CONVERGE_S = 180;
/** What joining a room takes is not part of what is compared, seconds. */
const JOINING_S = 10;

/** What a client is called in the simulator. */
export const SIMULATED = { weft: 'weft', chromium: 'webrtc' };

/** What may be asked for, by option: a list, or how it is written. */
export const KNOWN = {
  parts: ['against-tcp', 'gcc', 'converge'],
  clients: ['chromium', 'weft', 'pion', 'aiortc'],
  tcp: ['cubic', 'reno', 'bbr1'],
  rates: { pattern: /^(?=.*[1-9])\d+(\.\d+)?$/, words: 'numbers of Mbit/s above 0' },
  queues: { pattern: /^((?=.*[1-9])\d+(\.\d+)?bdp|codel|fq_codel|pie|dualpi2)$/, words: 'Nbdp, codel, fq_codel, pie, dualpi2' },
  gcc: Object.keys(GCC_S),
  converge: ['driving', 'walking', 'stationary'],
};

const set = (changes) => Object.entries(changes).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
const emulated = (scenario, client, seeds) => ['lab', 'run', scenario, '--engine', 'emu', '--client', client, '--seeds', String(seeds)];

function lineOf(rate, queue) {
  const limit = /bdp$/.test(queue) ? `queue=${queue}` : `queue=10bdp,aqm=${queue}`;
  return `rate=${rate}mbit,delay=25ms,${limit}`;
}

/** Algorithm, rate and queue of each row of the table. */
const cells = (wanted) => wanted.tcp.flatMap((tcp) => wanted.rates.flatMap((rate) => wanted.queues.map((queue) => ({ tcp, rate, queue }))));

/** What both engines are told of a cell. */
function cell(wanted, { tcp, rate, queue }) {
  const duration = wanted.duration ?? AGAINST_TCP_S;
  const alone = Math.min(ALONE_S, duration / 3);
  const changes = set({
    vary: '[]',
    'measure-from': `"${alone}s"`,
    'flows.download.start': `"${alone}s"`,
    'flows.download.algorithm': `"${tcp}"`,
    'links.line.spec': `"${lineOf(rate, queue)}"`,
  });
  return ['--duration', String(duration), ...changes];
}

function againstTcp(wanted, repetition) {
  return cells(wanted).flatMap(({ tcp, rate, queue }) =>
    wanted.clients.map((client) => ({
      name: `against-tcp/${client}/${tcp}-${rate}mbit-${queue}-${repetition}`,
      labels: { part: 'against-tcp', client, tcp, rate, queue, repetition },
      seconds: (wanted.duration ?? AGAINST_TCP_S) + AROUND_S,
      // One system: weft's own, which other clients do not see.
      args: [...emulated('real/against-tcp', client, 1), '--systems', 'weft', ...cell(wanted, { tcp, rate, queue })],
    })),
  );
}

/** The same in the simulator, of those that it knows. */
function simulated(wanted) {
  if (!wanted.clients.some((client) => client in SIMULATED)) return [];
  return cells(wanted).map(({ tcp, rate, queue }) => ({
    name: `against-tcp/simulated/${tcp}-${rate}mbit-${queue}`,
    labels: { part: 'against-tcp', client: 'simulated', tcp, rate, queue },
    seconds: 2,
    args: ['lab', 'run', 'real/against-tcp', '--seeds', '5', '--systems', Object.values(SIMULATED).join(','), ...cell(wanted, { tcp, rate, queue })],
  }));
}

function gcc(wanted, repetition) {
  return wanted.gcc.map((scenario) => ({
    name: `gcc/${scenario}-${repetition}`,
    labels: { part: 'gcc', client: 'chromium', repetition },
    seconds: wanted.duration ?? (GCC_S[scenario] ?? 0) + AROUND_S,
    args: [
      ...emulated(`gcc/${scenario}`, 'chromium', 1),
      // Three calls at 720p are more than a few processors encode truthfully.
      ...(scenario === 'wired-3' ? set(Object.fromEntries(['one', 'two', 'three'].map((call) => [`flows.${call}.resolution`, '"360p"']))) : []),
      ...(wanted.duration === undefined ? [] : ['--duration', String(wanted.duration), ...set({ 'measure-from': '"0s"' }), ...begin(scenario)]),
    ],
  }));
}

/** In a shorter run the later flows begin earlier. */
function begin(scenario) {
  const starts = { 'wired-3': { two: 2, three: 4 }, 'wired-4': { call: 2 } }[scenario] ?? {};
  return set(Object.fromEntries(Object.entries(starts).map(([flow, s]) => [`flows.${flow}.start`, `"${s}s"`])));
}

/** Traces differ by seed, so the repetitions of a system are one run. */
function converge(wanted) {
  const pairs = wanted.converge.flatMap((scenario) => ['weft', 'converge'].map((system) => [scenario, system]));
  const duration = wanted.duration ?? CONVERGE_S;
  return pairs.map(([scenario, system]) => ({
    name: `converge/${scenario}-${system}-${wanted.repetitions}`,
    labels: { part: 'converge', client: 'weft', scenario, system },
    seconds: wanted.repetitions * (duration + AROUND_S),
    args: [
      'lab', 'run', `converge/${scenario}`, '--engine', 'both', '--client', 'weft', '--systems', system,
      '--seeds', String(wanted.repetitions), '--duration', String(duration),
      ...set({ 'flows.call.streams': 1, 'measure-from': `"${Math.min(JOINING_S, duration / 3)}s"` }),
    ],
  }));
}

/** Every run that is wanted, the most useful first. */
export function units(wanted) {
  const rounds = Array.from({ length: wanted.repetitions }, (_, index) => index + 1);
  const has = (part) => wanted.parts.includes(part);
  const each = rounds.flatMap((round) => [...(has('against-tcp') ? againstTcp(wanted, round) : []), ...(has('gcc') ? gcc(wanted, round) : [])]);
  return [...(has('against-tcp') ? simulated(wanted) : []), ...each, ...(has('converge') ? converge(wanted) : [])];
}
