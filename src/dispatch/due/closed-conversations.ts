import type { FiberDocument } from '../../contract/fiber.ts';
import type { Memory } from '../holds/memory.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';

/**
 * Notes in the run directory of a fiber's last run that the fiber was seen closed: its conversation is over, also where
 * the document no longer tells because a person opened it again by hand (RES-8).
 */
export class ClosedConversations {
  readonly #world: Pick<World, 'host' | 'runDirectories'>;
  readonly #memory: Pick<Memory, 'runs' | 'starting'>;
  /** The run of each fiber that is noted, or has no run directory to note it in. */
  readonly #noted = new Map<string, string>();

  constructor(world: Pick<World, 'host' | 'runDirectories'>, memory: Pick<Memory, 'runs' | 'starting'>) {
    this.#world = world;
    this.#memory = memory;
  }

  note(documents: Iterable<FiberDocument>): void {
    const closed: FiberDocument[] = [];
    for (const document of documents) if (this.#isNews(document)) closed.push(document);
    if (closed.length === 0) return;
    const manifests = this.#world.runDirectories.all();
    for (const document of closed) {
      const run_id = runOf(document) ?? '';
      const last = manifests.findLast((one) => one.uid === document.uid && one.run_id === run_id);
      if (last !== undefined && last.fiber_closed !== true)
        this.#world.runDirectories.update(last.launch_id, { fiber_closed: true });
      this.#noted.set(keyOf(document), run_id);
    }
  }

  /** Roles start fresh anyway. While its worker runs, the fiber can be given back to it; its end tells whether the fiber is closed then. */
  #isNews(document: FiberDocument): boolean {
    if (document.status !== 'closed' || document.error !== undefined) return false;
    const run_id = runOf(document);
    const { host, kind = 'oneshot' } = document.svc ?? {};
    if (run_id === undefined || host !== this.#world.host || kind !== 'oneshot') return false;
    const key = keyOf(document);
    return (
      this.#noted.get(key) !== run_id &&
      this.#memory.runs.get(key) === undefined &&
      !this.#memory.starting.has(key)
    );
  }
}

function runOf(document: FiberDocument): string | undefined {
  return document.svc?.runtime?.run_id;
}
