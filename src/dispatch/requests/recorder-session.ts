import type { RecorderSession, RecorderStarted } from '../../contract/threads/recorder-session.ts';
import type { MuxPane } from '../../mux/mux.ts';
import { paneOfLaunch } from '../../mux/mux-listing.ts';
import { freeName } from '../../mux/set-aside.ts';
import type { ProcessIdentity } from '../../platform/process-facts.ts';
import type { World } from '../world/world.ts';

type Asked = Pick<World, 'mux' | 'processes'>;

/**
 * Starts the multiplexer session of a recorder, which belongs to no fiber. One that has ended already was started all the
 * same: why it ended is told of the meeting (MTS-4).
 */
export async function startRecorder(
  { mux, processes, logger }: Asked & Pick<World, 'logger'>,
  spec: { name: string; cwd: string; command: string[] },
): Promise<RecorderStarted> {
  if (!(await freeName({ mux, logger }, spec.name))) return { kind: 'duplicate' };
  const created = await mux.create(spec);
  if (created.kind === 'failed' && created.ended) return { kind: 'created', process: null };
  if (created.kind !== 'created') return created;
  const [first] = created.session.panes;
  return { kind: 'created', process: await identify(processes, first) };
}

/** Whether the pane of the recorder of a meeting is there, and its process; `name`: of the files of that meeting. */
export async function recorderSession(
  { mux, processes }: Asked,
  { name }: { name: string },
): Promise<RecorderSession> {
  const listing = await mux.list();
  if (listing.kind === 'unknown') return listing;
  const found = paneOfLaunch(listing, name);
  if (found === undefined) return { kind: 'gone' };
  return { kind: 'there', process: await identify(processes, found.pane) };
}

/** Ends the session that the recorder of that meeting is in. */
export async function endRecorder(
  { mux }: Pick<World, 'mux'>,
  { name }: { name: string },
): Promise<{ ended: 'killed' | 'gone' | 'unknown' }> {
  const listing = await mux.list();
  if (listing.kind === 'unknown') return { ended: 'unknown' };
  const found = paneOfLaunch(listing, name);
  return { ended: found === undefined ? 'gone' : await mux.kill(found.session) };
}

async function identify(
  processes: World['processes'],
  pane: MuxPane | undefined,
): Promise<ProcessIdentity | null> {
  return pane?.pid == null ? null : processes.identify(pane.pid);
}
