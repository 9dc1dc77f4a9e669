import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Where `npx vite board` finds a daemon; that daemon has to allow the page’s origin in `SVC_DEV_ORIGINS`. */
const DAEMON = 'http://127.0.0.1:4000';

/** What micromark decodes `&amp;` and its like with; in a browser it would write markup, which the page's policy refuses. */
const CHARACTERS = 'decode-named-character-reference';
const requireOfMicromark = createRequire(createRequire(import.meta.url).resolve('micromark'));

/** Lets the page decode by its sanitiser, and a worker, which has none, by a table. */
function decodeCharactersWith(path: string): Plugin {
  return {
    name: 'named-characters',
    enforce: 'pre',
    resolveId: (id) => (id === CHARACTERS ? path : null),
  };
}

export default defineConfig({
  plugins: [
    react(),
    decodeCharactersWith(fileURLToPath(new URL('src/fiber/markdown/named-characters.ts', import.meta.url))),
  ],
  worker: { plugins: () => [decodeCharactersWith(requireOfMicromark.resolve(CHARACTERS))] },
  build: {
    // The page's policy allows no `data:` fonts and no inline script.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    target: 'es2023',
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': { target: DAEMON, ws: true } } },
});
