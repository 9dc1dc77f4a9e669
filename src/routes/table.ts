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
import { fiberStoresRows } from './fiber-stores.ts';
import { fibersRows } from './fibers.ts';
import { filesRows } from './files.ts';
import { incidentRows } from './incidents.ts';
import { LedgerBodies } from './ledger-bodies.ts';
import { lifecycleRows } from './lifecycle.ts';
import { metricsRows } from './metrics.ts';
import { momentRows } from './moment.ts';
import { openApiRows } from './openapi.ts';
import { keepOffRemotes } from './origin.ts';
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
  const bodies = new LedgerBodies(callers.ledgers, context);
  const rows = [
    ...versionRows(context),
    ...stateRows(callers, context),
    ...fibersRows(callers, context),
    ...dispatchRows(callers, context),
    ...brakeRows(callers, context),
    ...whyRows(callers),
    ...lifecycleRows(callers),
    ...incidentRows(callers, context),
    ...captureRows(callers, context),
    ...attachRows(callers, context),
    ...agentsRows(callers, context),
    ...configRows(callers, context),
    ...fiberStoresRows(callers, context),
    ...filesRows(callers, context, digests),
    ...attachmentsRows(callers, context),
    ...transcriptsRows(callers, context, digests, places),
    ...spendRows(callers, context, places),
    ...momentRows(callers, context, places),
    ...searchRows(callers),
    ...openApiRows(context),
    ...metricsRows(callers, context),
    ...activityRows(bodies, context),
    ...sessionsRows(bodies, context),
    ...commitsRows(bodies, context),
    ...sentFilesRows(bodies, context),
    ...boardRows(context),
  ];
  return keepOffRemotes(rows, callers.fleet, context.host);
}
