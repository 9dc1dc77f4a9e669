// Writes ops/api.md from the route table.
import { writeFileSync } from 'node:fs';
import { renderApiPage } from '../../src/routes/api-page.ts';
import { createRoutes } from '../../src/routes/table.ts';

/** Rows are only described here: whatever they would ask or be told answers nothing. */
const nothing = new Proxy(() => [], { get: (_, name) => (name === 'version' ? '' : nothing) });
writeFileSync(new URL('../api.md', import.meta.url), await renderApiPage(createRoutes(nothing, nothing)));
