import type { Row } from '../http/row.ts';
import { activityRows } from './activity.ts';
import { agentsRows } from './agents.ts';
import type { Group } from './api-words.ts';
import { attachRows } from './attach.ts';
import { attachmentsRows } from './attachments.ts';
import { boardRows } from './board.ts';
import { brakeRows } from './brake.ts';
import type { Callers } from './callers.ts';
import { captureRows } from './capture.ts';
import { commitsRows } from './commits.ts';
import { configRows } from './config.ts';
import type { RouteContext } from './context.ts';
import { conversationRows } from './conversation.ts';
import { createDeliver } from './deliver.ts';
import { Digests } from './digests.ts';
import { dispatchRows } from './dispatch.ts';
import { createFeedCache } from './feed-cache.ts';
import { fiberLifeRows } from './fiber-life.ts';
import { fiberStoresRows } from './fiber-stores.ts';
import { fibersRows } from './fibers.ts';
import { filesRows } from './files.ts';
import { fleetRows } from './fleet.ts';
import { HeldFiles } from './held-files.ts';
import { incidentRows } from './incidents.ts';
import { LedgerBodies } from './ledger-bodies.ts';
import { lifecycleRows } from './lifecycle.ts';
import { liveRows } from './live.ts';
import { meetingRows } from './meeting.ts';
import { meetingAudioRows } from './meeting-audio.ts';
import { messageFilesRows } from './message-files.ts';
import { messagesRows } from './messages.ts';
import { metricsRows } from './metrics.ts';
import { momentRows } from './moment.ts';
import { OnceById } from './once-by-id.ts';
import { openApiRows } from './openapi.ts';
import { peersRows } from './peers.ts';
import { createRemoteFeeds } from './remote-feeds.ts';
import { RemoteParts } from './remote-parts.ts';
import { remoteResetRows } from './remote-reset.ts';
import { searchRows } from './search.ts';
import { sentFilesRows } from './sent-files.ts';
import { sessionsRows } from './sessions.ts';
import { spendRows } from './spend.ts';
import { stateRows } from './state.ts';
import { terminalRows } from './terminal.ts';
import { TranscriptPlaces } from './transcript-places.ts';
import { transcriptsRows } from './transcripts.ts';
import { uncommittedRows } from './uncommitted.ts';
import { versionRows } from './version.ts';
import { whyRows } from './why.ts';

/** Every endpoint of the daemon. Call it once: the rows keep what they cache. */
export function createRoutes(callers: Callers, context: RouteContext): Row[] {
  const digests = new Digests(callers.pool);
  const places = new TranscriptPlaces(callers, context);
  const held = new HeldFiles(callers.files);
  const feed = createFeedCache(callers.poller, context);
  const remotes = createRemoteFeeds(callers.fleet, context);
  const bodies = new LedgerBodies(callers.ledgers, context);
  const parts = new RemoteParts(callers.fleet, context);
  const reads = { bodies, parts };
  const deliver = createDeliver(callers, context);
  const once = new OnceById(callers.poller, context.clock);
  const rows = [
    ...inGroup('Daemon', versionRows(context)),
    ...inGroup('State', stateRows(callers, parts, context)),
    ...inGroup('Fibers', fibersRows(callers, feed, remotes, context)),
    ...inGroup('Fibers', liveRows(callers, feed, remotes, context)),
    ...inGroup('Workers', dispatchRows(callers, deliver)),
    ...inGroup('Messages', messagesRows(callers, deliver)),
    ...inGroup('Messages', messageFilesRows(callers)),
    ...inGroup('Messages', conversationRows(callers, context)),
    ...inGroup('Messages', peersRows(callers, context)),
    ...inGroup('State', brakeRows(callers)),
    ...inGroup('State', whyRows(callers)),
    ...inGroup('Fibers', lifecycleRows(callers)),
    ...inGroup('State', incidentRows(callers)),
    ...inGroup('Workers', captureRows(callers, context)),
    ...inGroup('Meetings', meetingRows(callers, deliver, context)),
    ...inGroup('Meetings', meetingAudioRows(callers, context)),
    ...inGroup('Workers', attachRows(callers, context)),
    ...inGroup('Workers', terminalRows(callers, context)),
    ...inGroup('Configuration', agentsRows(callers)),
    ...inGroup('Configuration', configRows(callers, context)),
    ...inGroup('Configuration', fiberStoresRows(callers, context)),
    ...inGroup('Configuration', fleetRows(callers, context)),
    ...inGroup('Daemon', remoteResetRows(callers)),
    ...inGroup('Files', filesRows(callers, context, digests, held)),
    ...inGroup('Files', attachmentsRows(callers, context)),
    ...inGroup('Transcripts', transcriptsRows(callers, context, digests, places, held)),
    ...inGroup('Transcripts', spendRows(callers, context, places)),
    ...inGroup('Transcripts', momentRows(callers, context, places)),
    ...inGroup('Fibers', searchRows(callers)),
    ...inGroup('Daemon', openApiRows(context)),
    ...inGroup('Daemon', metricsRows(callers, context)),
    ...inGroup('Ledgers', activityRows(callers, reads, context)),
    ...inGroup('Ledgers', sessionsRows(callers, reads, context)),
    ...inGroup('Ledgers', commitsRows(callers, reads, context)),
    ...inGroup('Ledgers', sentFilesRows(callers, reads, context)),
    ...inGroup('Ledgers', fiberLifeRows(callers, bodies, context)),
    ...inGroup('Fibers', uncommittedRows(callers, context)),
    ...inGroup('Board', boardRows(callers, context)),
  ];
  return rows.map((row) => once.row(row));
}

function inGroup(group: Group, rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row, group }));
}
