import type { FiberDocument, FiberStatus } from '../../contract/fiber.ts';

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
  /** Whether documents of its store may be symlinks out of the store. */
  follow: boolean;
};

type Columns = [string, string, string, string | null, string, FiberStatus, string, string | null, string[]];

/** All fibers of the polled stores, encoded for a pool thread, which reads the bodies itself. */
export function encodeCatalogue(
  documents: Iterable<FiberDocument>,
  /** Roots of the stores whose documents may be symlinks out of the store. */
  followed: readonly string[] = [],
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
  return new TextEncoder().encode(JSON.stringify({ rows, followed }));
}

export function decodeCatalogue(bytes: Uint8Array): CatalogueRow[] {
  const { rows, followed } = JSON.parse(new TextDecoder().decode(bytes)) as {
    rows: Columns[];
    followed: string[];
  };
  const follows = new Set(followed);
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
    follow: follows.has(store),
  }));
}
