import type { Death, FiberDocument } from '../../contract/fiber.ts';
import type { Runs } from '../run/runs.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import { keyOf } from '../world/documents.ts';

/** Deaths that are remembered; the one that was noted longest ago is forgotten first. */
export const MOST_DEATHS = 200;

/** How the last worker of each fiber died, by fiber key; a later end of another kind removes the entry. */
export class LastDeaths {
  readonly #deaths = new Map<string, Death>();

  /** Notes how a run ended; null for an end that is no death. */
  ended(key: string, death: Death | null): void {
    this.#deaths.delete(key);
    if (death === null) return;
    this.#deaths.set(key, death);
    const [oldest] = this.#deaths.keys();
    if (this.#deaths.size > MOST_DEATHS && oldest !== undefined) this.#deaths.delete(oldest);
  }

  /** Restores deaths from the run directories of earlier daemons; manifests in the order of their starts. */
  recall(manifests: readonly Pick<RunManifest, 'uid' | 'death'>[]): void {
    for (const { uid, death } of manifests) if (death !== undefined) this.ended(uid, death);
  }

  /**
   * The death to show for a fiber of this host; none once a person has judged the fiber. A worker that was lost with its
   * server or its machine had no fault of its own, so the next one of the fiber ends what there is to tell.
   */
  of(document: FiberDocument, host: string, runs: Pick<Runs, 'get'>): Death | undefined {
    if (document.svc?.host !== host || document.tempered !== undefined) return undefined;
    const key = keyOf(document);
    const death = this.#deaths.get(key);
    const lost = death?.reason === 'server_lost' || death?.reason === 'reboot';
    return lost && runs.get(key) !== undefined ? undefined : death;
  }
}
