import type { Row } from '../http/row.ts';
import { agentsRows } from './agents.ts';
import { attachRows } from './attach.ts';
import { boardRows } from './board.ts';
import type { Callers } from './callers.ts';
import { captureRows } from './capture.ts';
import type { RouteContext } from './context.ts';
import { dispatchRows } from './dispatch.ts';
import { fibersRows } from './fibers.ts';
import { sessionsRows } from './sessions.ts';
import { stateRows } from './state.ts';
import { versionRows } from './version.ts';

/** Every endpoint of the daemon. Call it once: the rows keep what they cache. */
export function createRoutes(callers: Callers, context: RouteContext): Row[] {
  return [
    ...versionRows(context),
    ...stateRows(callers, context),
    ...fibersRows(callers, context),
    ...dispatchRows(callers, context),
    ...captureRows(callers, context),
    ...attachRows(callers, context),
    ...agentsRows(callers, context),
    ...sessionsRows(callers),
    ...boardRows(context),
  ];
}
