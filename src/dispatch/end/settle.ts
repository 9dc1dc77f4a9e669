import { messageOf } from '../../base/errors.ts';
import type { NamedHold } from '../../config/hold-files.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { isAcceptedByItself } from '../../lifecycle/run-transitions.ts';
import { abandonClaim } from '../edits/start-markers.ts';
import { blockWhenPaused } from '../holds/breaker-book.ts';
import type { Memory } from '../holds/memory.ts';
import { lookForLimit } from '../holds/usage-limits.ts';
import type { Run } from '../run/run.ts';
import { recordAcceptance, recordEnd } from '../run/run-ledger.ts';
import { followHooks, isRunInVain, transcriptOfRun } from '../run/run-session.ts';
import { endInHand, isStarted } from '../run/run-state.ts';
import { isKilledForMemory } from '../run-directory/memory-end.ts';
import type { RecordedEnd } from '../run-directory/run-directories.ts';
import type { ExitRecord, RunManifest } from '../run-directory/run-records.ts';
import type { World } from '../world/world.ts';
import {
  concludedBy,
  type EndFacts,
  type EndPlan,
  isCleanExit,
  isConcludable,
  isFaultless,
  isLeftBy,
  isWordless,
  planWorkerEnd,
} from './worker-end.ts';

/** How long the run script may take to write how it ended, in milliseconds. */
const EXIT_FILE_GRACE_MS = 1_000;
const EXIT_FILE_STEP_MS = 25;

export type Settled = { reason: string; code: number | null };

/** What its surface knows of a run that has ended. */
type EndedRun = {
  rebooted: boolean;
  server: () => Promise<'alive' | 'absent' | 'unknown'>;
};

/** `absent`: no store shows the document, which a move or a store that is away for a moment does too. */
export type SeenEnd = EndFacts & { absent: boolean };

/** Carries out what follows from a worker's end. */
export class Settler {
  readonly #world: World;
  readonly #memory: Memory;

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
  }

  /**
   * What there is to know of the end; null while nobody can tell whether its server went down. `server` asks the
   * multiplexer once more, and is only called for a worker that was hung up on or left no word.
   */
  async look(run: Run, { rebooted, server }: EndedRun): Promise<SeenEnd | null> {
    const world = this.#world;
    const recorded = rebooted ? world.runDirectories.readEnd(run.launch_id) : await this.#awaitEnd(run);
    const answer = !rebooted && isWordless(run, recorded) ? await server() : 'alive';
    if (answer === 'unknown') return null;
    await followHooks(world, run);
    const transcript = await transcriptOfRun(world, run);
    const resumed_in_vain = isRunInVain(run, transcript);
    await lookForLimit(world, this.#memory, run, transcript.kind === 'found' ? transcript.path : null);
    const { document, absent } = this.#documentOf(run);
    const now = world.clock.now();
    const memory = world.workerMemory.readEnd(world.runDirectories.directory(run.launch_id));
    // Only a kill for memory tells of them, and of many workers that end at once each would ask for all others.
    const exit = recorded.exit.kind === 'found' ? recorded.exit.value : null;
    const others = isKilledForMemory(exit, memory) ? await this.#othersAlive(run) : 0;
    const screen = world.runDirectories.readScreen(run.launch_id);
    return {
      ...{ run, document, absent, recorded, memory, others, rebooted, resumed_in_vain, screen, now },
      server_absent: answer === 'absent',
    };
  }

  /** Settles a run that has ended as this was seen, and frees its fiber; all but the conclusion before it returns. */
  async settle(run: Run, looked: SeenEnd): Promise<Settled> {
    // The document may have moved since its end was looked at.
    const seen = { ...looked, ...this.#documentOf(run), now: this.#world.clock.now() };
    const plan = planWorkerEnd(seen);
    const exit = seen.recorded.exit.kind === 'found' ? seen.recorded.exit.value : null;
    this.#keep(run, plan, seen);
    const told = {
      end_reason: plan.reason,
      ...(seen.document?.status === 'closed' ? { fiber_closed: true } : {}),
    };
    if (!plan.conclude && seen.document?.error === undefined && !seen.absent) this.#close(run, told);
    else {
      this.#world.runDirectories.update(run.launch_id, { ...told, ...deathOfRun(run) });
      if (plan.reason === 'forced_start') this.#postpone(run);
      else await this.#conclude(run, settledEnd(exit, plan.reason, plan.owes_fresh_start));
    }
    return { reason: plan.reason, code: exit?.code ?? null };
  }

  /** Concludes the roles that are due for it; returns the fibers that moved. */
  async concludePending(): Promise<string[]> {
    const done: string[] = [];
    for (const [key, run] of [...this.#memory.unconcluded]) {
      if (this.#isBeingStarted(key)) continue;
      const { exit } = this.#world.runDirectories.readEnd(run.launch_id);
      const found = exit.kind === 'found' ? exit.value : null;
      const manifest = this.#world.runDirectories.manifest(run.launch_id);
      const { end_reason, owes_fresh_start = false } = manifest.kind === 'found' ? manifest.value : {};
      await this.#conclude(run, settledEnd(found, end_reason, owes_fresh_start));
      if (!this.#memory.unconcluded.has(key)) done.push(key);
    }
    return done;
  }

  /** Takes back a claim of which nothing was started: the document says again what it said before. */
  async abandon(run: Run): Promise<void> {
    await abandonClaim(this.#world, run);
    this.#memory.runs.release(run);
  }

  /** Keeps what follows from the end, in memory and on disk, and frees the fiber. */
  #keep(run: Run, plan: EndPlan, { recorded, now }: SeenEnd): void {
    const world = this.#world;
    this.#memory.deaths.ended(run.uid, plan.death);
    run.death = plan.death;
    this.#memory.breaker.record(run.key, plan.breaker, now, run.launch_id);
    if (plan.hold !== null) this.#hold(run, plan.hold, now);
    this.#memory.refusals.clear(run.key, 'startup_unconfirmed');
    if (plan.refusal !== null)
      this.#memory.refusals.record(run.key, plan.refusal, now, now + world.settings.preflight_cooldown_ms);
    blockWhenPaused(world, this.#memory, run.key, run.fiber_id);
    recordEnd(world, run, plan, endedAt(run, recorded) ?? now);
    if (plan.reason === 'memory_limit') this.#tellMemory(run, plan.death?.message ?? '');
    if (plan.owes_fresh_start) this.#owe(run);
    this.#memory.runs.release(run);
  }

  async #conclude(run: Run, end: SettledEnd): Promise<void> {
    const world = this.#world;
    try {
      const document = world.documents.of(run);
      const current = document === undefined ? undefined : world.documents.reread(document);
      if (current?.error !== undefined) throw new Error(current.error);
      if (current !== undefined) await this.#writeConclusion(current, run, end);
      else if (run.document_removed !== true) throw new Error('no store shows it at this moment');
    } catch (error) {
      if (!this.#memory.unconcluded.has(run.key)) {
        this.#postpone(run);
        world.logger.warn(
          { fiber: run.fiber_id, detail: messageOf(error) },
          'the document of an ended worker cannot be written; it is held until it can be',
        );
      }
      return;
    }
    this.#memory.unconcluded.delete(run.key);
    this.#close(run);
  }

  async #writeConclusion(document: FiberDocument, run: Run, end: SettledEnd): Promise<void> {
    const { clock, documents } = this.#world;
    const now = clock.now();
    let accepted = false;
    await documents.change(document, (locked) => {
      accepted = isConcludable(locked, run, end.exit) && isAcceptedByItself(locked, end);
      return concludedBy(locked, run, now, end);
    });
    if (end.clean && isLeftBy(document, run)) this.#hold(run, 'clean_exit', now);
    if (accepted) recordAcceptance(this.#world, run, now);
  }

  /** On disk too: the next daemon concludes it where this one does not live to (LIF-5). */
  #postpone(run: Run): void {
    const earlier = this.#memory.unconcluded.get(run.key);
    // The document has gone over to a later run, so there is nothing left to conclude of this one.
    if (earlier !== undefined && earlier.launch_id !== run.launch_id) this.#close(earlier);
    this.#memory.unconcluded.set(run.key, run);
    this.#world.runDirectories.update(run.launch_id, {
      ended_at: this.#world.clock.now(),
      ...deathOfRun(run),
    });
  }

  /** True until it is known whether the start that an earlier worker made way for has come about. */
  #isBeingStarted(key: string): boolean {
    return this.#memory.starting.has(key) || isUnstarted(this.#memory.runs.get(key));
  }

  #documentOf(run: Run): Pick<SeenEnd, 'document' | 'absent'> {
    const known = this.#world.documents.of(run);
    if (known === undefined) return { document: undefined, absent: true };
    try {
      const document = this.#world.documents.reread(known);
      return { document: document ?? known, absent: document === undefined };
    } catch {
      // The disk does not answer: the last known content decides, and the conclusion is retried until it is written.
      return { document: known, absent: false };
    }
  }

  /** The session may be gone a moment before the last write of its run script is on disk. */
  async #awaitEnd(run: Run): Promise<RecordedEnd> {
    const { clock, runDirectories } = this.#world;
    const until = clock.monotonic() + EXIT_FILE_GRACE_MS;
    for (;;) {
      const end = runDirectories.readEnd(run.launch_id);
      if (end.exit.kind === 'found' || runDirectories.agent(run.launch_id).kind === 'none') return end;
      if (clock.monotonic() >= until) return end;
      await new Promise<void>((resolve) => {
        clock.after(EXIT_FILE_STEP_MS, resolve);
      });
    }
  }

  /** A kill that was asked for has its hold by now, with what the person said. */
  #hold(run: Run, reason: NamedHold, now: number): void {
    const { key, launch_id, store } = run;
    const { quarantine } = this.#memory;
    if (quarantine.namedHoldOf(key)?.launch_id !== launch_id)
      quarantine.hold(key, { reason, launch_id, at: now, store });
  }

  /** On disk first: a daemon that is killed here starts the same one again, and no more than that one. */
  #owe(run: Run): void {
    const { launch_id, run_id, resume } = run;
    this.#world.runDirectories.update(launch_id, { owes_fresh_start: true });
    this.#memory.owed.set(run.key, { launch_id, run_id, user_message: resume?.user_message ?? null });
    this.#world.logger.warn(
      { fiber: run.fiber_id, session: run.session_uuid },
      'a resumed conversation ended before it grew; the next start is fresh',
    );
  }

  #close(run: Run, told: Partial<Pick<RunManifest, 'end_reason' | 'fiber_closed'>> = {}): void {
    this.#world.runDirectories.update(run.launch_id, {
      ...{ ...told, state: 'ended', ended_at: this.#world.clock.now() },
      ...deathOfRun(run),
    });
    // What its group told is in the ledger by now.
    this.#world.workerMemory.release(this.#world.runDirectories.directory(run.launch_id));
  }

  /** How many other workers are seen to live at this moment. */
  async #othersAlive(run: Run): Promise<number> {
    const { runDirectories, processes } = this.#world;
    const lives = await Promise.all(
      this.#memory.runs.all().map(async (other) => {
        const agent = other.launch_id === run.launch_id ? null : runDirectories.agent(other.launch_id);
        return agent?.kind === 'found' && (await processes.look(agent.value)) === 'alive';
      }),
    );
    return lives.filter(Boolean).length;
  }

  #tellMemory(run: Run, message: string): void {
    const { clock, logger } = this.#world;
    this.#memory.incidents.record([{ run, cause: 'memory_limit', message }], clock.now(), () =>
      this.#world.newUlid(),
    );
    logger.warn(
      { fiber: run.fiber_id, session: run.mux_session, run: run.run_id },
      `a worker was ${message}`,
    );
  }
}

/** What the conclusion of a run goes by; `clean`: its agent ended with 0 by itself, and nothing is owed for that. */
type SettledEnd = { exit: ExitRecord | null; faultless: boolean; clean: boolean };

function settledEnd(
  exit: ExitRecord | null,
  reason: string | undefined,
  owes_fresh_start: boolean,
): SettledEnd {
  if (reason === undefined) return { exit, faultless: false, clean: false };
  return {
    exit,
    faultless: isFaultless(reason, exit),
    clean: !owes_fresh_start && isCleanExit(reason, exit),
  };
}

/** When somebody ended it, else when its run script says that it ended. */
function endedAt(run: Run, { end, exit }: RecordedEnd): number | null {
  const in_hand = endInHand(run.state);
  if (in_hand !== null) return in_hand.at;
  if (end.kind === 'found') return end.value.at;
  return exit.kind === 'found' ? exit.value.at : null;
}

/** Unknown for a run that an earlier daemon settled: that one has written it. */
function deathOfRun({ death }: Run): Pick<RunManifest, 'death'> {
  return death === undefined ? {} : { death };
}

function isUnstarted(run: Run | undefined): boolean {
  return run !== undefined && !isStarted(run.state);
}
