import { poolJobs } from '../src/contract/threads/pool.ts';
import { initProject } from '../src/fibers/init-project.ts';
import { readDocuments, sweepStore } from '../src/fibers/sweep.ts';
import { withBulk } from '../src/threads/bulk.ts';
import type { Handlers } from '../src/threads/calls.ts';
import { createPoolEntry } from '../src/threads/pool-entry.ts';

const handlers: Handlers<typeof poolJobs> = {
  ping: () => ({}),
  sweep_store: ({ root, most_new }, table) =>
    withBulk({}, sweepStore(root, table ?? new Uint8Array(0), Date.now(), most_new)),
  read_documents: ({ root }, paths) => withBulk({}, readDocuments(root, paths ?? new Uint8Array(0))),
  // Loaded only where it is asked for: the route table is of no other use to a thread of the pool.
  async describe_api({ version }) {
    const { encodeApi } = await import('../src/routes/described-rows.ts');
    return withBulk({}, await encodeApi(version));
  },
  init_store: ({ path, dry_run }) => initProject(path, dry_run),
};

/** Runs one job of the pool. */
export default createPoolEntry(poolJobs, handlers);
