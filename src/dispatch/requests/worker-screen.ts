import type { WorkerScreen, WorkerScreenMark } from '../../contract/threads/worker-screen.ts';
import { sessionNamed } from '../../mux/mux-listing.ts';
import { styledLines } from '../../mux/styled-lines.ts';
import { type WithBulk, withBulk } from '../../threads/bulk.ts';
import { type Memory, UNTOLD } from '../holds/memory.ts';
import { muxSessionOf } from '../run/runs.ts';
import type { World } from '../world/world.ts';

/** The screen of the worker whose session has this name, as the call `worker_screen` tells it. */
export async function workerScreen(
  { mux }: Pick<World, 'mux'>,
  { runs, mux_answers }: Pick<Memory, 'runs' | 'mux_answers'>,
  asked: { mux_session: string; history: number; since: WorkerScreenMark | null },
): Promise<WorkerScreen | WithBulk<WorkerScreen>> {
  const { mux_session: name, history, since } = asked;
  const is_worker = runs.all().some((run) => muxSessionOf(run) === name);
  if (!is_worker) return mux_answers ? { kind: 'no_worker' } : { kind: 'unknown', detail: UNTOLD };
  let session = since?.session;
  if (session === undefined) {
    const listing = await mux.list();
    if (listing.kind === 'unknown') return listing;
    session = sessionNamed(listing, name)?.id;
    if (session === undefined) return { kind: 'no_session' };
  }
  const screen = await mux.screen({ id: session, name }, { history, since });
  if (screen.kind === 'gone') return { kind: 'no_session' };
  if (screen.kind !== 'read') return screen;
  const { mark, first, cheap, lines } = screen;
  const text = Buffer.from(styledLines(lines).join('\n'));
  return withBulk({ kind: 'read', mark: { session, ...mark }, first, cheap }, text);
}
