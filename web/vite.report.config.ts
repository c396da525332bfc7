import type { Plugin } from 'vite';
import { defineConfig } from 'vite';

/** Puts script and style into the page: a report is one file, and loads nothing. */
const oneFile: Plugin = {
  name: 'one-file',
  enforce: 'post',
  generateBundle(_, bundle) {
    const text = (name: string): string => {
      const file = bundle[name];
      if (file === undefined) throw new Error(`the page asks for ${name}, which was not built`);
      delete bundle[name];
      return file.type === 'chunk' ? file.code : String(file.source);
    };
    for (const page of Object.values(bundle)) {
      if (page.type !== 'asset' || !page.fileName.endsWith('.html')) continue;
      let script = '';
      page.source = String(page.source)
        .replace(/\s*<script type="module"[^>]* src="\.?\/?([^"]+)"><\/script>/g, (_all, name: string) => {
          script += text(name).replaceAll('</script', '<\\/script');
          return '';
        })
        .replace(/<link rel="stylesheet"[^>]* href="\.?\/?([^"]+)">/g, (_all, name: string) => `<style>${text(name)}</style>`)
        // Behind the data and the element that it draws into.
        .replace('</body>', () => `<script type="module">${script}</script></body>`);
    }
  },
};

export default defineConfig({
  root: 'report',
  base: './',
  plugins: [oneFile],
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
  },
});
