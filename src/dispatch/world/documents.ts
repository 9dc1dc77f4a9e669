import type { FiberDocument } from '../../contract/fiber.ts';
import type { PlannedWrite } from '../../fibers/store.ts';

/** A planned change of a document: frontmatter paths to set and to remove. */
export type DocumentChange = { set: Record<string, unknown>; unset: string[] };

/** The documents as the dispatcher needs them; every write goes through the store's lock. */
export type Documents = {
  all(): Iterable<FiberDocument>;
  /** By canonical id, uid or unique leaf; throws `fiber_not_found` or `ambiguous_fiber`. */
  find(id: string): FiberDocument;
  byUid(uid: string): FiberDocument | undefined;
  /** The document a run was started for: the one at its path, or where it moved to. */
  of(run: { path: string; uid: string }): FiberDocument | undefined;
  /** True when it has twins. */
  isAmbiguous(document: FiberDocument): boolean;
  /** The other documents with its uid, or with its canonical id in its store. */
  twins(document: FiberDocument): FiberDocument[];
  /** Reads the file again; undefined when it is gone. Throws `store_unavailable` when the disk does not answer. */
  reread(document: FiberDocument): FiberDocument | undefined;
  /**
   * Plans on the document as it is under the lock and writes the plan; returns the new document. A plan that
   * throws writes nothing.
   */
  change(document: FiberDocument, plan: (current: FiberDocument) => DocumentChange): Promise<FiberDocument>;
  /** What `change` would write now, without lock or write. */
  planChange(
    document: FiberDocument,
    plan: (current: FiberDocument) => DocumentChange,
  ): Promise<PlannedWrite>;
};

/** A fiber's key: its uid, or its file where it has none of its own. */
export function keyOf({ uid, path, twins }: Pick<FiberDocument, 'uid' | 'path' | 'twins'>): string {
  return twins === undefined ? (uid ?? path) : path;
}

/** True when the worker of the last dispatch handed off after it started (RES-2). */
export function handedOff(document: FiberDocument): boolean {
  const runtime = document.svc?.runtime;
  const [dispatched, handed] = [timeOf(runtime?.dispatched_at), timeOf(runtime?.handed_off_at)];
  return handed !== null && (dispatched === null || handed > dispatched);
}

/** A document's time in milliseconds; null when it is absent or unreadable. */
export function timeOf(text: string | undefined): number | null {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
