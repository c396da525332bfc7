import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

// The dev server passes the API on: to the mock by default, to a real weft
// server with WEFT_API=http://host:port.
const server = process.env['WEFT_API'];
const api = server ?? 'http://127.0.0.1:8787';

/** The mock has no media: the page draws its own pictures while it is developed against it. */
const mockPictures: Plugin = {
  name: 'mock-pictures',
  apply: 'serve',
  transformIndexHtml: () =>
    server === undefined ? [{ tag: 'script', attrs: { src: '/mock/pictures.js' }, injectTo: 'head-prepend' }] : [],
};

export default defineConfig({
  plugins: [mockPictures],
  build: {
    target: 'es2022',
    // No data: URLs, so that the server can send a strict Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/whip', '/whep'].map((path) => [path, api])),
  },
  test: {
    include: ['{src,report}/**/*.test.ts'],
    environment: 'node',
  },
});
