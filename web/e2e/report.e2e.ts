// The report of a real run of the lab, opened as a file.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from './chromium';

const weft = process.env['WEFT_BIN'];

describe('report of the lab', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-report-'));
  let browser: Browser;
  beforeAll(async () => {
    if (weft === undefined) throw new Error('WEFT_BIN must name the program to test; `make e2e` builds it and does so');
    const run = ['lab', 'run', 'demo/aqm', '--duration', '20', '--seeds', '2', '--out', folder];
    execFileSync(weft, run, { stdio: 'ignore', timeout: 120_000 });
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`shows figures and plots, and loads nothing (${colorScheme})`, async () => {
      const page = await browser.newPage({ colorScheme });
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(`file://${folder}/report.html`);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('One bottleneck');
      expect(await page.getByText('self-check passed').count()).toBe(1);
      expect(await page.locator('.forest').count()).toBeGreaterThan(4);
      expect(asked.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    });
  }

  it('shows on paper what is folded or scrolled on the screen', async () => {
    // A4 between margins of 14 mm.
    const page = await browser.newPage({ viewport: { width: 688, height: 1000 } });
    await page.goto(`file://${folder}/report.html`);
    const folded = page.locator('details:not([open])');
    const before = await folded.count();
    expect(before).toBeGreaterThan(0);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await folded.count()).toBe(0);
    const cut = await page.locator('.scroll').evaluateAll((boxes) => boxes.filter((box) => getComputedStyle(box).overflowX !== 'visible' || box.scrollWidth > box.clientWidth).length);
    expect(cut).toBe(0);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    expect(await folded.count()).toBe(before);
    await page.close();
  });

  it('tells the values under the pointer in all plots, and zooms them together', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`file://${folder}/report.html`);
    const plots = page.locator('#time .plot');
    const over = plots.first().locator('.u-over');
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 2, y);
    await page.waitForFunction(() => [...document.querySelectorAll('#time .plot .plot-at')].every((at) => at.textContent !== ''));
    const middle = parseFloat((await plots.first().locator('.plot-at').textContent()) ?? '');
    expect(middle).toBeGreaterThan(9);
    expect(middle).toBeLessThan(11);
    expect(await plots.first().locator('.key strong').first().textContent()).not.toBe('');
    // From the second half: the left edge then shows the middle.
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, y, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(box.x + 4, y);
    const second = plots.nth(1).locator('.plot-at');
    await page.waitForFunction((at) => parseFloat(at?.textContent ?? '') > 9, await second.elementHandle());
    await page.close();
  });

  it('begins with the answer, cuts outliers off and says so, and lets one take each plot along', async () => {
    const compared = join(folder, 'compared');
    const links = ['--link', 'wifi=trace=generated:walking/wifi,delay=10ms', '--link', 'lte=rate=5mbit,delay=40ms'];
    const run = ['lab', 'compare', ...links, '--seeds', '2', '--duration', '40', '--out', compared];
    const printed = execFileSync(weft ?? '', run, { encoding: 'utf8', timeout: 120_000 });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`file://${compared}/report.html`);
    // The terminal ends with the same sentences.
    const answer = await page.getByLabel('Result').locator('p').allInnerTexts();
    expect(answer[0]).toMatch(/weft/);
    expect(answer[1]).toMatch(/^weft carried [\d.]+ Mbit\/s, the best single link \(webrtc@(wifi|lte)\) [\d.]+ Mbit\/s: /);
    expect(printed.trimEnd().endsWith(answer.join('\n'))).toBe(true);
    // Each strip shows the table's value for the seed.
    const strips = page.getByLabel('When the picture froze').getByRole('listitem');
    const frozen = page.locator('.forest').filter({ has: page.getByRole('heading', { name: /^Frozen/ }) });
    expect(await strips.count()).toBe(3);
    for (const system of ['webrtc@wifi', 'webrtc@lte', 'weft']) {
      const row = frozen.locator('.forest-row').filter({ has: page.getByTitle(system, { exact: true }) });
      const seed = (await row.locator('.track-seed').first().getAttribute('title'))?.replace(/^seed 1: /, '');
      const words = seed === '0' ? 'never froze' : `froze for ${seed} s`;
      expect(await strips.filter({ hasText: `${system}: ` }).innerText()).toBe(`${system}: ${words}`);
    }
    const seeds = page.getByRole('group', { name: 'Seed' }).getByRole('button');
    expect(await seeds.allInnerTexts()).toEqual(['1', '2']);
    await seeds.nth(1).click();
    expect(await page.locator('#time .note').innerText()).toBe('The run with seed 2.');
    const cut = page.locator('#time .cut').first();
    expect(await cut.innerText()).toMatch(/^(\d+ higher, up to|capacity up to) /);
    await cut.click();
    expect(await cut.innerText()).toBe('cut the highest off');
    for (const [kind, begins] of [
      ['CSV', 'x_s,'],
      ['SVG', '<svg '],
      ['PNG', '\u0089PNG'],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Received rate as ${kind}` }).first().click()]);
      expect(download.suggestedFilename()).toBe(`received-rate.${kind.toLowerCase()}`);
      expect(readFileSync(await download.path(), 'latin1').startsWith(begins)).toBe(true);
    }
    await page.close();
  });

  it('lays two folders over each other, and names the best single link as what is compared with', async () => {
    const run = (name: string, rate: string): string => {
      const out = join(folder, name);
      const links = ['--link', `wifi=rate=${rate},delay=10ms`, '--link', 'lte=rate=1mbit,delay=40ms'];
      execFileSync(weft ?? '', ['lab', 'compare', ...links, '--seeds', '2', '--duration', '10', '--out', out], { stdio: 'ignore', timeout: 120_000 });
      return out;
    };
    const [old, now] = [run('old', '2mbit'), run('now', '4mbit')];
    const compared = join(folder, 'compared.html');
    execFileSync(weft ?? '', ['lab', 'report', `before=${old}`, now, '--out', compared], { stdio: 'ignore' });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`file://${compared}`);
    expect(await page.getByLabel('Result').innerText()).toMatch(/^weft · now was better than weft · before: it carried more/);
    expect(await page.locator('.facts strong').allInnerTexts()).toEqual(['before', 'now']);
    expect(await page.locator('#differences table').first().locator('thead th').allInnerTexts()).toEqual(['Change', 'webrtc@wifi · now', 'webrtc@lte · now', 'weft · now']);
    expect(await page.locator('#conditions .command').count()).toBe(2);
    await page.goto(`file://${now}/report.html`);
    expect(await page.locator('#differences .note').innerText()).toContain('the best call over one link');
    await page.close();
  });

  it('shows what is inside the controllers of every flow, under one cursor', async () => {
    const calls = join(folder, 'calls');
    const run = ['lab', 'run', 'rmcat/5-4-competing-flows', '--systems', 'nada,gcc', '--duration', '50', '--seeds', '1', '--out', calls];
    execFileSync(weft ?? '', run, { stdio: 'ignore', timeout: 120_000 });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`file://${calls}/report.html`);
    const part = page.locator('#controllers');
    expect(await part.locator('.timeline').count()).toBe(3);
    await part.locator('select').selectOption('single/nada');
    await part.locator('summary').nth(2).click();
    const plots = part.locator('.timeline').nth(2).locator('.plot');
    const titles = await plots.locator('.plot-title').allTextContents();
    for (const title of ['Rate', 'Delay', 'State', 'Rates inside']) expect(titles.some((each) => each.startsWith(title))).toBe(true);
    // The third flow starts at 40 s; the state there is one of NADA.
    const over = plots.first().locator('.u-over');
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height / 2);
    await page.waitForFunction(() => [...document.querySelectorAll('#controllers .timeline[open] .plot-at')].every((at) => at.textContent !== ''));
    const state = plots.filter({ has: page.locator('.plot-title', { hasText: /^State/ }) });
    expect(['ramp-up', 'gradual']).toContain(await state.locator('.key strong').textContent());
    await page.close();
  });

  it('plots a sweep as lines and heat maps', async () => {
    const out = join(folder, 'sweep');
    const sweep = ['--set', 'links.a.delay=100ms,1s,10ms', '--set', 'links.a.aqm=droptail,codel'];
    execFileSync(weft ?? '', ['lab', 'compare', '--link', 'a=rate=2mbit', '--link', 'b=rate=2mbit', ...sweep, '--seeds', '2', '--duration', '3', '--out', out], { stdio: 'ignore', timeout: 120_000 });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`file://${out}/report.html`);
    const part = page.locator('#sweep');
    await part.getByLabel('Metric').selectOption('throughput_mbps');
    expect(await part.locator('.plot').first().locator('.key').allTextContents()).toEqual(['webrtc@a', 'webrtc@b', 'weft']);
    expect(await part.locator('.heat-map caption').allTextContents()).toEqual(['webrtc@a', 'webrtc@b', 'weft']);
    const map = part.locator('.heat-map').first();
    expect(await map.locator('thead th').allTextContents()).toEqual(['100ms', '1s', '10ms']);
    expect(await map.locator('tbody th').allTextContents()).toEqual(['droptail', 'codel']);
    // The link with the longest delay leaves the least for the call over it; the other link has no
    // such delay.
    const cells = async (place: number): Promise<number[]> => (await part.locator('.heat-map').nth(place).locator('tbody tr').first().locator('td').allTextContents()).map(Number);
    const [hundred = 0, second = 0, ten = 0] = await cells(0);
    expect(second).toBeLessThan(Math.min(hundred, ten));
    expect(new Set(await cells(1)).size).toBe(1);
    // Words instead of numbers on the axis.
    await part.getByRole('combobox', { name: 'Against' }).selectOption('aqm');
    expect(await map.locator('thead th').allTextContents()).toEqual(['droptail', 'codel']);
    await page.close();
  });
});
