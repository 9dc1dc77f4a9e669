import { isCoded } from '../../../base/errors.ts';
import { fleetSchema } from '../../../contract/http/fleet.ts';
import { clockFault } from '../../clock-fault.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type Check, warn } from './check.ts';

/** The remotes whose clock differs from the one here, as far as the daemon reaches them. */
export const checkClocks: Check = async ({ daemon: found }) => {
  if (found.kind !== 'running') return [];
  try {
    const { remotes } = await createDaemonClient(found.daemon).get('/fleet', fleetSchema);
    return remotes.flatMap((row) => {
      const fault = clockFault(row);
      return fault === null ? [] : [warn(`clock of ${row.name}`, `it is ${fault.what}`, fault.mend)];
    });
  } catch (error) {
    // The check of the daemon tells of one that does not answer.
    if (isCoded(error)) return [];
    throw error;
  }
};
