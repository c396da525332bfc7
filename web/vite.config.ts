import { defineConfig } from 'vitest/config';

// The dev server passes the API on: to the mock by default, to a real weft
// server with WEFT_API=http://host:port.
const api = process.env['WEFT_API'] ?? 'http://127.0.0.1:8787';

export default defineConfig({
  build: {
    target: 'es2022',
    // No data: URLs, so that the server can send a strict Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/whip', '/whep', '/mock'].map((path) => [path, api])),
  },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
  },
});
