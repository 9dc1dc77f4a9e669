import '@fontsource-variable/atkinson-hyperlegible-next/wght.css';
import '../styles/tokens.css';
import '../styles/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PhonePage } from './PhonePage.tsx';

const root = document.getElementById('meeting');
if (root === null) throw new Error('the page has no element for the meeting');
createRoot(root).render(
  <StrictMode>
    <PhonePage />
  </StrictMode>,
);
