import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findRoleStore } from '../../../src/dispatch/plan/role-store.ts';
import type { DirectoryLook } from '../../../src/dispatch/world/world.ts';
import { scratchFolder } from '../../kit/scratch-folder.ts';

async function lookAtDirectory(path: string): Promise<DirectoryLook> {
  const at = statSync(path, { throwIfNoEntry: false });
  if (at === undefined) return { kind: 'missing' };
  return at.isDirectory() ? { kind: 'directory', real: path } : { kind: 'not_directory' };
}

describe('the store of roles', () => {
  const root = scratchFolder();
  afterAll(() => root.remove());
  let number = 0;
  function stores(files: readonly string[]): { store: string; shared: string } {
    const base = join(root.path, String(number++));
    for (const file of files) {
      mkdirSync(dirname(join(base, file)), { recursive: true });
      writeFileSync(join(base, file), '# Reviewer\n');
    }
    return { store: join(base, 'store'), shared: join(base, 'shared') };
  }
  const find = (place: { store: string }, role_store: string | null, ...roles: string[]) =>
    findRoleStore(
      { lookAtDirectory, role_store },
      { store: place.store, collaboration: Object.fromEntries(roles.map((role) => [role, []])) },
    );

  it.each([
    ['store/.fibers/roles/reviewer/reviewer.md', 'store/.fibers/roles'],
    ['store/.fibers/roles/reviewer.md', 'store/.fibers/roles'],
    ['store/roles/reviewer.md', 'store/roles'],
  ])('[PRM-6] is in the fiber’s own store, as %s', async (file, found) => {
    const place = stores([file]);
    expect(await find(place, null, 'author', 'reviewer')).toBe(join(dirname(place.store), found));
  });

  it.each([
    ['shared/reviewer.md', 'shared'],
    ['shared/.fibers/reviewer/reviewer.md', 'shared/.fibers'],
  ])('[PRM-6] is the folder of host.json, as %s', async (file, found) => {
    const place = stores([file, 'store/roles/reviewer.md']);
    expect(await find(place, place.shared, 'reviewer')).toBe(join(dirname(place.store), found));
  });

  it('[PRM-6] is named only where a role of the roster has a document', async () => {
    const place = stores(['store/roles/editor.md', 'store/secret.md', 'shared/editor.md']);
    expect(await find(place, null, 'reviewer', '../secret', '.', '')).toBeNull();
    expect(await find(place, place.shared, 'reviewer')).toBeNull();
    expect(await find(place, null)).toBeNull();
  });
});
