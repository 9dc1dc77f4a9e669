// Writes ops/limits.md from the constants of the code.
import { writeFileSync } from 'node:fs';
import { renderLimitsPage } from './limits.mjs';

writeFileSync(new URL('../limits.md', import.meta.url), await renderLimitsPage());
