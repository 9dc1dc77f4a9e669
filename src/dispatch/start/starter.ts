import { dirname } from 'node:path';
import { isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { Turns } from '../../base/turns.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import type { WorktreePlace } from '../../platform/git-worktrees.ts';
import { givenAgent } from '../edits/start-markers.ts';
import type { Memory } from '../holds/memory.ts';
import type { Refusal } from '../holds/refusals.ts';
import { refuseStart } from '../holds/start-refusal.ts';
import type { PlannedRun, StartResult } from '../plan/planned-run.ts';
import { isReserved } from '../run/app-run.ts';
import { moveRun, type Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import { mayStillRun } from '../run/runs.ts';
import type { SurfaceStarts } from '../surfaces/surface.ts';
import { SURFACES } from '../surfaces/surfaces.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { checkStart, planRun, refusalOf, type Wish } from './check-start.ts';
import { moveIntoWorktree, planWorktree } from './own-worktree.ts';
import { showStart } from './show-start.ts';

/** What the starter needs of the dispatcher. */
export type StarterPorts = {
  /** Ends a running worker for a fresh start; what to tell where it was not seen to end, else null. */
  cut(run: Run): Promise<string | null>;
  onMoved(keys: Iterable<string>): void;
  /** The document at this path has a folder of its own by now, and may be due. */
  onFolderMade(path: string): void;
};

type Reserved = NonNullable<SurfaceStarts['reserved']>;

/** The outcome of the checks of a start. `noted`: the refusal is recorded for the fiber. */
type PlannedStart =
  | { kind: 'refused'; refusal: Refusal; noted: boolean }
  | { kind: 'continue'; run: Run; reserved: Reserved }
  | { kind: 'start'; planned: PlannedRun; earlier: Run | undefined; worktree: WorktreePlace | null };

/** The one way to a worker: claimed synchronously, so that two callers can never both start one (P13). */
export class Starter {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #ports: StarterPorts;
  /** Git worktrees that are being made, by the key of their fiber. */
  readonly #ownFolders = new Map<string, Promise<FiberDocument>>();
  readonly #repositories = new Turns();
  #underWay = new Map<string, Promise<StartResult>>();

  constructor(world: World, memory: Memory, ports: StarterPorts) {
    this.#world = world;
    this.#memory = memory;
    this.#ports = ports;
  }

  /** The start of this fiber that is under way. */
  underWay(key: string): Promise<StartResult> | undefined {
    return this.#underWay.get(key);
  }

  /** Resolves when no start is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()]);
  }

  /**
   * Starts a worker, or returns why not; never throws. The caller has checked that no start of the fiber is in
   * progress.
   */
  start(document: FiberDocument, authority: Authority, directory?: string): Promise<StartResult> {
    const key = keyOf(document);
    this.#memory.starting.add(key);
    const takeBack = this.#memory.starts.begin();
    const start = this.#start(document, authority, directory)
      .catch((error): StartResult => this.#refuse(document, refusalOf(this.#world, document, error)))
      .then((result) => {
        if (result.kind !== 'started') takeBack();
        return result;
      })
      .finally(() => {
        this.#underWay.delete(key);
        this.#memory.starting.delete(key);
        this.#ports.onMoved([key]);
      });
    this.#underWay.set(key, start);
    return start;
  }

  /** What `start` would do now, with all its checks and none of its effects; a refusal is noted nowhere. */
  async show(
    document: FiberDocument,
    authority: Extract<Authority, { kind: 'request' }>,
    directory: string | undefined,
  ): Promise<Rehearsal | { kind: 'refused'; refusal: Refusal }> {
    const world = this.#world;
    try {
      const plan = await this.#plan(document, authority, directory, { look: false });
      if (plan.kind === 'refused') return plan;
      if (plan.kind === 'continue') {
        const shown = await plan.reserved.show(world, document, plan.run);
        if (!('would' in shown) || authority.user_message === null) return shown;
        return { ...shown, would: `${shown.would}, and send it the message` };
      }
      return await showStart(world, document, plan, authority, directory);
    } catch (error) {
      return { kind: 'refused', refusal: refusalOf(world, document, error) };
    }
  }

  /** Every check, and what passes them; `look` also looks at the files of the data folder and the leases again. */
  async #plan(
    document: FiberDocument,
    authority: Authority,
    directory: string | undefined,
    { look }: { look: boolean },
  ): Promise<PlannedStart> {
    const stopped = () => refuseStart(this.#memory, document, authority, { look });
    const unfit = refuseUnfit(document, this.#world.host) ?? stopped();
    if (unfit !== null) return { kind: 'refused', refusal: unfit, noted: false };
    const earlier = this.#memory.runs.get(keyOf(document));
    const reserved = earlier === undefined ? null : SURFACES[earlier.surface].reserved;
    if (earlier !== undefined && reserved !== null && isReserved(earlier) && !asksFresh(authority))
      return { kind: 'continue', run: earlier, reserved };
    const wish = wishOf(authority, earlier);
    const ordered = givenAgent(document, authority.agent ?? null);
    const checked = await checkStart(this.#world, ordered, directory, { wish });
    if (checked.kind === 'refused') return { ...checked, noted: true };
    // The brake may have been applied, or the lease lost, during the checks.
    const since = stopped();
    if (since !== null) return { kind: 'refused', refusal: since, noted: false };
    const worktree = await planWorktree(this.#world, ordered, checked.project_dir);
    const within = worktree === null ? checked : { ...checked, project_dir: worktree.folder };
    return { kind: 'start', planned: planRun(this.#world, ordered, within, authority), earlier, worktree };
  }

  async #start(
    document: FiberDocument,
    authority: Authority,
    directory: string | undefined,
  ): Promise<StartResult> {
    if (authority.kind === 'poll' && this.#ownFolders.has(keyOf(document))) return { kind: 'moot' };
    const plan = await this.#plan(document, authority, directory, { look: true });
    if (plan.kind === 'refused')
      return plan.noted ? this.#refuse(document, plan.refusal) : { kind: 'refused', refusal: plan.refusal };
    if (plan.kind === 'continue') return this.#continue(document, plan, authority);
    const { planned, earlier, worktree } = plan;
    // Checked again from the start: making the worktree took time, and changed the folder.
    if (worktree !== null) {
      if (authority.kind === 'request')
        return this.#start(await this.#ownFolder(document, worktree), authority, undefined);
      this.#followOwnFolder(document, worktree);
      return { kind: 'moot' };
    }
    const unended = earlier === undefined ? null : await this.#ports.cut(earlier);
    if (unended !== null) return this.#refuse(document, cannotEnd(unended));
    if (!this.#memory.runs.claim(planned.run))
      return this.#refuse(document, cannotEnd(mayStillRun(planned.run)));
    try {
      return await this.#onSurface(document, planned, authority, directory);
    } finally {
      moveRun(planned.run, { kind: 'start_over' });
    }
  }

  /** One at a time for each repository, whose files Git locks. */
  #ownFolder(document: FiberDocument, place: WorktreePlace): Promise<FiberDocument> {
    const key = keyOf(document);
    const known = this.#ownFolders.get(key);
    if (known !== undefined) return known;
    const made = this.#repositories
      .run(dirname(place.path), () => moveIntoWorktree(this.#world, document, place))
      .finally(() => this.#ownFolders.delete(key));
    this.#ownFolders.set(key, made);
    return made;
  }

  /**
   * Starts the fiber once it has its worktree. The poller does not wait: a checkout may take minutes, and other
   * fibers are due meanwhile.
   */
  #followOwnFolder(document: FiberDocument, place: WorktreePlace): void {
    this.#ownFolder(document, place)
      .then(
        ({ path }) => this.#ports.onFolderMade(path),
        (error) => {
          if (!isCoded(error, 'conflict')) this.#refuse(document, refusalOf(this.#world, document, error));
          this.#ports.onMoved([keyOf(document)]);
        },
      )
      .catch((err) =>
        this.#world.logger.error({ err, fiber: document.id }, 'a start did not follow its git worktree'),
      );
  }

  /** A conversation whose first turn was not confirmed is gone on with, never doubled (CAP-8). */
  async #continue(
    document: FiberDocument,
    { run, reserved }: { run: Run; reserved: Reserved },
    authority: Authority,
  ): Promise<StartResult> {
    moveRun(run, { kind: 'start_resumed' });
    try {
      const started = await reserved.goOn(this.#world, run);
      if (started.kind === 'started') this.#cameUp(document, run, authority);
      if (started.kind === 'started' || started.kind === 'moot') return started;
      return this.#refuse(document, started.refusal);
    } finally {
      moveRun(run, { kind: 'start_over' });
    }
  }

  async #onSurface(
    document: FiberDocument,
    planned: PlannedRun,
    authority: Authority,
    directory: string | undefined,
  ): Promise<StartResult> {
    const { run } = planned;
    let kept = false;
    try {
      const surface = SURFACES[run.surface];
      const started = await surface.start(this.#world, document, planned, authority, directory);
      kept = started.kind === 'started' || started.kind === 'uncertain';
      if (started.kind === 'started') this.#cameUp(document, run, authority);
      if (started.kind === 'started' || started.kind === 'moot') return started;
      return this.#refuse(document, started.refusal);
    } catch (error) {
      // The poller found the document no longer as it had judged it.
      if (authority.kind === 'poll' && (isCoded(error, 'conflict') || isCoded(error, 'fiber_not_found')))
        return { kind: 'moot' };
      throw error;
    } finally {
      if (!kept) this.#memory.runs.release(run);
    }
  }

  #cameUp(document: FiberDocument, run: Run, authority: Authority): void {
    this.#memory.refusals.clear(run.key);
    this.#memory.quarantine.sawRunning(run.key, run.launch_id);
    this.#memory.owed.delete(run.key);
    if (authority.kind === 'request') this.#memory.breaker.clear(run.key);
    this.#world.logger.info(
      { fiber: document.id, session: run.mux_session, run: run.run_id, agent: run.agent },
      'started a worker',
    );
  }

  /** Records the refusal; a fiber that is not armed is not retried automatically, whatever the cooldown. */
  #refuse(document: FiberDocument, refusal: Refusal): StartResult {
    // A check that never got its turn proves nothing about the fiber: no row, no cooldown.
    if (refusal.reason === 'queue_full') return { kind: 'refused', refusal };
    const now = this.#world.clock.now();
    const retry_at = document.status === 'active' ? now + this.#world.settings.preflight_cooldown_ms : null;
    this.#memory.refusals.record(keyOf(document), refusal, now, retry_at);
    this.#world.logger.warn(
      { fiber: document.id, reason: refusal.reason, detail: refusal.message },
      'refused to start a worker',
    );
    return { kind: 'refused', refusal };
  }
}

function wishOf(authority: Authority, earlier: Run | undefined): Wish {
  return { mode: authority.resume_mode ?? null, cuts: earlier !== undefined };
}

/** Fibers that are not this daemon's to start: no state of theirs, so their rows stay as they are. */
function refuseUnfit(document: FiberDocument, host: string): Refusal | null {
  const { svc, id } = document;
  if (document.error !== undefined || svc?.host === host) return null;
  const message =
    svc === undefined
      ? `${id} has no svc block; make it a service with \`svc install ${shellWord(id)} --project-dir <dir>\` first`
      : svc.host === undefined
        ? `${id} names no host that dispatches it; \`svc install ${shellWord(id)}\` makes this host, ${host}, its own`
        : `${id} belongs to host ${svc.host}, and this is ${host}; dispatch it there`;
  return { reason: 'arm_refused', message };
}

function asksFresh(authority: Authority): boolean {
  return authority.kind === 'request' && authority.resume_mode === 'fresh';
}

function cannotEnd(message: string): Refusal {
  return { reason: 'mux_unavailable', message };
}
