import type { FiberDocument, FiberStatus } from '../../contract/fiber.ts';

/** What a search has to know of a fiber without its body. */
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
  /** Whether the documents of its store may be links out of it. */
  follow: boolean;
};

type Columns = [string, string, string, string | null, string, FiberStatus, string, string | null, string[]];

/** All fibers of the polled stores as bytes, for a pool thread that reads their bodies by itself. */
export function encodeCatalogue(
  documents: Iterable<FiberDocument>,
  /** Roots of the stores whose documents may be links out of them. */
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
