import { z } from 'zod';
import type { DaemonClient } from '../../daemon-client/client.ts';
import { type PlacedRow, placedRowSchema } from './place.ts';

const tagged = { tag: z.string().nullable().optional() };
/** All rows, or what changed after the tag that was asked with. */
const answerSchema = z.union([
  z.object({ ...tagged, rows: z.array(placedRowSchema), removed: z.array(z.string()) }),
  z.object({ ...tagged, fibers: z.array(placedRowSchema) }),
]);

/** The rows of the daemon's feed, of which only the changes are asked for. */
export class FeedRows {
  #tag: string | null = null;
  #rows = new Map<string, PlacedRow>();

  /** All rows as they are now. */
  async read(daemon: Pick<DaemonClient, 'get'>): Promise<PlacedRow[]> {
    await this.update(daemon);
    return [...this.#rows.values()];
  }

  /** Takes what changed since it was called last; false where nothing has. */
  async update(daemon: Pick<DaemonClient, 'get'>): Promise<boolean> {
    const since = encodeURIComponent(this.#tag ?? '');
    const answer = await daemon.get(`/fibers?since=${since}`, answerSchema);
    const before = this.#tag;
    this.#tag = answer.tag ?? null;
    if ('fibers' in answer) {
      this.#rows = new Map(answer.fibers.map((row) => [row.path, row]));
      return true;
    }
    for (const path of answer.removed) this.#rows.delete(path);
    for (const row of answer.rows) this.#rows.set(row.path, row);
    return this.#tag !== before || answer.rows.length + answer.removed.length > 0;
  }
}
