import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npx vite board` finds a daemon; that daemon has to allow the page’s origin in `SVC_DEV_ORIGINS`. */
const DAEMON = 'http://127.0.0.1:4000';

export default defineConfig({
  plugins: [react()],
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
