import type { Death, FiberDocument } from '../../contract/fiber.ts';
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

  /** The death to show for a fiber of this host; none once a person has judged the fiber. */
  of(document: FiberDocument, host: string): Death | undefined {
    if (document.svc?.host !== host || document.tempered !== undefined) return undefined;
    return this.#deaths.get(keyOf(document));
  }
}
