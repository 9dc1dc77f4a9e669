import { messageOf } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { SURFACE_RULES } from '../../../contract/surface.ts';
import type { MuxListing } from '../../../mux/mux.ts';
import type { Memory } from '../../holds/memory.ts';
import { lookForLimit } from '../../holds/usage-limits.ts';
import { paneOfRun } from '../../run/liveness.ts';
import { awaitsTranscript, moveRun, type Run } from '../../run/run.ts';
import { followHooks, learnSession } from '../../run/run-session.ts';
import { liveState } from '../../run/run-state.ts';
import type { World } from '../../world/world.ts';
import { ContextWatch } from './context-watch.ts';

/** Watches the transcripts of workers: that they came up, which session is theirs, and when they last moved. */
export class StartWatch {
  readonly #world: World;
  readonly #memory: Memory;
  /** Runs whose transcripts could not be asked for; told once each. */
  #told = new WeakSet<Run>();
  /** When the transcript whose end was last read had been written. */
  #read = new WeakMap<Run, number | null>();

  readonly #contexts: ContextWatch;

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
    this.#contexts = new ContextWatch(world);
  }

  /** Looks after workers whose start is not confirmed yet (P9); answers the fibers that moved. */
  async starts(listing: MuxListing): Promise<string[]> {
    const moved: string[] = [];
    for (const run of this.#memory.runs.all()) {
      if (liveState(run.state).kind !== 'started') continue;
      if (await this.#look(run)) {
        moveRun(run, { kind: 'confirmed' });
        this.#world.runDirectories.update(run.launch_id, { confirmed: true });
        this.#memory.refusals.clear(run.key, 'startup_unconfirmed');
        moved.push(run.key);
      } else if (await this.#noteUnconfirmed(run, listing)) moved.push(run.key);
    }
    return moved;
  }

  /** Brings `last_activity_at` of confirmed workers up to date; answers the fibers that moved. */
  async activity(): Promise<string[]> {
    const moved: string[] = [];
    for (const run of this.#memory.runs.all()) {
      if (!isConfirmed(run) || !hasTranscript(run)) continue;
      const before = [run.last_activity_at, run.session_uuid];
      await followHooks(this.#world, run);
      await this.#look(run);
      const limited = run.transcript_path !== null && (await this.#lookForLimit(run, run.transcript_path));
      const filled = await this.#contexts.look(run);
      if (limited || filled || run.last_activity_at !== before[0] || run.session_uuid !== before[1])
        moved.push(run.key);
    }
    return moved;
  }

  /** Reads the end of a transcript when it has grown since it was last read; true when the row moved. */
  async #lookForLimit(run: Run, transcript: string): Promise<boolean> {
    const last = this.#read.get(run);
    if (last === run.last_activity_at) return false;
    this.#read.set(run, run.last_activity_at);
    return lookForLimit(this.#world, this.#memory, run, transcript);
  }

  /** Looks for the transcript; true when it is there and its session is in the document. */
  async #look(run: Run): Promise<boolean> {
    const { harness } = this.#world;
    try {
      const probe = await harness.adapter(run.harness).findTranscript({
        agent: harness.agent(run.agent),
        project_dir: run.project_dir,
        session_uuid: run.session_uuid,
        marker: run.launch_id,
        launched_at: run.started_at,
      });
      if (probe.kind !== 'found' || !isOfThisRun(run, probe)) return false;
      run.transcript_path = probe.path;
      run.last_activity_at = Math.max(run.last_activity_at ?? 0, Math.floor(probe.mtime_ms));
      if (run.session_uuid !== probe.session_uuid) await learnSession(this.#world, run, probe.session_uuid);
      return true;
    } catch (error) {
      if (!this.#told.has(run)) {
        this.#told.add(run);
        this.#world.logger.warn(
          { fiber: run.fiber_id, detail: messageOf(error) },
          'the transcript of a worker could not be looked at; it is tried again',
        );
      }
      return false;
    }
  }

  /** Lists a worker that stays silent as blocked, with what its screen shows now; true when that is new. */
  async #noteUnconfirmed(run: Run, listing: MuxListing): Promise<boolean> {
    const { clock, settings } = this.#world;
    const { refusals } = this.#memory;
    const now = clock.now();
    // A claimed session has shown that it works: it claimed.
    if (run.claim !== undefined || Math.abs(now - run.started_at) < settings.startup_confirm_ms) return false;
    const screen = await this.#screenOf(run, listing);
    if (this.#memory.runs.get(run.key)?.launch_id !== run.launch_id) return false;
    const noted = refusals.get(run.key);
    if (noted?.reason !== 'startup_unconfirmed') {
      const seconds = Math.round(settings.startup_confirm_ms / 1000);
      refusals.record(
        run.key,
        {
          reason: 'startup_unconfirmed',
          message: `${run.agent} wrote no transcript within ${seconds} s of its start; a dialog may be waiting: \`svc attach ${shellWord(run.fiber_id)}\``,
          ...(screen === null ? {} : { screen }),
        },
        now,
        null,
      );
    } else if (screen === null || screen === noted.screen) return false;
    // A slow start shows its dialog late, and one that is answered may be followed by another.
    else refusals.set(run.key, { ...noted, screen });
    if (screen !== null) this.#world.runDirectories.writeScreen(run.launch_id, screen);
    return true;
  }

  /** The text of a worker's screen; null where it cannot be read. */
  async #screenOf(run: Run, listing: MuxListing): Promise<string | null> {
    const found = paneOfRun(run, listing);
    return found === undefined ? null : ((await this.#world.mux.capture(found.pane.id))?.trimEnd() ?? null);
  }
}

/** The transcript of a resumed conversation was there before: only its growth tells that the worker came up. */
function isOfThisRun({ resume }: Run, found: { session_uuid: string; size: number }): boolean {
  return resume?.session_uuid !== found.session_uuid || found.size > (resume.size ?? -1);
}

/** Of a session whose conversation is not known, no transcript can be told. */
function hasTranscript({ transcript_path, session_uuid, surface }: Run): boolean {
  return transcript_path !== null || (session_uuid !== null && SURFACE_RULES[surface].in_terminal);
}

function isConfirmed(run: Run): boolean {
  return liveState(run.state).kind === 'running' || !awaitsTranscript(run);
}
