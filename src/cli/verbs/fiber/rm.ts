import { z } from 'zod';
import { isCoded } from '../../../base/errors.ts';
import { rehearsedRemoval } from '../../../fibers/rehearsed-write.ts';
import type { Store } from '../../../fibers/store.ts';
import { DRY_RUN, FIBER, option, STORE } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { findInStores } from '../../find-fiber.ts';

/** `svc fiber rm <id>`: removes a document; its attachments and children only with `--recursive`. */
export const verb = defineVerb({
  summary: 'Remove a fiber',
  arguments: { fiber: FIBER },
  options: {
    recursive: option('--recursive', 'remove its companions and children too'),
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [['svc fiber rm say-hello --dry-run', 'shows what would be removed']],
  json: z.object({ removed: z.object({ id: z.string(), path: z.string() }) }),
  async run(context, { fiber, recursive, dry_run, ...given }) {
    const { store, id } = findInStores(context, fiber, given.store);
    if (dry_run === true) {
      const planned = store.planRemove(id, { recursive });
      return rehearsed(rehearsedRemoval(planned, textOf(store, planned.path)));
    }
    const removed = await store.remove(id, { recursive });
    return { json: { removed }, text: `Removed ${removed.path}\n`, one_line: true };
  },
});

/** Null for a document that cannot be read, which can be removed all the same. */
function textOf(store: Store, path: string): string | null {
  try {
    return store.readBytes(path).toString('utf8');
  } catch (error) {
    if (isCoded(error)) return null;
    throw error;
  }
}
