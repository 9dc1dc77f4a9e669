import type { FiberRow } from '../../../board/src/model/wire.ts';

/** A draft of host-a, with what a test says of it. */
export function row(of: Partial<FiberRow> = {}): FiberRow {
  const id = of.id ?? 'one';
  return {
    id,
    uid: null,
    leaf: id,
    store: '/store',
    path: `/store/.fibers/${id}/${id}.md`,
    name: `Name of ${id}`,
    status: 'open',
    tags: [],
    digest: '0',
    ...of,
  };
}

/** A worker that works. */
export function live(of: Partial<NonNullable<FiberRow['runtime']>> = {}): NonNullable<FiberRow['runtime']> {
  return {
    mux_session: 'one-svc',
    surface: 'cli',
    agent: 'atlas',
    harness: 'claude',
    session_uuid: null,
    state: 'running',
    phase: 'working',
    phase_since: 1,
    phase_source: 'hook',
    said: null,
    run_id: 'run',
    started_at: 1,
    last_activity_at: null,
    ...of,
  };
}

/** What a row has that may be started. */
export const armed: Partial<FiberRow> = { status: 'active', svc: { agent: 'atlas' } };
/** A refusal that another folder mends. */
export const blocked = {
  reason: 'project_dir_missing',
  message: 'no folder',
  attempts: 1,
  first_attempted_at: 1,
  attempted_at: 1,
  retry_at: null,
};
