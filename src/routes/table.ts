import type { Row } from '../http/row.ts';
import { agentsRows } from './agents.ts';
import { attachRows } from './attach.ts';
import { attachmentsRows } from './attachments.ts';
import { boardRows } from './board.ts';
import { brakeRows } from './brake.ts';
import type { Callers } from './callers.ts';
import { captureRows } from './capture.ts';
import type { RouteContext } from './context.ts';
import { Digests } from './digests.ts';
import { dispatchRows } from './dispatch.ts';
import { fibersRows } from './fibers.ts';
import { filesRows } from './files.ts';
import { incidentRows } from './incidents.ts';
import { lifecycleRows } from './lifecycle.ts';
import { momentRows } from './moment.ts';
import { searchRows } from './search.ts';
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
  return [
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
    ...sessionsRows(callers),
    ...filesRows(callers, context, digests),
    ...attachmentsRows(callers, context),
    ...transcriptsRows(callers, context, digests, places),
    ...spendRows(callers, context, places),
    ...momentRows(callers, context, places),
    ...searchRows(callers),
    ...boardRows(context),
  ];
}
