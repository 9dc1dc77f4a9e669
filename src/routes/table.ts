import type { Row } from '../http/row.ts';
import { activityRows } from './activity.ts';
import { agentsRows } from './agents.ts';
import { attachRows } from './attach.ts';
import { attachmentsRows } from './attachments.ts';
import { boardRows } from './board.ts';
import { brakeRows } from './brake.ts';
import type { Callers } from './callers.ts';
import { captureRows } from './capture.ts';
import { commitsRows } from './commits.ts';
import { configRows } from './config.ts';
import type { RouteContext } from './context.ts';
import { Digests } from './digests.ts';
import { dispatchRows } from './dispatch.ts';
import { createFeedCache } from './feed-cache.ts';
import { fiberLifeRows } from './fiber-life.ts';
import { fiberStoresRows } from './fiber-stores.ts';
import { fibersRows } from './fibers.ts';
import { filesRows } from './files.ts';
import { HeldFiles } from './held-files.ts';
import { incidentRows } from './incidents.ts';
import { LedgerBodies } from './ledger-bodies.ts';
import { lifecycleRows } from './lifecycle.ts';
import { liveRows } from './live.ts';
import { metricsRows } from './metrics.ts';
import { momentRows } from './moment.ts';
import { openApiRows } from './openapi.ts';
import { searchRows } from './search.ts';
import { sentFilesRows } from './sent-files.ts';
import { sessionsRows } from './sessions.ts';
import { spendRows } from './spend.ts';
import { stateRows } from './state.ts';
import { TranscriptPlaces } from './transcript-places.ts';
import { transcriptsRows } from './transcripts.ts';
import { versionRows } from './version.ts';
import { whyRows } from './why.ts';

/** Every endpoint of the daemon. Call it once: the rows keep what they cache. */
export function createRoutes(callers: Callers, context: RouteContext): Row[] {
  const digests = new Digests(callers.pool);
  const places = new TranscriptPlaces(callers, context);
  const held = new HeldFiles(callers.files);
  const feed = createFeedCache(callers.poller, context);
  const bodies = new LedgerBodies(callers.ledgers, context);
  return [
    ...versionRows(context),
    ...stateRows(callers, context),
    ...fibersRows(callers, feed),
    ...liveRows(callers, feed, context),
    ...dispatchRows(callers),
    ...brakeRows(callers),
    ...whyRows(callers),
    ...lifecycleRows(callers),
    ...incidentRows(callers),
    ...captureRows(callers, context),
    ...attachRows(callers, context),
    ...agentsRows(callers),
    ...configRows(callers, context),
    ...fiberStoresRows(callers, context),
    ...filesRows(callers, context, digests, held),
    ...attachmentsRows(callers, context),
    ...transcriptsRows(callers, context, digests, places, held),
    ...spendRows(callers, context, places),
    ...momentRows(callers, context, places),
    ...searchRows(callers),
    ...openApiRows(context),
    ...metricsRows(callers, context),
    ...activityRows(callers, bodies, context),
    ...sessionsRows(callers, bodies, context),
    ...commitsRows(callers, bodies, context),
    ...sentFilesRows(callers, bodies, context),
    ...fiberLifeRows(callers, bodies, context),
    ...boardRows(callers, context),
  ];
}
