// Writes ops/cli.md from the verbs of `svc`.
import { writeFileSync } from 'node:fs';
import { readCommands } from '../../src/cli/command-line/command-table.ts';
import { renderReferencePage } from '../../src/cli/command-line/reference-page.ts';
import { VERBS } from '../../src/cli/verbs.ts';

writeFileSync(new URL('../cli.md', import.meta.url), renderReferencePage(await readCommands(VERBS)));
