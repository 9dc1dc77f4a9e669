import type { FleetRow } from '../contract/http/fleet.ts';
import { formatDuration } from './command-line/output.ts';

/** From so many milliseconds on, the times of a host look wrong to a reader here. */
const LEAST_TOLD_MS = 60_000;

/** What is wrong with the clock of a host, and the fix; null where it is as the one here, or not known. */
export function clockFault({ clock_ahead_ms }: Pick<FleetRow, 'clock_ahead_ms'>) {
  if (clock_ahead_ms === null || Math.abs(clock_ahead_ms) < LEAST_TOLD_MS) return null;
  const which = clock_ahead_ms > 0 ? 'ahead of' : 'behind';
  return {
    what: `${formatDuration(Math.abs(clock_ahead_ms))} ${which} the one here, so that its times look wrong`,
    mend: 'set the clock that is wrong, or have both set by NTP',
  };
}
