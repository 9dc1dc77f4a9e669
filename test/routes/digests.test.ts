import { expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import type { FileStamp } from '../../src/contract/threads/pool.ts';
import type { Pool } from '../../src/routes/callers.ts';
import { Digests } from '../../src/routes/digests.ts';

const GIB = 1024 ** 3;
const stamp = (ino: string, size = GIB): FileStamp => ({ dev: '1', ino, size, mtime_ns: '1', ctime_ns: '1' });
const nobodyLeaves = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A pool whose jobs end when the test says so, or when they are taken back. */
function heldPool() {
  const jobs: { path: string; finish(settled: boolean): void }[] = [];
  let most = 0;
  let under_way = 0;
  const run = async (_job: string, input: { path: string }, options: { signal?: AbortSignal } = {}) => {
    const answer = createDeferred<{ value: { sha256: string; settled: boolean }; bulk: null }>();
    const takeBack = () => answer.reject(new CodedError('cancelled', 'taken back'));
    if (options.signal?.aborted === true) takeBack();
    options.signal?.addEventListener('abort', takeBack);
    under_way += 1;
    most = Math.max(most, under_way);
    const sha256 = `digest of ${input.path}`;
    jobs.push({
      path: input.path,
      finish: (settled) => answer.resolve({ value: { sha256, settled }, bulk: null }),
    });
    return answer.promise.finally(() => {
      under_way -= 1;
    });
  };
  return { jobs, most: () => most, pool: { run } as unknown as Pool };
}

it('[RPL-22] caches a digest under inode, time and size, and only a settled one', async () => {
  const { pool, jobs } = heldPool();
  const digests = new Digests(pool);
  const ask = async (settled: boolean) => {
    const before = jobs.length;
    const asked = digests.of('/a', stamp('1'), { signal: nobodyLeaves });
    await turn();
    if (jobs.length > before) jobs.at(-1)!.finish(settled);
    expect(await asked).toBe('digest of /a');
    return jobs.length;
  };
  expect(await ask(false)).toBe(1);
  expect(await ask(true)).toBe(2);
  expect(await ask(true)).toBe(2);
  const other = digests.of('/a', { ...stamp('1'), ctime_ns: '2' }, { signal: nobodyLeaves });
  await turn();
  expect(jobs).toHaveLength(3);
  jobs[2]!.finish(true);
  await other;
});

it('computes one digest at a time, so that the pool has threads for other jobs', async () => {
  const { pool, jobs, most } = heldPool();
  const digests = new Digests(pool);
  const asked = ['1', '2', '3'].map((ino) => digests.of(`/${ino}`, stamp(ino), { signal: nobodyLeaves }));
  for (const index of [0, 1, 2]) {
    await turn();
    expect(jobs).toHaveLength(index + 1);
    jobs[index]!.finish(true);
    await asked[index];
  }
  expect(most()).toBe(1);
});

it('cancels a long digest when the last client that waits for it has disconnected', async () => {
  const { pool, jobs } = heldPool();
  const digests = new Digests(pool);
  const [one, two] = [new AbortController(), new AbortController()];
  const asked = [one, two].map(({ signal }) => digests.of('/a', stamp('1'), { signal }));
  const settled = Promise.allSettled(asked);
  await turn();
  one.abort();
  await turn();
  expect(jobs).toHaveLength(1);
  two.abort();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const again = digests.of('/a', stamp('1'), { signal: nobodyLeaves });
  await turn();
  jobs[1]!.finish(true);
  expect(await again).toBe('digest of /a');
});

it('lets a short digest finish, and starts none for a client that has disconnected', async () => {
  const { pool, jobs } = heldPool();
  const digests = new Digests(pool);
  const client = new AbortController();
  const asked = digests.of('/a', stamp('1', 10), client);
  await turn();
  client.abort();
  jobs[0]!.finish(true);
  expect(await asked).toBe('digest of /a');
  expect(await digests.of('/a', stamp('1', 10), { signal: nobodyLeaves })).toBe('digest of /a');
  await expect(digests.of('/b', stamp('2'), { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  });
});
