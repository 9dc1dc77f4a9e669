import { isCoded, messageOf } from '../../../base/errors.ts';
import { AppServerRefusal } from '../../../harness/app-server/connection.ts';
import type { AppConversation } from '../../../harness/app-server/conversation.ts';
import type { AppTurn } from '../../../harness/app-server/turn.ts';
import { isUnfinished, type UnfinishedClaims } from '../../claims/unfinished-claims.ts';
import { Settler } from '../../end/settle.ts';
import { handedOffSince } from '../../end/worker-end.ts';
import type { Memory } from '../../holds/memory.ts';
import { isAppRun, sourceOf } from '../../run/app-run.ts';
import { type AppSurfaceRun, moveRun } from '../../run/run.ts';
import { isStarting } from '../../run/run-state.ts';
import { viewRun } from '../../run/runs.ts';
import type { World } from '../../world/world.ts';
import { requireAppServer } from './app-preflight.ts';
import { appLaunchFailed, confirm, missing, noteConversation } from './app-start.ts';

/**
 * Compares the runs on the app surface with the app server. While the server does not answer, the last known state
 * stays and is shown as `unknown`; nothing is ever started from here.
 */
export class AppRuns {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #settler: Settler;
  readonly #claims: UnfinishedClaims;
  readonly #onMoved: (keys: Iterable<string>) => void;
  /** The state of a conversation at the last request for its latest turn. */
  readonly #marks = new WeakMap<AppSurfaceRun, string>();
  #looking: Promise<void> | null = null;
  #again = false;

  constructor(
    world: World,
    memory: Memory,
    claims: UnfinishedClaims,
    onMoved: (keys: Iterable<string>) => void,
  ) {
    this.#world = world;
    this.#memory = memory;
    this.#claims = claims;
    this.#settler = new Settler(world, memory);
    this.#onMoved = onMoved;
  }

  /** Checks every conversation; a call during a check triggers one more after it. Never rejects. */
  look(): Promise<void> {
    if (this.#looking !== null) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#lookAll().finally(() => {
      this.#looking = null;
      if (!this.#again) return;
      this.#again = false;
      void this.look();
    });
    return this.#looking;
  }

  /**
   * Interrupts the running turn and ends the run (WPL-4): the conversation itself stays. Throws
   * `app_server_unavailable` and changes nothing when the turn cannot be interrupted.
   */
  async release(run: AppSurfaceRun, reason: 'kill' | 'forced_start'): Promise<void> {
    const server = requireAppServer(this.#world);
    const { thread_id } = run.app;
    if (thread_id !== null && (await server.look(thread_id)).kind === 'found')
      await server.interrupt(thread_id);
    const at = this.#world.clock.now();
    this.#world.runDirectories.writeEnd(run.launch_id, reason, at);
    moveRun(run, { kind: 'ending', end: { reason, at } });
    await this.#settle(run);
  }

  async #lookAll(): Promise<void> {
    for (const run of this.#memory.runs.all()) {
      if (!isAppRun(run) || isStarting(run.state)) continue;
      const before = this.#shown(run);
      try {
        await this.#look(run);
      } catch (error) {
        this.#unknown(run, error);
      }
      if (this.#shown(run) !== before) this.#onMoved([run.key]);
    }
  }

  async #look(run: AppSurfaceRun): Promise<void> {
    // Its conversation was looked at before the claim was recorded.
    if (isUnfinished(run) && (await this.#claims.make(run)) !== 'made') return;
    const document = this.#world.documents.of(run);
    const handed = document !== undefined && handedOffSince(document, run.started_at);
    const { end } = this.#world.runDirectories.readEnd(run.launch_id);
    // An end that is recorded is one that was asked for: a handoff, or a kill that was cut short.
    if (handed || end.kind === 'found') {
      await this.#settle(run);
      return;
    }
    const server = requireAppServer(this.#world);
    if (run.app.thread_id === null) {
      const found = await server.find(sourceOf(run.launch_id));
      if (!this.#isCurrent(run)) return;
      if (found === null) await this.#neverBegan(run);
      else noteConversation(this.#world, run, found);
      if (found === null) return;
    }
    const thread_id = run.app.thread_id;
    if (thread_id === null) return;
    const look = await server.look(thread_id);
    if (!this.#isCurrent(run)) return;
    if (look.kind === 'missing') await this.#isMissing(run, thread_id);
    else {
      noteConversation(this.#world, run, look.conversation);
      this.#memory.refusals.clear(run.key, 'conversation_missing');
      await this.#lookAtLastTurn(run, look.conversation);
      if (!this.#isCurrent(run)) return;
      if (run.app.turn === 'confirmed') this.#memory.quarantine.sawRunning(run.key, run.launch_id);
      else await this.#lookForFirstTurn(run, thread_id);
    }
  }

  /** Requests it once for each end of a turn. */
  async #lookAtLastTurn(run: AppSurfaceRun, seen: AppConversation): Promise<void> {
    const { thread_id, phase, updated_at } = seen;
    const mark = `${phase} ${updated_at}`;
    if (phase !== 'working' && this.#marks.get(run) === mark) return;
    const turn = phase === 'working' ? null : await this.#lastTurn(thread_id);
    run.app.last_turn = turn;
    // The server tells of a failed conversation before it tells of the turn that failed, both within a second.
    if (phase === 'attention' && turn?.failed !== true) this.#marks.delete(run);
    else this.#marks.set(run, mark);
  }

  /** Null if the app server refuses to answer, which proves nothing about the conversation itself. */
  async #lastTurn(thread_id: string): Promise<AppTurn | null> {
    try {
      return await requireAppServer(this.#world).lastTurn(thread_id);
    } catch (error) {
      if (error instanceof AppServerRefusal) return null;
      throw error;
    }
  }

  async #lookForFirstTurn(run: AppSurfaceRun, thread_id: string): Promise<void> {
    const begun = (await requireAppServer(this.#world).messageStage(thread_id, run.launch_id)) !== null;
    if (!this.#isCurrent(run)) return;
    if (begun) {
      confirm(this.#world, run);
      this.#memory.refusals.clear(run.key, 'app_launch_failed');
      this.#memory.quarantine.sawRunning(run.key, run.launch_id);
    } else if (this.#memory.refusals.get(run.key)?.reason !== 'app_launch_failed')
      this.#block(run, appLaunchFailed(run, 'its launch was cut short'));
  }

  async #isMissing(run: AppSurfaceRun, thread_id: string): Promise<void> {
    if (run.app.turn !== 'confirmed' && !run.app.resumed) return this.#neverBegan(run);
    run.app.missing = true;
    if (this.#memory.refusals.get(run.key)?.reason === 'conversation_missing') return;
    const { message } = missing(run.fiber_id, thread_id);
    this.#block(run, { reason: 'conversation_missing', message });
  }

  /** Nothing was said in it, and with its server it went away: the claim is taken back. */
  async #neverBegan(run: AppSurfaceRun): Promise<void> {
    await this.#settler.abandon(run);
    this.#memory.refusals.clear(run.key, 'app_launch_failed');
    this.#world.logger.info({ fiber: run.fiber_id, run: run.run_id }, 'an app conversation was never begun');
  }

  async #settle(run: AppSurfaceRun): Promise<void> {
    this.#memory.refusals.clear(run.key, 'conversation_missing');
    this.#memory.refusals.clear(run.key, 'app_launch_failed');
    const seen = await this.#settler.look(run, { rebooted: false, server: async () => 'alive' });
    if (seen === null) return;
    const settled = await this.#settler.settle(run, seen);
    this.#world.logger.info(
      { fiber: run.fiber_id, thread: run.app.thread_id, run: run.run_id, reason: settled.reason },
      'an app conversation was released',
    );
  }

  #block(run: AppSurfaceRun, refusal: { reason: string; message: string }): void {
    this.#memory.refusals.record(run.key, refusal, this.#world.clock.now(), null);
  }

  #unknown(run: AppSurfaceRun, error: unknown): void {
    if (!isCoded(error) && !(error instanceof AppServerRefusal))
      this.#world.logger.error(
        { err: error, fiber: run.fiber_id },
        'an app conversation could not be looked at',
      );
    else if (run.app.phase !== 'unknown')
      this.#world.logger.warn(
        { fiber: run.fiber_id, detail: messageOf(error) },
        'the state of an app conversation is not known',
      );
    run.app.phase = 'unknown';
  }

  #isCurrent(run: AppSurfaceRun): boolean {
    return this.#memory.runs.get(run.key) === run && !isStarting(run.state);
  }

  /** Everything that a row shows of the run. */
  #shown(run: AppSurfaceRun): string {
    const owns = this.#memory.runs.get(run.key) === run;
    const blocked = this.#memory.refusals.get(run.key)?.reason ?? null;
    return JSON.stringify([owns, blocked, viewRun(run, 0)]);
  }
}
