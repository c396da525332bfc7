#!/usr/bin/env node
// Prints the licences of a built weft: of every linked crate, the page's
// libraries, the embedded font, and the statically linked C libraries.
//
//   node scripts/third-party.mjs [TARGET] >THIRD-PARTY

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const target = process.argv[2] ?? 'x86_64-unknown-linux-gnu';
/** Those of the page that end up in what browsers get. */
const PAGE = ['preact', 'uplot'];
/** Debian's packages of what scripts/package links statically. */
const SYSTEM = readdirSync('/usr/share/doc').filter((name) => /^(libvpx-dev|gcc-\d+-base)$/.test(name));
const IS_LICENCE = /^(licen[cs]e|copying|copyright|notice|unlicense|patents)[^.]*(\.(txt|md|html))?$/i;

const asked = ['metadata', '--locked', '--format-version', '1', '--filter-platform', target];
const { packages, resolve } = JSON.parse(execFileSync('cargo', asked, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] }));
const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
const found = new Set();
function follow(id) {
  if (found.has(id)) return;
  found.add(id);
  for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) if (kinds.some(({ kind }) => kind === null)) follow(pkg);
}
follow(packages.find(({ name, source }) => name === 'weft' && source === null).id);

/** The texts of the licence files in a folder and below: crates bring C libraries along. */
function texts(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const licences = files.filter((entry) => entry.isFile() && IS_LICENCE.test(entry.name));
  return licences.map(({ parentPath, path, name }) => readFileSync(join(parentPath ?? path, name), 'utf8').trim());
}

const said = packages
  .filter(({ id, source }) => found.has(id) && source !== null)
  .map(({ name, version, license, authors, manifest_path: manifest }) => ({ name, version, license, authors, texts: texts(dirname(manifest)) }));
for (const name of PAGE) {
  const folder = join('web/node_modules', name);
  if (!existsSync(folder)) continue;
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  said.push({ name: `${name} (in the page)`, version, license, authors: [], texts: texts(folder) });
}
said.push({ name: 'DejaVu Sans (in films)', version: '2.37', license: 'Bitstream-Vera', authors: [], texts: texts('crates/weft-compose/font') });
for (const name of SYSTEM) {
  const file = `/usr/share/doc/${name}/copyright`;
  if (existsSync(file)) said.push({ name, version: "Debian's", license: 'as below', authors: [], texts: [readFileSync(file, 'utf8').trim()] });
}

// Equal texts appear once, with all components that they cover.
const by = new Map();
for (const { name, version, license, authors, texts: all } of said) {
  const line = `${name} ${version}: ${license}${authors.length > 0 ? `; ${authors.join(', ')}` : ''}`;
  console.log(line);
  for (const text of all) by.set(text, [...(by.get(text) ?? []), `${name} ${version}`]);
}
for (const [text, names] of by) console.log(`\n${'-'.repeat(79)}\n${names.join(', ')}:\n\n${text}`);
