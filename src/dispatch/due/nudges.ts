import { shellWord } from '../../base/shell-word.ts';
import type { FiberDocument, RunView } from '../../contract/fiber.ts';
import { printAddress } from '../../contract/session-address.ts';
import type { Memory } from '../holds/memory.ts';
import type { Run } from '../run/run.ts';
import { viewRun } from '../run/runs.ts';
import type { World } from '../world/world.ts';

/** What decides whether a worker is nudged. Times in milliseconds. */
export type NudgeFacts = {
  document: Pick<FiberDocument, 'status' | 'svc'>;
  host: string;
  worker: Pick<RunView, 'state' | 'phase' | 'phase_since' | 'session_uuid'>;
  /** It was begun by a person, or has been nudged. */
  claimed: boolean;
  nudged: boolean;
  /** Starts are stopped, or its last word was of a usage limit. */
  braked: boolean;
  limited: boolean;
  after_ms: number;
  now: number;
};

/** Whether a worker has been idle for so long that it is told once that its fiber is not closed. */
export function isNudgeDue({ document, host, worker, now, after_ms, ...facts }: NudgeFacts): boolean {
  const { status, svc } = document;
  if (svc?.when_idle !== 'nudge' || svc.host !== host || status !== 'active') return false;
  if (facts.claimed || facts.nudged || facts.braked || facts.limited) return false;
  const { state, phase, phase_since, session_uuid } = worker;
  if (state !== 'running' || phase !== 'idle' || session_uuid === null) return false;
  return phase_since !== null && now - phase_since >= after_ms;
}

/** What an idle worker is told. */
export function nudgeText(fiber_id: string): string {
  const named = shellWord(fiber_id);
  return [
    `You have ended your turn, and ${fiber_id} is not closed.`,
    `If its work is done, say so in its outcome, set its status to closed (svc fiber edit ${named} --outcome '…' --status closed) and hand off with svc handoff.`,
    'If it is not, go on. If you need a person, write into the fiber what you need, and wait.',
  ].join(' ');
}

/** Nudges workers that are idle, each once. */
export class Nudges {
  readonly #world: Pick<
    World,
    'clock' | 'documents' | 'host' | 'logger' | 'runDirectories' | 'sendMessage' | 'settings'
  >;
  readonly #memory: Pick<Memory, 'brake' | 'refusals' | 'runs'>;

  constructor(world: World, memory: Pick<Memory, 'brake' | 'refusals' | 'runs'>) {
    this.#world = world;
    this.#memory = memory;
  }

  look(): void {
    for (const run of this.#memory.runs.all()) if (this.#isDue(run)) this.#nudge(run);
  }

  #isDue(run: Run): boolean {
    if (run.nudged_at !== undefined) return false;
    const { documents, host, settings, clock } = this.#world;
    const document = documents.of(run);
    // Most fibers say nothing of it, so that the rest is not gathered for them.
    if (document?.svc?.when_idle === undefined) return false;
    const now = clock.now();
    return isNudgeDue({
      ...{ document, host, now, worker: viewRun(run, now), after_ms: settings.nudge_after_ms },
      claimed: run.claim === 'person',
      nudged: false,
      braked: this.#memory.brake.pulled !== null,
      limited: this.#memory.refusals.get(run.key)?.reason === 'usage_limit',
    });
  }

  #nudge(run: Run): void {
    const { clock, host, logger, runDirectories, sendMessage } = this.#world;
    const { fiber_id, harness, run_id, session_uuid } = run;
    if (session_uuid === null) return;
    const nudged_at = clock.now();
    try {
      // First: a daemon that ends here has nudged nobody, rather than the next one nudging twice.
      runDirectories.update(run.launch_id, { nudged_at });
    } catch (error) {
      logger.warn(
        { err: error, fiber: fiber_id },
        'an idle worker is not nudged, because the nudge cannot be recorded',
      );
      return;
    }
    run.nudged_at = nudged_at;
    const address = printAddress({ host, harness, native_id: session_uuid });
    sendMessage({ address, text: nudgeText(fiber_id), message_id: `nudge-${run_id}` });
    logger.info({ fiber: fiber_id, session: run.mux_session, run: run_id }, 'nudged an idle worker');
  }
}
