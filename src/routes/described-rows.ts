import type { Row } from '../http/row.ts';
import { describeApi } from './api-description.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { createRoutes } from './table.ts';

/** The rows of the route table, to be looked at only: what their handlers would ask answers nothing. */
export function describedRows(): Row[] {
  const nothing: unknown = new Proxy(() => [], {
    get: (_, name) => (name === 'version' ? '' : nothing),
  });
  return createRoutes(nothing as Callers, nothing as RouteContext);
}

/** The description of the API as it is served. It takes some hundredths of a second: not for the main thread. */
export function encodeApi(version: string): Uint8Array {
  return Buffer.from(JSON.stringify(describeApi(describedRows(), version)));
}
