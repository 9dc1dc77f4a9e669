import { isCoded } from '../../../base/errors.ts';
import { fleetSchema } from '../../../contract/http/fleet.ts';
import { clockFault } from '../../clock-fault.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { reasonOf } from '../fleet.ts';
import { type Check, warn } from './check.ts';

/**
 * The remotes that do not answer the daemon, which asks all at once and for a limited time, and those whose clock differs
 * from the one here.
 */
export const checkOtherHosts: Check = async ({ daemon: found, clock }) => {
  if (found.kind !== 'running') return [];
  try {
    const { remotes } = await createDaemonClient(found.daemon).get('/fleet', fleetSchema);
    return remotes.flatMap((row) => {
      const silence = row.reach.state === 'answers' ? null : reasonOf(row, clock.now());
      if (silence !== null)
        return [
          warn(`host ${row.name}`, silence.replace(/\.$/, ''), `see why: svc remotes check ${row.name}`),
        ];
      const fault = clockFault(row);
      return fault === null ? [] : [warn(`clock of ${row.name}`, `it is ${fault.what}`, fault.mend)];
    });
  } catch (error) {
    // The check of the daemon tells of one that does not answer.
    if (isCoded(error)) return [];
    throw error;
  }
};
