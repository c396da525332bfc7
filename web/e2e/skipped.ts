// A test that this machine cannot make says why. WEFT_SKIPPED names the file that CI
// compares with .ci/may-skip; weft_testing::skipped writes to it, too.

import { appendFileSync } from 'node:fs';

export function skipped(reason: string): void {
  console.log(`skipped: ${reason}`);
  const file = process.env['WEFT_SKIPPED'];
  if (file !== undefined) appendFileSync(file, `${reason} (web/e2e)\n`);
}
