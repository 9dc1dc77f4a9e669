import type { HarnessName } from '../../contract/harness-name.ts';
import type { MessageTarget } from '../../contract/threads/message-target.ts';
import { addressOf } from '../../mux/mux-listing.ts';
import { type Memory, UNTOLD } from '../holds/memory.ts';
import { paneOfRun } from '../run/liveness.ts';
import type { Run } from '../run/run.ts';
import { transcriptOfRun } from '../run/run-session.ts';
import { endInHand } from '../run/run-state.ts';
import { muxSessionOf } from '../run/runs.ts';
import type { World } from '../world/world.ts';

/** The worker that is in this conversation now, and where its terminal and its transcript are. */
export async function messageTarget(
  world: World,
  { runs, mux_answers, starting }: Pick<Memory, 'runs' | 'mux_answers' | 'starting'>,
  { harness, native_id }: { harness: HarnessName; native_id: string },
): Promise<MessageTarget> {
  const run = runs
    .all()
    .find(
      (one) =>
        one.harness === harness && (one.session_uuid === native_id || one.app?.thread_id === native_id),
    );
  // A worker of the daemon before this one is not known yet, and a message to it must wait.
  if (run === undefined && !mux_answers) return { kind: 'unknown', detail: UNTOLD };
  const uid = run?.uid ?? uidOf(world, harness, native_id);
  if (uid === undefined) return { kind: 'none' };
  // Its session may be the one that the start goes on with, or the one that is ended for it.
  if (starting.has(run?.key ?? uid))
    return { kind: 'moving', detail: 'a worker of its fiber is being started' };
  if (run === undefined) return { kind: 'past' };
  if (endInHand(run.state) !== null) return { kind: 'moving', detail: 'its worker is being ended' };
  const { fiber_id, surface } = run;
  const found = await transcriptOfRun(world, run);
  const transcript = found.kind === 'found' ? found.path : null;
  if (muxSessionOf(run) === null)
    return { kind: 'running', fiber_id, uid, surface, mux: null, app: conversationState(run), transcript };
  const listing = await world.mux.list();
  if (listing.kind === 'unknown') return { kind: 'unknown', detail: listing.detail };
  const place = paneOfRun(run, listing);
  const pane = place === undefined ? null : addressOf(place.pane);
  if (place === undefined || pane === null) return { kind: 'past' };
  const mux = { id: place.session.id, name: place.session.name, pane };
  return { kind: 'running', fiber_id, uid, surface, mux, app: null, transcript };
}

/** A conversation without its first message takes no other: that message has to begin it. */
function conversationState({ app }: Run): (MessageTarget & { kind: 'running' })['app'] {
  if (app === undefined || app.turn !== 'confirmed') return 'starting';
  if (app.missing) return 'missing';
  return app.phase === 'unknown' ? 'unreachable' : 'ready';
}

/** The fiber whose worker was in this conversation. */
function uidOf({ runDirectories }: World, harness: HarnessName, native_id: string): string | undefined {
  return runDirectories
    .all()
    .find(
      (one) =>
        one.harness === harness &&
        (one.session_uuid === native_id || one.left_sessions?.includes(native_id) === true),
    )?.uid;
}
