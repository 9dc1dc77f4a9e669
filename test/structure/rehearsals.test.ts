import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import type { Row } from '../../src/http/row.ts';
import { type ServedRoutes, serveRoutes } from '../routes/served-routes.ts';

/** Writes that cannot be rehearsed, each with the reason; `noRehearsal` in its body refuses a request to. */
const NOT_REHEARSED: Readonly<Record<string, string>> = {
  '/api/v1/choose-folder': 'a dialog that nobody answers tells nothing',
};

/** Writes that are rehearsed, and whose rows cannot say so in a schema; each with the place that proves it. */
const REHEARSED_UNSAID: Readonly<Record<string, string>> = {
  '/api/v1/lifecycle':
    'its body is judged by the handler and answered as text: test/routes/lifecycle.test.ts',
  '/api/v1/attachments':
    'its body is taken as bytes and judged in the pool, `dry_run` with it: test/routes/attachments.test.ts',
  '/api/v1/messages/files':
    'its body is taken as bytes and judged in the pool, `dry_run` with it: test/routes/message-files.test.ts',
};

const WHAT_TO_DO = `either rehearse it: \`dry_run: dryRunField\` in the body, \`.or(rehearsalSchema)\` in the 200 reply, the call
declared with \`write(…)\` in src/contract/threads/poller.ts, and a \`Write\` of src/dispatch/world/write.ts behind it, whose plan is
shown or applied (or a \`rehearsal(…)\` of your own for what the poller does not do); or name it in NOT_REHEARSED of
test/structure/rehearsals.test.ts with the reason, with \`dry_run: noRehearsal\` in its body`;

/** The start of a sentence that begins with the word that the page puts before it. */
const SAYS_WOULD = /(?:\brehearsal\(|\bwould:)\s*[`'"]would\b.*/gi;

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

const writes = () => served.rows.filter((row) => row.method !== 'GET');

/** What a body is told of its `dry_run`; null where it has no such field, or takes that value. */
function saidOf(row: Row, dry_run: unknown): string | null {
  const schema: unknown = row.body;
  if (!(schema instanceof z.ZodType)) return null;
  const { error } = schema.safeParse({ dry_run });
  return error?.issues.find(({ path }) => path[0] === 'dry_run')?.message ?? null;
}

/** True when some answer of the row may be a rehearsal. */
function answersRehearsal(row: Row): boolean {
  return Object.values(row.replies).some((schema) => {
    if (typeof schema === 'string') return false;
    const json = 'text_or' in schema ? schema.text_or : schema;
    const parsed = json.safeParse(rehearsal('write nothing'));
    return parsed.success && (parsed.data as { dry_run?: unknown }).dry_run === true;
  });
}

describe('every write of the route table', () => {
  it('[WPL-1] accepts dry_run and answers it with a rehearsal, or is listed as one that cannot be rehearsed', () => {
    expect(writes().length).toBeGreaterThan(15);
    for (const row of writes()) {
      if (row.path in NOT_REHEARSED || row.path in REHEARSED_UNSAID) continue;
      expect(saidOf(row, 'perhaps'), `${row.path} has no dry_run: ${WHAT_TO_DO}`).not.toBeNull();
      expect(saidOf(row, true), `${row.path} refuses dry_run: ${WHAT_TO_DO}`).toBeNull();
      expect(answersRehearsal(row), `${row.path} answers no rehearsal: ${WHAT_TO_DO}`).toBe(true);
    }
  });

  it('that cannot be rehearsed says so, and has no effect with dry_run', () => {
    const paths = writes().map((row) => row.path);
    for (const [path, reason] of [...Object.entries(NOT_REHEARSED), ...Object.entries(REHEARSED_UNSAID)]) {
      expect(paths, `${path} is no write any more; take it off the list`).toContain(path);
      expect(reason.length, path).toBeGreaterThan(20);
    }
    for (const row of writes().filter((one) => one.path in NOT_REHEARSED && one.body instanceof z.ZodType))
      expect(saidOf(row, true), row.path).toContain('cannot be rehearsed');
  });
});

describe('the sentence of a rehearsal', () => {
  it('goes on after "Would", and does not begin with it', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const files = globSync('src/**/*.ts', { cwd: root });
    expect(files.length).toBeGreaterThan(300);
    const doubled = files.flatMap((file) =>
      [...readFileSync(`${root}${file}`, 'utf8').matchAll(SAYS_WOULD)].map(([found]) => `${file}: ${found}`),
    );
    expect(doubled, 'leave out the first word').toEqual([]);
    expect('rehearsal(\n  `would try it`').toMatch(SAYS_WOULD);
  });
});
