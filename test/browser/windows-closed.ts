import { afterEach } from 'vitest';
import { closeWindows } from './chromium.ts';

// Of all hooks after a test this one runs last.
afterEach(closeWindows);
