// The figures of a made-up ride, as a function of time: no call behind them.

const CYCLE = 72;

/** [from second, what is said]; the links follow below. */
const PHASES = [
  [0, 'Both links are good'],
  [12, 'WiFi fades'],
  [18, 'WiFi is dead'],
  [30, 'LTE is congested'],
  [44, 'LTE is dead'],
  [52, 'Both links are good'],
];

const TITLES = { wifi: 'WiFi', lte: 'LTE' };

function wobble(t, seed) {
  return Math.sin(t * 1.7 + seed) * 0.5 + Math.sin(t * 0.61 + seed * 3) * 0.35 + Math.sin(t * 5.3 + seed * 7) * 0.15;
}

function planned(name, at) {
  if (name === 'wifi') {
    if (at >= 18 && at < 30) return 0;
    if (at >= 12 && at < 18) return 8 - (at - 12) * 1.2;
    return 8;
  }
  if (at >= 44 && at < 52) return 0;
  if (at >= 30 && at < 44) return 1.2;
  return 5;
}

function linkAt(name, t, forced, seed) {
  const cut = forced === 'cut';
  const plan = cut ? 0 : forced === 'up' ? (name === 'wifi' ? 8 : 5) : planned(name, t % CYCLE);
  const up = plan > 0;
  const capacity = up ? Math.max(0.3, plan * (1 + wobble(t, seed) * 0.12)) : 0;
  return { up, capacity };
}

/** As the ride words it. */
function phaseAt(at, forced) {
  const planned = PHASES.findLast(([from]) => at >= from)[1];
  const words = Object.entries(TITLES).flatMap(([name, title]) => {
    if (forced[name] === 'cut') return `${title} is cut by hand`;
    return planned.startsWith(title) ? planned : [];
  });
  return words.length === 0 ? planned : words.join(', ');
}

/** What can be chosen; here no choice changes anything. */
const SETTINGS = [
  { name: 'scheduler', value: 'weft', choices: ['weft', 'converge', 'single', 'migrate', 'min_rtt', 'throughput', 'mprtp', 'duplicate'] },
  { name: 'protection', value: 'weft', choices: ['none', 'webrtc_table', 'path_specific', 'weft'] },
  { name: 'controller', value: 'gcc', choices: ['gcc', 'gcc_deployed', 'gcc_draft', 'nada', 'scream', 'scream_v1'] },
];

/** One tick, with `forced` by link name; pure. */
export function tickAt(t, forced, freeze) {
  const at = t % CYCLE;
  const phase = phaseAt(at, forced);
  const seeds = { wifi: 1, lte: 5 };
  const links = Object.entries(seeds).map(([name, seed]) => {
    const { up, capacity } = linkAt(name, t, forced[name] ?? null, seed);
    const before = linkAt(name, Math.max(0, t - 0.5), forced[name] ?? null, seed);
    const share = name === 'wifi' ? 0.62 : 0.5;
    const sent = up ? Math.min(capacity * 0.94, 3.4 * share * (1 + wobble(t, seed + 2) * 0.15) + 0.2) : 0;
    const tight = up ? Math.max(0, sent / capacity - 0.75) * 4 : 0;
    const queue = up ? 3 + tight * 120 + Math.abs(wobble(t, seed + 4)) * 6 : 0;
    const base = name === 'wifi' ? 24 : 58;
    return {
      name,
      up,
      forced: forced[name] ?? null,
      capacity_mbps: round(capacity),
      sent_mbps: round(sent),
      rtt_ms: up ? round(base + queue + Math.abs(wobble(t, seed)) * 5) : null,
      loss: up ? round(Math.max(0, tight * 0.02 + wobble(t, seed + 9) * 0.004), 4) : before.up ? 1 : 0,
      queue_ms: up ? round(queue) : null,
      state: up ? 'up' : before.up ? 'suspect' : 'down',
    };
  });
  const wifi = links[0];
  const anyUp = links.some((link) => link.up);
  const call = (alive, rate, delay, counters) => ({
    fps: alive ? Math.round(29.6 + wobble(t, 3) * 0.8) : 0,
    frozen: !alive,
    freeze_s: round(counters.seconds, 2),
    freeze_count: counters.count,
    e2e_ms: alive ? Math.round(delay + wobble(t, 8) * 9) : null,
    throughput_mbps: alive ? round(rate) : 0,
    ...(rate < 0.9 ? { width: 960, height: 540 } : { width: 1280, height: 720 }),
  });
  return {
    t: round(t, 2),
    phase,
    links,
    calls: {
      weft: call(anyUp, links.reduce((sum, link) => sum + link.sent_mbps, 0) * 0.96, 96, freeze.weft),
      'single:wifi': call(wifi.up, Math.min(2.4, wifi.capacity_mbps * 0.85), 88 + (wifi.queue_ms ?? 0), freeze.single),
    },
    settings: SETTINGS,
  };
}

function round(value, digits = 2) {
  return Number(value.toFixed(digits));
}
