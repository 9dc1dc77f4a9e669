// Writes the table of ops/resume.md from the decisions of the code.
import { writeFileSync } from 'node:fs';
import { renderResumePage } from './resume-table.mjs';

writeFileSync(new URL('../resume.md', import.meta.url), renderResumePage());
