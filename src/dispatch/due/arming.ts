import type { FiberDocument } from '../../contract/fiber.ts';
import type { Memory } from '../holds/memory.ts';
import { forgetOwed } from '../holds/owed-starts.ts';
import { type Documents, keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';

/**
 * Notices fibers that are no longer armed here, by their documents: what was refused of them is forgotten. Of one that
 * is closed, or no service of this host any more, the hold is too, since arming it again is a new authority.
 */
export class Arming {
  readonly #world: World;
  readonly #memory: Memory;
  #armed = new Set<string>();

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
  }

  /** Takes in all documents; answers the keys that were disarmed, gone ones among them. */
  note(documents: Pick<Documents, 'all'>): string[] {
    const disarmed = this.noteSome(documents.all());
    const gone = new Set(this.#armed);
    for (const document of documents.all()) {
      gone.delete(keyOf(document));
      // A copy of it is no end of it.
      if (document.twins !== undefined) gone.delete(document.uid ?? '');
    }
    for (const key of gone) disarmed.push(...this.#disarm(key));
    return disarmed;
  }

  /** Takes in some documents; answers the keys that were disarmed. */
  noteSome(documents: Iterable<FiberDocument>): string[] {
    const disarmed: string[] = [];
    for (const document of documents) {
      // What a broken document says is best effort: nothing is concluded from it.
      if (document.error !== undefined) continue;
      const key = keyOf(document);
      const own = document.svc?.host === this.#world.host;
      if (document.status === 'active' && own) this.#armed.add(key);
      else if (
        (this.#armed.has(key) || this.#memory.owed.has(key)) &&
        !this.#world.documents.isAmbiguous(document)
      )
        disarmed.push(...this.#disarm(key));
      // Only a parked fiber is the same piece of work when it is armed again.
      if (document.status === 'closed' || !own) this.#liftHold(document, key);
    }
    return disarmed;
  }

  #disarm(key: string): string[] {
    this.#armed.delete(key);
    this.#memory.refusals.clear(key);
    forgetOwed(this.#world, this.#memory, key);
    return [key];
  }

  #liftHold(document: FiberDocument, key: string): void {
    const { breaker, quarantine } = this.#memory;
    const isHeld = quarantine.namedHoldOf(key) !== null || breaker.heldSince(key) !== null;
    if (!isHeld || this.#world.documents.isAmbiguous(document)) return;
    quarantine.forget(key);
    breaker.clear(key);
  }
}
