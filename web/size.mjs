// Fails when the built page is too heavy: what all files together weigh, compressed.

import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Chosen by us: little more than a second over a bad mobile link of 0.5 Mbps. */
const LIMIT_BYTES = 75_000;

const dist = new URL('dist/', import.meta.url);
const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
let total = 0;
for (const file of files) {
  const size = gzipSync(readFileSync(`${file.parentPath}/${file.name}`), { level: 9 }).length;
  total += size;
  console.log(`${String(size).padStart(7)} ${file.name}`);
}
console.log(`${String(total).padStart(7)} of ${LIMIT_BYTES} bytes, gzip`);
process.exitCode = total > LIMIT_BYTES ? 1 : 0;
