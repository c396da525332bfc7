// node --test scripts/experiments-real

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { doubts } from './tables.mjs';

const MAIN = fileURLToPath(new URL('main.mjs', import.meta.url));
const main = (...args) => spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
const plan = (...options) => main('plan', '--out', '/nowhere', ...options);

const late = (ms) => `not to be believed: packets were up to ${ms} ms late at p99.9, where 1 ms are the limit: end other programs`;
const UNTAKEN = 'not to be believed: 7 packets were lost before the emulator could take them: the machine is too slow';
const UNWRITTEN = '12 packets are missing from the log: rates are too low';
const LIMITED = 'flow `call`: the processor limited the pictures for 2.5 s or left some out';

test('every doubt of every run counts, and the worst is told', () => {
  assert.equal(doubts([{ notes: ['client pion 4'] }, { notes: [] }]), '-');
  // Three seeds of one summary, and another one.
  const three = { notes: [late('1.20'), LIMITED, late('9.40'), late('3.00')] };
  assert.equal(doubts([three, { notes: [late('2.00')] }]), '4 late (9 ms), 1 short of processor');
});

test('packets that were lost outside the model are doubts, too', () => {
  assert.equal(doubts([{ notes: [UNTAKEN, UNWRITTEN] }]), '1 not taken (7 packets), 1 not written down (12 packets)');
  assert.equal(doubts([{ notes: ['not to be believed: for a new reason'] }]), '1 not to be believed');
});

test('what is known is planned', () => {
  const { status, stdout } = plan('--parts', 'against-tcp', '--clients', 'pion', '--tcp', 'bbr1', '--rates', '0.5', '--queues', '2bdp,codel', '--repetitions', '2', '--duration', '9.5');
  assert.equal(status, 0);
  assert.match(stdout, /against-tcp\/pion\/bbr1-0\.5mbit-codel-2\n0 of 4 runs/);
});

test('what is unknown is refused with what there is', () => {
  const refused = [
    ['--parts', 'against-tcp,gc', /--parts gc: write some of against-tcp, gcc, converge/],
    ['--clients', 'firefox', /--clients firefox: write some of chromium/],
    ['--clients', '', /write some of chromium/],
    ['--tcp', 'bbr3', /write some of cubic, reno, bbr1/],
    ['--rates', '2,0', /--rates 0: write some of numbers/],
    ['--queues', '2', /--queues 2: write some of Nbdp/],
    ['--gcc', 'wired-9', /write some of wired-1/],
    ['--converge', 'flying', /write some of driving/],
    ['--duration', '0', /--duration 0: write a number of seconds/],
    ['--repetitions', '1.5', /--repetitions 1\.5: write a whole number from 1 on/],
    ['--repetitions', '0', /write a whole number from 1 on/],
    ['--seeds', '3', /Unknown option '--seeds'/],
  ];
  for (const [option, value, message] of refused) {
    const { status, stderr } = plan(option, value);
    assert.equal(status, 2, `${option} ${value}: ${stderr}`);
    assert.match(stderr, message);
    assert.match(stderr, /usage: main\.mjs/);
    assert.doesNotMatch(stderr, /\n {4}at /, 'a stack trace');
  }
});

/** A folder with a run of aiortc against CUBIC, and a file for its table. */
function folder(t, text) {
  const path = mkdtempSync(join(tmpdir(), 'experiments-real-'));
  t.after(() => rmSync(path, { recursive: true }));
  const results = [{ metric: 'throughput_mbps.call', system: 'weft', mean: 0.316 }];
  const run = { name: 'x', part: 'against-tcp', client: 'aiortc', tcp: 'cubic', rate: '2', queue: '2bdp', repetition: 1, result: { results, notes: [] } };
  mkdirSync(join(path, 'against-tcp'));
  writeFileSync(join(path, 'against-tcp', 'x.json'), JSON.stringify(run));
  writeFileSync(join(path, 'page.md'), text);
  return path;
}

const MARKED = 'before\n\n<!-- against-tcp: written by scripts/experiments-real -->\n\nold\n\n<!-- end -->\n\n<!-- gcc: written by scripts/experiments-real -->\n\nkept\n\n<!-- end -->\n';

test('a table takes the place of its own part alone', (t) => {
  const path = folder(t, MARKED);
  const page = join(path, 'page.md');
  const { status, stderr } = main('table', '--out', path, '--into', page);
  assert.equal(status, 0, stderr);
  const text = readFileSync(page, 'utf8');
  assert.match(text, /^before\n/);
  assert.match(text, /\| 2 \| cubic \| 2bdp \| aiortc \| 1 \| 0\.32 \|/);
  assert.doesNotMatch(text, /old/);
  assert.match(text, /\n\n<!-- end -->\n\n<!-- gcc: [^>]*>\n\nkept\n\n<!-- end -->\n$/);
  // Again: nothing changes.
  assert.equal(main('table', '--out', path, '--into', page).status, 0);
  assert.equal(readFileSync(page, 'utf8'), text);
});

test('a page without whole marks, and a folder without runs, are refused', (t) => {
  const twice = MARKED + MARKED;
  const withoutEnd = MARKED.replace('<!-- end -->', 'its end is missing');
  const path = folder(t, '');
  const page = join(path, 'page.md');
  for (const text of ['a page\n', twice, withoutEnd]) {
    writeFileSync(page, text);
    const refused = main('table', '--out', path, '--into', page);
    assert.equal(refused.status, 2, text);
    assert.match(refused.stderr, /has not one line <!-- against-tcp/);
    assert.equal(readFileSync(page, 'utf8'), text);
  }
  const nothing = main('table', '--out', path, '--parts', 'gcc', '--into', page);
  assert.equal(nothing.status, 2);
  assert.match(nothing.stderr, /nothing of gcc has been run/);
});
