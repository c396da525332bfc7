// A test that cannot run on this machine says why. WEFT_SKIPPED names the file that CI
// compares with .ci/may-skip; weft_testing::skipped also writes to it.

import { appendFileSync } from 'node:fs';

export function skipped(reason: string): void {
  console.log(`skipped: ${reason}`);
  const file = process.env['WEFT_SKIPPED'];
  if (file !== undefined) appendFileSync(file, `${reason} (web/e2e)\n`);
}
