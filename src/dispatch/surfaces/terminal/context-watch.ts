import { messageOf } from '../../../base/errors.ts';
import type { Run } from '../../run/run.ts';
import type { World } from '../../world/world.ts';

/** Least time between two looks at one transcript, in milliseconds. */
const LOOK_MS = 5_000;

/** What was read last: the conversation, when its transcript had been written, and when it was read. */
type Looked = { session: string | null; written_at: number | null; at: number };

/** Keeps how full the contexts of workers are. */
export class ContextWatch {
  readonly #world: Pick<World, 'harness' | 'clock' | 'logger'>;
  #looked = new WeakMap<Run, Looked>();

  constructor(world: Pick<World, 'harness' | 'clock' | 'logger'>) {
    this.#world = world;
  }

  /** Reads the end of a transcript that has grown, now and then; true when what is known moved. */
  async look(run: Run): Promise<boolean> {
    const { transcript_path, session_uuid: session, last_activity_at: written_at } = run;
    if (transcript_path === null) return false;
    const at = this.#world.clock.now();
    const last = this.#looked.get(run);
    const isSame = last?.session === session;
    if (isSame && (last.written_at === written_at || Math.abs(at - last.at) < LOOK_MS)) return false;
    this.#looked.set(run, { session, written_at, at });
    const known = run.context ?? null;
    try {
      run.context = await this.#world.harness.contextUse(run.harness, transcript_path);
    } catch (error) {
      const facts = { fiber: run.fiber_id, session, detail: messageOf(error) };
      this.#world.logger.warn(facts, 'how full the context of a worker is could not be read');
      return false;
    }
    return run.context?.tokens !== known?.tokens || run.context?.most !== known?.most;
  }
}
