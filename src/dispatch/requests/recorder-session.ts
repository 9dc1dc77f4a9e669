import type { RecorderSession, RecorderStarted } from '../../contract/threads/recorder-session.ts';
import type { MuxSession } from '../../mux/mux.ts';
import { sessionNamed } from '../../mux/mux-listing.ts';
import type { ProcessIdentity } from '../../platform/process-facts.ts';
import type { World } from '../world/world.ts';

type Asked = Pick<World, 'mux' | 'processes'>;

/**
 * Starts the multiplexer session of a recorder, which belongs to no fiber. One that has ended already was started all the
 * same: why it ended is told of the meeting (MTS-4).
 */
export async function startRecorder(
  { mux, processes }: Asked,
  spec: { name: string; cwd: string; command: string[] },
): Promise<RecorderStarted> {
  const created = await mux.create(spec);
  if (created.kind === 'failed' && created.ended) return { kind: 'created', process: null };
  if (created.kind !== 'created') return created;
  return { kind: 'created', process: await identify(processes, created.session) };
}

/** Whether that session is there, and its first process. */
export async function recorderSession(
  { mux, processes }: Asked,
  { name }: { name: string },
): Promise<RecorderSession> {
  const listing = await mux.list();
  if (listing.kind === 'unknown') return listing;
  const session = sessionNamed(listing, name);
  if (session === undefined) return { kind: 'gone' };
  return { kind: 'there', process: await identify(processes, session) };
}

/** Ends that session, whatever runs in it. */
export async function endRecorder(
  { mux }: Pick<World, 'mux'>,
  { name }: { name: string },
): Promise<{ ended: 'killed' | 'gone' | 'unknown' }> {
  const listing = await mux.list();
  if (listing.kind === 'unknown') return { ended: 'unknown' };
  const session = sessionNamed(listing, name);
  return { ended: session === undefined ? 'gone' : await mux.kill({ id: session.id, name }) };
}

async function identify(
  processes: World['processes'],
  { panes: [first] }: MuxSession,
): Promise<ProcessIdentity | null> {
  return first?.pid == null ? null : processes.identify(first.pid);
}
