import { basename, dirname, resolve } from 'node:path';
import { ulid } from 'ulid';
import { z } from 'zod';
import { sha256Of } from '../../../base/digest.ts';
import { CodedError } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { rehearsal } from '../../../contract/http/rehearsal.ts';
import { unifiedDiff } from '../../../fibers/text-diff.ts';
import { type Argument, DRY_RUN } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { openStores } from '../../find-fiber.ts';
import { openRuns } from '../handoff/own-run.ts';

/** Below the first line of a document, keys of a block are indented. */
const ID_LINE = /^(id:[ \t]*["']?)[0-9A-Za-z]{26}/m;

const DOCUMENT: Argument<string> = {
  ...{ usage: '<path>', description: 'the document of the copy, or its folder' },
  parse: (text) => text,
};

/** `svc fiber new-id <path>`: gives a copied document a ULID of its own, and changes nothing else of it. */
export const verb = defineVerb({
  summary: 'Give a copied fiber a ULID of its own',
  arguments: { document: DOCUMENT },
  options: { dry_run: DRY_RUN },
  examples: [
    ['svc fiber new-id ".fibers/say-hello copy"', 'two documents with one ULID are two fibers again'],
  ],
  json: z.object({ id: z.string(), path: z.string(), uid: z.string() }),
  async run(context, { document, dry_run }) {
    const wanted = resolve(context.cwd, document);
    const { stores } = await openStores(context);
    const rows = stores.flatMap((store) => store.list().documents.map((row) => ({ store, row })));
    const found = rows.find(({ row: { path } }) => path === wanted || isIn(wanted, path));
    if (found === undefined)
      throw new CodedError('fiber_not_found', `${wanted} is no document of a store; svc fiber ls lists them`);
    const { store, row } = found;
    const { id, path, uid } = row;
    const twins = rows.filter((one) => one.row.path !== path && uid !== null && one.row.uid === uid);
    if (twins.length === 0)
      throw new CodedError(
        'invalid_request',
        `no other document has the ULID of ${path}; nothing was changed`,
      );
    // Its worker and its past are found by the old one.
    if (openRuns(readSettings(context.env).data_dir, (run) => run.path === path).length > 0)
      throw new CodedError(
        'worker_exists',
        `a worker was started for ${path}, so that this is not the copy; give another ULID to ${twins.map((one) => one.row.path).join(' or ')}`,
      );
    const fresh = ulid(context.clock.now());
    const bytes = store.readBytes(path);
    const before = bytes.toString('utf8');
    const after = before.replace(ID_LINE, (_, key: string) => `${key}${fresh}`);
    if (after === before)
      throw new CodedError(
        'invalid_document',
        `${path} has no line "id:" of its own; write one in an editor`,
      );
    if (dry_run === true) {
      const documents = [{ path, diff: unifiedDiff(basename(path), before, after) }];
      return rehearsed(rehearsal(`write ${path}`, { documents, minted: { uid: fresh } }));
    }
    await store.replace(id, after, sha256Of(bytes));
    return { json: { id, path, uid: fresh }, text: `${path} has the ULID ${fresh} now\n`, one_line: true };
  },
});

/** The folder of a document is named as it is. */
function isIn(folder: string, path: string): boolean {
  return dirname(path) === folder && basename(path) === `${basename(folder)}.md`;
}
