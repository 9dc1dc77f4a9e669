import { CodedError } from '../../../base/errors.ts';
import type { AppServer } from '../../../harness/app-server/app-server.ts';
import type { World } from '../../world/world.ts';

/** The app server of this host; throws `app_server_unavailable` with what a person can do instead (CAP-7). */
export function requireAppServer(world: Pick<World, 'app'>): AppServer {
  if (world.app !== null) return world.app;
  throw new CodedError(
    'app_server_unavailable',
    'this daemon knows no app server: set SVC_APP_SERVER to the one that runs here, choose a configured remote host, or set svc.surface to cli',
    { details: { sent: false } },
  );
}
