import { messageOf } from '../../../base/errors.ts';
import { SURFACE_RULES } from '../../../contract/surface.ts';
import type { Memory } from '../../holds/memory.ts';
import type { Run } from '../../run/run.ts';
import { beginningOf, goesOn, isSameSign, lastSignOf } from '../../run/run-phase.ts';
import { followHooks } from '../../run/run-session.ts';
import type { PhaseSign } from '../../run-directory/phase-signs.ts';
import type { World } from '../../world/world.ts';

/** Keeps what the hooks of each worker told last of its phase (P16). */
export class PhaseWatch {
  readonly #world: World;
  readonly #memory: Pick<Memory, 'runs'>;
  /** Mark of the file that was read last, by start: nothing is read while it stands. */
  #marks = new WeakMap<Run, string>();

  constructor(world: World, memory: Pick<Memory, 'runs'>) {
    this.#world = world;
    this.#memory = memory;
  }

  /** Looks at every worker of the terminal surface; answers the fibers whose rows moved. */
  async look(): Promise<string[]> {
    const moved: string[] = [];
    for (const run of this.#memory.runs.all()) {
      if (!SURFACE_RULES[run.surface].in_terminal) continue;
      const session = run.session_uuid;
      if (session === null) await this.#learn(run);
      if (run.session_uuid !== null && ((await this.#look(run)) || session === null)) moved.push(run.key);
    }
    return moved;
  }

  /** The hooks of a claimed session are the first to tell its id. */
  async #learn(run: Run): Promise<void> {
    const mark = this.#world.runDirectories.phaseMark(run.launch_id);
    if (run.claim !== 'person' || mark === null || this.#marks.get(run) === mark) return;
    this.#marks.set(run, mark);
    await followHooks(this.#world, run);
  }

  async #look(run: Run): Promise<boolean> {
    const { runDirectories } = this.#world;
    // A run that follows its conversation into another session has another last sign.
    const mark = `${runDirectories.phaseMark(run.launch_id) ?? ''} ${run.session_uuid} ${run.last_activity_at}`;
    if (this.#marks.get(run) === mark) return false;
    this.#marks.set(run, mark);
    const signs = runDirectories.phaseSigns(run.launch_id);
    const told = lastSignOf(signs, run.session_uuid);
    if (told === null) return false;
    const end = told.phase === 'working' ? await this.#untoldEnd(run, told) : null;
    const known = run.sign ?? null;
    if (isSameSign(end ?? told, known) && goesOn(signs, known)) {
      // A program may write into its transcript while it waits; a question told again still waits.
      const again = known.phase === 'waiting' && told.at > (known.told_at ?? known.at);
      if (again) run.sign = { ...known, told_at: told.at };
      return again;
    }
    const sign = end ?? beginningOf(signs, told);
    const quiet = sign.phase !== 'working' && sign.said === null;
    run.sign = quiet ? { ...sign, said: await this.#lastSaid(run) } : sign;
    return true;
  }

  /** The end of a turn after its last hook, where the transcript has one that no hook tells of. */
  async #untoldEnd(run: Run, told: PhaseSign): Promise<PhaseSign | null> {
    if (run.transcript_path === null) return null;
    try {
      const end = await this.#world.harness.turnEnd(run.harness, run.transcript_path);
      if (end === null || end.at < told.at) return null;
      const phase = end.failed === null ? 'idle' : 'attention';
      return { at: end.at, session: told.session, phase, said: end.failed, source: 'transcript' };
    } catch (error) {
      const facts = { fiber: run.fiber_id, session: run.session_uuid, detail: messageOf(error) };
      this.#world.logger.warn(facts, 'whether the turn of a worker is over could not be read');
      return null;
    }
  }

  async #lastSaid(run: Run): Promise<string | null> {
    if (run.transcript_path === null) return null;
    try {
      return await this.#world.harness.lastSaid(run.harness, run.transcript_path);
    } catch (error) {
      const facts = { fiber: run.fiber_id, session: run.session_uuid, detail: messageOf(error) };
      this.#world.logger.warn(facts, 'what a worker said last could not be read');
      return null;
    }
  }
}
