import '@fontsource-variable/atkinson-hyperlegible-next/wght.css';
import './styles/tokens.css';
import './styles/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Shell } from './app/Shell.tsx';
import { startBoard } from './lib/board.ts';
import { watchForUpdates } from './lib/look-for-update.ts';

const root = document.getElementById('board');
if (root === null) throw new Error('the page has no element for the board');
startBoard();
createRoot(root).render(
  <StrictMode>
    <Shell />
  </StrictMode>,
);
watchForUpdates();
// After everything that the reader waits for.
addEventListener('load', () => {
  import('./lib/offline-page.ts').then(
    ({ keepPageOffline }) => keepPageOffline(),
    () => undefined,
  );
});
