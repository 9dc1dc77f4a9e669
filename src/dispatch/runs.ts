import type { RunView, Surface } from '../contract/fiber.ts';
import type { HarnessName } from '../contract/harness-name.ts';

/** A worker under the dispatcher's eyes. Times are milliseconds since the Unix epoch. */
export type Run = {
  /** Key of its fiber. */
  key: string;
  fiber_id: string;
  uid: string;
  store: string;
  path: string;
  launch_id: string;
  run_id: string;
  mux_session: string;
  agent: string;
  harness: HarnessName;
  session_uuid: string | null;
  surface: Surface;
  project_dir: string;
  started_at: number;
  /** `claimed`: recorded, not spawned yet; `unknown`: the world does not answer, so it still counts as alive. */
  state: RunView['state'];
  /** Its transcript has been seen. */
  confirmed: boolean;
  transcript_path: string | null;
  last_activity_at: number | null;
};

/** The run as a row of the feed shows it. */
export function viewRun(run: Run): RunView {
  return {
    mux_session: run.mux_session,
    surface: run.surface,
    agent: run.agent,
    harness: run.harness,
    session_uuid: run.session_uuid,
    state: run.state,
    phase: run.state === 'running' ? 'working' : 'unknown',
    run_id: run.run_id,
    started_at: run.started_at,
    last_activity_at: run.last_activity_at,
  };
}

/** Workers by fiber key: at most one each, claimed synchronously before anything is awaited (P13). */
export class Runs {
  #byKey = new Map<string, Run>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Run | undefined {
    return this.#byKey.get(key);
  }

  /** False when the fiber already has a worker. */
  claim(run: Run): boolean {
    if (this.#byKey.has(run.key)) return false;
    this.#byKey.set(run.key, run);
    return true;
  }

  /** Frees the fiber, unless another run has taken its place. */
  release(run: Run): void {
    if (this.#byKey.get(run.key)?.launch_id === run.launch_id) this.#byKey.delete(run.key);
  }

  all(): Run[] {
    return [...this.#byKey.values()];
  }
}
