import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const documentsOf = (roots: string[], isSilent: (root: string) => boolean = () => false) =>
  new StoreDocuments({
    index: new StoreIndex(),
    roots,
    store: { clock: systemClock },
    pool: { run: async (job) => Promise.reject(new Error(`a few short documents need no ${job}`)) },
    logger: silentLogger,
    isSilent,
    onRow: () => {},
    onLateRow: () => {},
  });

it('[WPL-12] lists the new path of a fiber that the move before it brought below the one that moves', async () => {
  const documents = documentsOf([well.root]);
  const made = async (slug: string) => documents.create(well.root, { name: slug, slug });
  const [top, parent, child] = [await made('top'), await made('parent'), await made('child')];
  await Promise.all([documents.nest(child, parent), documents.nest(parent, top)]);
  expect([...documents.all()].map(({ id }) => id).sort()).toEqual(['top', 'top/parent', 'top/parent/child']);
});

it('[DSP-1] touches no store whose disk is silent: its documents stay listed and are refused, the others are served', async () => {
  const isSilent = new Set<string>();
  const documents = documentsOf([silent.root, well.root], (root) => isSilent.has(root));
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

it('[DSP-1] keeps the rows of a store that is away as a whole, makes none in its place, and writes once it is back', async () => {
  const documents = documentsOf([well.root]);
  const known = await documents.create(well.root, { name: 'Known', slug: 'known' });
  const folder = join(well.root, '.fibers');
  renameSync(folder, `${folder}.away`);
  const refused = expect.objectContaining({ code: 'store_unavailable' });
  expect(() => documents.reread(known)).toThrow(refused);
  await expect(documents.open('known')).rejects.toThrow(refused);
  await expect(documents.edit(known, () => ({ set: { outcome: 'x' } }))).rejects.toThrow(refused);
  await expect(documents.create(well.root, { name: 'More' })).rejects.toThrow(refused);
  expect(() => documents.planCreate(well.root, { name: 'More' })).toThrow(refused);
  await expect(documents.nest(known, null)).rejects.toThrow(refused);
  expect([...documents.all()].map(({ id }) => id)).toEqual(['known']);
  expect(existsSync(folder)).toBe(false);
  // What lies in the place of the folder says nothing of a fiber either.
  writeFileSync(folder, '');
  expect(() => documents.reread(known)).toThrow(refused);
  await expect(documents.open('known')).rejects.toThrow(refused);
  expect([...documents.all()].map(({ id }) => id)).toEqual(['known']);
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  expect(await documents.edit(known, () => ({ set: { outcome: 'x' } }))).toMatchObject({ outcome: 'x' });
});
