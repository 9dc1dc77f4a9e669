import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Seeded } from '../../faults/seeded.ts';

/** What lies in a place of a store that leads elsewhere; `says` is in the error of a document that is one. */
const KINDS = {
  'link to a dead disk': { says: 'leads out of its store' },
  'chain to a dead disk': { says: 'leads out of its store' },
  'link into a dead folder of the store': { says: 'does not answer' },
  'link out of the store': { says: 'leads out of its store' },
  'link in the store': { says: null },
  loop: { says: 'ELOOP' },
  dangling: { says: 'does not exist' },
} as const;
type Kind = keyof typeof KINDS;

/** Names that the product gives to files of a store: each may be a link too. */
const PLACES = ['document', 'bare document', 'folder', 'lock', 'journal'] as const;

/** One entry of a layout: what `place` holds under the name `name`. */
export type Entry = { name: string; kind: Kind; place: (typeof PLACES)[number] };
const ACTIONS = ['list', 'places', 'read', 'edit', 'create below', 'nest', 'search', 'file'] as const;
export type Action = (typeof ACTIONS)[number];
/** A store to make, and what is done in it, in this order. */
export type Layout = { follow: boolean; healthy: string[]; entries: Entry[]; actions: Action[] };

/** The folders of one search; `dead` and the folder `net` of the store are disks that do not answer. */
export type Ground = { root: string; dead: string; outside: string };

/** The layout of a case. Its names are its own, since what is known of a path counts for a second. */
export function layoutOf(random: Seeded, number: number): Layout {
  const entries = Array.from({ length: random.whole(1, 6) }, (_, nth) => ({
    name: `x${number}-${nth}`,
    kind: random.some(Object.keys(KINDS) as Kind[], 1)[0]!,
    place: random.some(PLACES, 1)[0]!,
  }));
  return {
    follow: random.chance(0.3),
    healthy: ['well', 'works/inner'].slice(0, random.whole(1, 2)),
    entries,
    actions: random.some(ACTIONS, ACTIONS.length),
  };
}

/** What the error of the document of an entry says; null for an entry that is listed without an error, or is none. */
export function faultOf({ kind, place }: Entry, follow: boolean): string | null {
  if (place !== 'document' && place !== 'bare document') return null;
  if (follow && (kind === 'link to a dead disk' || kind === 'chain to a dead disk')) return 'does not answer';
  return follow && kind === 'link out of the store' ? null : KINDS[kind].says;
}

export function pathOf({ name, place }: Entry, base: string): string {
  switch (place) {
    case 'document':
      return join(base, name, `${name}.md`);
    case 'bare document':
      return join(base, `${name}.md`);
    case 'folder':
      return join(base, name);
    case 'lock':
      return join(base, name, `.${name}.lock`);
    case 'journal':
      return join(base, '.nest.json');
  }
}

/** Makes the store of a layout in place of the last one. */
export function makeStore({ root, dead, outside }: Ground, { healthy, entries }: Layout): void {
  const base = join(root, '.fibers');
  for (const name of readdirSync(base))
    if (name !== 'net') rmSync(join(base, name), { recursive: true, force: true });
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
  const write = (path: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '---\nname: A fiber\n---\nA body.\n');
  };
  for (const id of [...healthy, 'target']) write(join(base, id, `${id.slice(id.lastIndexOf('/') + 1)}.md`));
  write(join(outside, 'out.md'));
  symlinkSync(dead, join(outside, 'half-way'));
  const targets: Record<Kind, string> = {
    'link to a dead disk': join(dead, 'a.txt'),
    'chain to a dead disk': join(outside, 'half-way', 'a.txt'),
    'link into a dead folder of the store': join(base, 'net', 'a.txt'),
    'link out of the store': join(outside, 'out.md'),
    'link in the store': join(base, 'target', 'target.md'),
    loop: '',
    dangling: join(outside, 'nothing'),
  };
  for (const entry of entries) {
    const path = pathOf(entry, base);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(targets[entry.kind] || path, path);
  }
}
