import type { FiberDocument, FiberStatus } from '../../contract/fiber.ts';
import type { Reach } from '../document-reader.ts';

/** The data of a fiber that a search needs, without the body. */
export type CatalogueRow = {
  path: string;
  digest: string;
  id: string;
  uid: string | null;
  store: string;
  status: FiberStatus;
  name: string;
  outcome: string | null;
  tags: string[];
  /** Where documents of its store may lie. */
  reach: Reach;
};

type Columns = [string, string, string, string | null, string, FiberStatus, string, string | null, string[]];

/** All fibers of the polled stores, encoded for a pool thread, which reads the bodies itself. */
export function encodeCatalogue(
  documents: Iterable<FiberDocument>,
  /** Roots of the stores whose documents may be symlinks out of the store, and mounts that may be entered. */
  { followed = [], answering = 'all' }: { followed?: readonly string[]; answering?: Reach['answering'] } = {},
): Uint8Array {
  const rows: Columns[] = [];
  for (const one of documents)
    rows.push([
      one.path,
      one.digest,
      one.id,
      one.uid,
      one.store,
      one.status,
      one.name,
      one.outcome ?? null,
      one.tags,
    ]);
  return new TextEncoder().encode(JSON.stringify({ rows, followed, answering }));
}

export function decodeCatalogue(bytes: Uint8Array): CatalogueRow[] {
  const { rows, followed, answering } = JSON.parse(new TextDecoder().decode(bytes)) as {
    rows: Columns[];
    followed: string[];
    answering: Reach['answering'];
  };
  const follows = new Set(followed);
  const own_reach = { follow: false, answering };
  const followed_reach = { follow: true, answering };
  return rows.map(([path, digest, id, uid, store, status, name, outcome, tags]) => ({
    path,
    digest,
    id,
    uid,
    store,
    status,
    name,
    outcome,
    tags,
    reach: follows.has(store) ? followed_reach : own_reach,
  }));
}
