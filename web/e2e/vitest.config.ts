import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: 'e2e',
    include: ['*.e2e.ts'],
    // A machine that stalls often takes twice as long as any other.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Time limit within which a call on a busy machine reaches an expected state.
    expect: { poll: { timeout: 20_000 } },
    // A browser and a call on two shared cores may miss a deadline once.
    retry: 1,
    // One browser at a time: they compete for the processor.
    fileParallelism: false,
  },
});
