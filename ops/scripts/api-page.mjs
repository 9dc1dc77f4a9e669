// Writes ops/api.md from the route table.
import { writeFileSync } from 'node:fs';
import { renderApiPage } from '../../src/routes/api-page.ts';
import { describedRows } from '../../src/routes/described-rows.ts';

writeFileSync(new URL('../api.md', import.meta.url), renderApiPage(describedRows()));
