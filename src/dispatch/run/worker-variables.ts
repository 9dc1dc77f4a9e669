import type { Run } from './run.ts';

/** What tells a worker's shell which run it is in; `svc handoff` reads them. */
export function workerVariables(
  run: Pick<Run, 'fiber_id' | 'uid' | 'store' | 'run_id' | 'harness' | 'surface'>,
  run_dir: string,
): Record<string, string> {
  return {
    SVC_FIBER: run.fiber_id,
    SVC_FIBER_UID: run.uid,
    SVC_STORE: run.store,
    SVC_RUN_ID: run.run_id,
    SVC_RUN_DIR: run_dir,
    SVC_HARNESS: run.harness,
    SVC_SURFACE: run.surface,
  };
}
