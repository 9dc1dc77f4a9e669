import type { WorkerScreen, WorkerScreenMark } from '../../contract/threads/worker-screen.ts';
import { addressOf } from '../../mux/mux-listing.ts';
import { styledLines } from '../../mux/styled-lines.ts';
import { type WithBulk, withBulk } from '../../threads/bulk.ts';
import { type Memory, UNTOLD } from '../holds/memory.ts';
import { paneOfRun } from '../run/liveness.ts';
import { muxSessionOf } from '../run/runs.ts';
import type { World } from '../world/world.ts';

/** The screen of the worker whose session has this name, as the call `worker_screen` tells it. */
export async function workerScreen(
  { mux }: Pick<World, 'mux'>,
  { runs, mux_answers }: Pick<Memory, 'runs' | 'mux_answers'>,
  asked: { mux_session: string; history: number; since: WorkerScreenMark | null },
): Promise<WorkerScreen | WithBulk<WorkerScreen>> {
  const { mux_session: name, history, since } = asked;
  const run = runs.all().find((one) => muxSessionOf(one) === name);
  if (run === undefined) return mux_answers ? { kind: 'no_worker' } : { kind: 'unknown', detail: UNTOLD };
  let pane = since?.pane ?? null;
  if (pane === null) {
    const listing = await mux.list();
    if (listing.kind === 'unknown') return listing;
    const found = paneOfRun(run, listing);
    pane = found === undefined ? null : addressOf(found.pane);
    if (pane === null) return { kind: 'no_session' };
  }
  const screen = await mux.screen(pane, { history, since });
  if (screen.kind === 'gone') return { kind: 'no_session' };
  if (screen.kind !== 'read') return screen;
  const { mark, first, cheap, lines } = screen;
  const text = Buffer.from(styledLines(lines).join('\n'));
  return withBulk({ kind: 'read', mark: { pane, ...mark }, first, cheap }, text);
}
