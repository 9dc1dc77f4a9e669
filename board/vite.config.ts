import { createRequire } from 'node:module';
import { basename } from 'node:path';
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

/** Names a class after its component: the digests of the default cannot be compressed. */
const component_of = new Map<string, string>();
function className(name: string, path: string): string {
  const [file = path] = path.split('?');
  const component = basename(file, '.module.css');
  if ((component_of.get(component) ?? file) !== file)
    throw new Error(`${file} and ${component_of.get(component)} would share their classes: rename one`);
  component_of.set(component, file);
  return `${component}_${name}`;
}

const PAGES = ['index.html', 'meeting.html'].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** What the daemon does: the page of a meeting has the address of the board, with a query of its own. */
const MEETING_PAGE: Plugin = {
  name: 'meeting-page',
  configureServer({ middlewares }) {
    middlewares.use((request, _response, next) => {
      if (request.url?.startsWith('/?view=meeting')) request.url = '/meeting.html';
      next();
    });
  },
};

/**
 * What the Desk begins with and its other parts share, as one file: many small ones compress badly. Nothing of it may be
 * used by the page of a meeting, which would then load all of it.
 */
const FIRST =
  /\/board\/src\/(?:lib\/(?:board|kept-values|open-fiber|parts)|model\/(?:activity|aim|card-buttons|classify|composite|contact|curve|hosts|states|wake)|time\/(?:pace|reads|recent|use-width))\.tsx?$/;

export default defineConfig({
  plugins: [
    react(),
    MEETING_PAGE,
    decodeCharactersWith(fileURLToPath(new URL('src/fiber/markdown/named-characters.ts', import.meta.url))),
  ],
  css: { modules: { generateScopedName: className } },
  worker: { plugins: () => [decodeCharactersWith(requireOfMicromark.resolve(CHARACTERS))] },
  build: {
    // The page's policy allows no `data:` fonts and no inline script.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // On a busy machine it would tell a newcomer of a slow build.
      checks: { bundlerTimings: false },
      input: PAGES,
      output: {
        codeSplitting: {
          groups: [{ name: 'board', test: FIRST }],
          includeDependenciesRecursively: false,
        },
      },
    },
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    target: 'es2023',
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': { target: DAEMON, ws: true } } },
});
