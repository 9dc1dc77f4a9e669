import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { StoreDocuments } from '../../../src/dispatch/stores/store-documents.ts';
import { StoreIndex } from '../../../src/fibers/store-index.ts';
import { createTempStore, type TempStore } from '../../fixtures/fibers/temp-store.ts';

let silent: TempStore;
let well: TempStore;
beforeEach(() => {
  silent = createTempStore();
  well = createTempStore();
});
afterEach(() => {
  silent.remove();
  well.remove();
});

it('[DSP-1] touches no store whose disk is silent: its documents stay listed and are refused, the others are served', async () => {
  const isSilent = new Set<string>();
  const documents = new StoreDocuments({
    index: new StoreIndex(),
    roots: [silent.root, well.root],
    store: { clock: systemClock },
    pool: { run: async (job) => Promise.reject(new Error(`two short documents need no ${job}`)) },
    logger: silentLogger,
    isSilent: (root) => isSilent.has(root),
    onRow: () => {},
    onLateRow: () => {},
  });
  const far = await documents.create(silent.root, { name: 'Far', slug: 'far' });
  const near = await documents.create(well.root, { name: 'Near', slug: 'near' });
  isSilent.add(silent.root);
  // Nothing of it is left, so whoever touched it would find nothing.
  silent.remove();
  expect([...documents.all()].map(({ id }) => id).sort()).toEqual(['far', 'near']);
  expect(documents.silent).toEqual([silent.root]);
  const refused = expect.objectContaining({ code: 'store_unavailable' });
  expect(() => documents.reread(far)).toThrow(refused);
  await expect(documents.open('far')).rejects.toThrow(refused);
  await expect(documents.create(silent.root, { name: 'More' })).rejects.toThrow(refused);
  expect(documents.reread(near)?.id).toBe('near');
  expect(documents.look('near').id).toBe('near');
  expect(() => documents.look('unlisted')).toThrow(expect.objectContaining({ code: 'fiber_not_found' }));
});
