import type { Row } from '../http/row.ts';
import { agentsRows } from './agents.ts';
import { attachRows } from './attach.ts';
import { boardRows } from './board.ts';
import { brakeRows } from './brake.ts';
import type { Callers } from './callers.ts';
import { captureRows } from './capture.ts';
import { configRows } from './config.ts';
import type { RouteContext } from './context.ts';
import { dispatchRows } from './dispatch.ts';
import { fiberStoresRows } from './fiber-stores.ts';
import { fibersRows } from './fibers.ts';
import { incidentRows } from './incidents.ts';
import { lifecycleRows } from './lifecycle.ts';
import { metricsRows } from './metrics.ts';
import { openApiRows } from './openapi.ts';
import { sessionsRows } from './sessions.ts';
import { stateRows } from './state.ts';
import { versionRows } from './version.ts';
import { whyRows } from './why.ts';

/** Every endpoint of the daemon. Call it once: the rows keep what they cache. */
export function createRoutes(callers: Callers, context: RouteContext): Row[] {
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
    ...configRows(callers, context),
    ...fiberStoresRows(callers, context),
    ...sessionsRows(callers),
    ...openApiRows(context),
    ...metricsRows(callers, context),
    ...boardRows(context),
  ];
}
