// Statements of the application studies about several conditions or runs, which
// no single row of a scenario can check: shares and orders that must hold here.

import { runs } from './results.mjs';

/** A check: its figure, what was said, what it is here, and whether that agrees. */
const check = (figure, said, here, agrees) => ({ figure, said, here, agrees });

const percent = (share) => `${Math.round(100 * share)} %`;

/** The shares of these pairs in which the first is at most the second. */
function atMost(pairs) {
  const known = pairs.filter((pair) => pair.every((value) => value !== undefined && !Number.isNaN(value)));
  return { n: known.length, share: known.filter(([a, b]) => a <= b).length / known.length };
}

function order(figure, said, pairs, wanted) {
  const { n, share } = atMost(pairs);
  return n === 0 ? [] : [check(figure, said, `${percent(share)} of ${n}`, share >= wanted)];
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Medians by condition. */
function medians(summary, metric) {
  return new Map(summary.results.filter((row) => row.metric === metric).map((row) => [row.system, row.mean]));
}

/** Every combination of these lists. */
function combinations(...lists) {
  return lists.reduce((all, list) => all.flatMap((before) => list.map((each) => [...before, each])), [[]]);
}

const RATES = ['0.5mbit', '1mbit', '2mbit', '4mbit'];
const DELAYS = ['one way 15ms', 'one way 25ms'];
const QUEUES = ['0.5bdp', '2bdp', '10bdp'];
const TCPS = ['cubic', 'bbr1'];
const ORDERS = ['tcp at 30s', 'tcp at 0s'];
const name = (system, ...parts) => `${system} (${parts.join(', ')})`;

function zoom(found) {
  const [tail, codel, fq] = ['zoom/tail-drop', 'zoom/codel', 'zoom/fq-codel'].map(found);
  if (tail === undefined) return [];
  const equality = medians(tail, 'flow_rate_equality');
  const own = runs(tail);
  const at = (...parts) => equality.get(name(...parts));
  const many = combinations(['0.5mbit', '1mbit'], DELAYS, ['0.5bdp', '2bdp'], TCPS, ORDERS).flatMap((parts) => own(name('down', ...parts), 'flow_rate_equality'));
  const share = many.filter((value) => value > 0.5).length / many.length;
  const falling = RATES.map((rate) => mean(combinations(DELAYS, ['0.5bdp'], TCPS, ORDERS).map((parts) => at('down', rate, ...parts))));
  const all = combinations(RATES, DELAYS, QUEUES, TCPS, ORDERS);
  const checks = [
    check('figure 3', 'down, at 0.5 and 1 Mbit/s: mostly above 0.5; seven runs of ten, chosen by us', `${percent(share)} of ${many.length} runs`, share > 0.7),
    check('figure 3', 'down, half a product of queue: falls with the rate', falling.map((value) => value.toFixed(2)).join(', '), falling.every((value, place) => place === 0 || value < falling[place - 1])),
    ...order('figure 3', 'half a product of queue: beside BBR at most what it is beside CUBIC, in every cell', combinations(['down'], RATES, DELAYS, ['0.5bdp']).flatMap((parts) => ORDERS.map((first) => [at(...parts, 'bbr1', first), at(...parts, 'cubic', first)])), 1),
    ...order('figures 3 and 4', 'up at most what it is down; three cells of four, chosen by us', all.map((parts) => [at('up', ...parts), at('down', ...parts)]), 0.75),
    ...order('figures 3 and 4', 'TCP first: at most what it is with Zoom first; three cells of four, chosen by us', combinations(['down', 'up'], RATES, DELAYS, QUEUES, TCPS).map((parts) => [at(...parts, 'tcp at 0s'), at(...parts, 'tcp at 30s')]), 0.75),
    ...order('figure 4', 'up, beside CUBIC: lower than with two products of queue; three cells of four, chosen by us', combinations(RATES, DELAYS, ORDERS).map(([rate, delay, first]) => [at('up', rate, delay, '10bdp', 'cubic', first), at('up', rate, delay, '2bdp', 'cubic', first)]), 0.75),
    ...order('figure 4', 'down, Zoom first, 4 Mbit/s: more than with the shorter queues; three cells of four, chosen by us', combinations(DELAYS, ['0.5bdp', '2bdp'], TCPS).map(([delay, queue, tcp]) => [at('down', '4mbit', delay, queue, tcp, 'tcp at 30s'), at('down', '4mbit', delay, '10bdp', tcp, 'tcp at 30s')]), 0.75),
  ];
  if (codel !== undefined) {
    const [waits, before] = [codel, tail].map((summary) => medians(summary, 'queue_ms_mean'));
    const less = (rates, tcps = TCPS) => mean(combinations(['down'], rates, DELAYS, tcps, ORDERS).map(([system, rate, delay, tcp, first]) => waits.get(name(system, rate, delay, tcp, first)) / before.get(name(system, rate, delay, '2bdp', tcp, first))));
    const [slow, fast] = [less(['0.5mbit']), less(['4mbit'])];
    const shares = medians(codel, 'flow_rate_equality');
    checks.push(
      check('figure 6', 'at 0.5 Mbit/s about half of the queueing delay of drop-tail; 0.35 to 0.65', slow.toFixed(2), slow >= 0.35 && slow <= 0.65),
      check('figure 6', 'stronger at the higher rates: less of it at 4 Mbit/s', `${fast.toFixed(2)} and ${slow.toFixed(2)}`, fast < slow),
      ...order('section 4.3', 'CoDel: equality slightly towards CUBIC; three cells of four, chosen by us', combinations(['down', 'up'], RATES, DELAYS, ['cubic'], ORDERS).map(([system, rate, delay, tcp, first]) => [shares.get(name(system, rate, delay, tcp, first)), at(system, rate, delay, '2bdp', tcp, first)]), 0.75),
    );
  }
  if (fq !== undefined) {
    const shares = medians(fq, 'flow_rate_equality');
    const cells = combinations(RATES, DELAYS, TCPS, ORDERS).map((parts) => shares.get(name('down', ...parts)));
    const within = cells.filter((value) => Math.abs(value) <= 0.3).length / cells.length;
    const byRate = RATES.map((rate) => mean(combinations(DELAYS, TCPS, ORDERS).map((parts) => shares.get(name('down', rate, ...parts)))));
    checks.push(
      check('figure 7', 'down: mostly between -0.3 and 0.3; three cells of four', `${percent(within)} of ${cells.length}`, within >= 0.75),
      check('figure 7', 'down: highest at 0.5 Mbit/s', byRate.map((value) => value.toFixed(2)).join(', '), Math.max(...byRate) === byRate[0]),
    );
  }
  return checks;
}

function instantMessengers(found) {
  const [profile, coexistence, enforced, quality] = ['im-calls/profile', 'im-calls/coexistence', 'im-calls/enforced', 'im-calls/quality-enforced'].map(found);
  const checks = [];
  if (profile !== undefined) {
    const lost = runs(profile)('whatsapp', 'loss');
    const share = lost.filter((value) => value > 0.01).length / lost.length;
    checks.push(check('figure 3', 'at 0.3 Mbit/s a quarter of the calls of WhatsApp lose more than 1 %; a tenth to four tenths, chosen by us', `${percent(share)} of ${lost.length} runs`, share >= 0.1 && share <= 0.4));
  }
  for (const [figure, summary, app] of [['figure 8', enforced, 'whatsapp']]) {
    if (summary === undefined) continue;
    const spread = (system) => {
      const [row] = summary.results.filter((each) => each.metric === 'harm' && each.system === system);
      return row === undefined ? NaN : row.ci95[1] - row.ci95[0];
    };
    const pairs = combinations(['signal', 'telegram'], ORDERS.map((first) => first.replace('30s', '60s'))).map(([other, first]) => [spread(name(other, 'cubic', first, 'droptail')), spread(name(app, 'cubic', first, 'droptail'))]);
    checks.push(...order(figure, 'beside CUBIC the harm to WhatsApp has the widest spread', pairs, 1));
  }
  if (coexistence !== undefined) {
    const cells = ['signal', 'telegram'].flatMap((app) => combinations(['cubic', 'bbr2'], ['tcp at 0s', 'tcp at 60s']).map(([tcp, first]) => ['droptail', 'codel', 'fq_codel'].map((aqm) => medians(coexistence, 'harm').get(name(app, tcp, first, aqm)))));
    const holding = cells.filter(([tail, codel, fq]) => tail > codel && codel > fq).length;
    checks.push(check('figures 4, 6, 7', 'Signal and Telegram: most harm behind drop-tail, less behind CoDel, least behind FQ_CoDel', `${holding} of ${cells.length}`, holding === cells.length));
  }
  if (quality !== undefined) {
    const own = runs(quality);
    const points = quality.results.filter((row) => row.metric === 'harm').flatMap(({ system }) => own(system, 'harm').map((harm, place) => [harm, own(system, 'brisque')[place]]));
    const known = points.filter(([, score]) => score !== undefined);
    const rank = (column) => {
      const sorted = known.map((point) => point[column]).sort((a, b) => a - b);
      return known.map((point) => (sorted.indexOf(point[column]) + sorted.lastIndexOf(point[column])) / 2);
    };
    if (known.length > 0) {
      const [a, b] = [rank(0), rank(1)];
      const [ma, mb] = [mean(a), mean(b)];
      const product = (x, mx, y, my) => x.reduce((sum, value, place) => sum + (value - mx) * (y[place] - my), 0);
      const rho = product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
      checks.push(check('figures 11 to 13', 'more harm, worse pictures: rank correlation above 0.6', `${rho.toFixed(2)} of ${known.length} runs`, rho > 0.6));
    }
  }
  return checks;
}

/** Everything that can be checked of these summaries. */
export function studyChecks(summaries) {
  const found = (scenario) => summaries.find((summary) => summary.scenario === scenario);
  return [...zoom(found), ...instantMessengers(found)];
}
