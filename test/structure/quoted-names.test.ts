import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';

/** A fiber in a command of a template; the ids of incidents are made by the daemon. */
const NAMED = /svc\}? (?!incident)(?:[a-z-]+ ){1,2}\$\{(?:\w+\.)?(?:id|fiber_id|fiber)\}/g;

it('quotes the name of a fiber in every command that a message tells, so that it can be pasted', async () => {
  const root = new URL('../../src/', import.meta.url);
  const bare: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root })) {
    const text = readFileSync(new URL(file, root), 'utf8');
    for (const [told] of text.matchAll(NAMED)) bare.push(`${file}: ${told}`);
  }
  expect(bare).toEqual([]);
});
