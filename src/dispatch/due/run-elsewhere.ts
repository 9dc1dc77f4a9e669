import type { FiberDocument } from '../../contract/fiber.ts';
import { handedOff, timeOf } from '../world/documents.ts';

/** A start mark of another daemon counts for this long, in milliseconds: longer than a worker is likely to run. */
const FRESH_MS = 24 * 60 * 60 * 1000;

/** A run that another daemon of this host id may still have, as the document's marks tell. */
export type RunElsewhere = {
  daemon: string;
  /** Milliseconds since the Unix epoch. */
  since: number;
  until: number;
};

/**
 * The run that another daemon has begun and that is not known to be over; null where there is none. A daemon on
 * another machine has no lease in common with this one, and one that has just ended leaves workers that go on.
 */
export function runElsewhere(
  document: FiberDocument,
  own: { daemon_id: string; now: number },
): RunElsewhere | null {
  const runtime = document.svc?.runtime;
  const daemon = runtime?.daemon;
  const since = timeOf(runtime?.dispatched_at);
  if (daemon === undefined || since === null || idOf(daemon) === idOf(own.daemon_id)) return null;
  const until = since + FRESH_MS;
  // A mark further ahead than it counts comes from a clock that was wrong, and would hold the fiber for as long.
  if (handedOff(document) || own.now >= until || since - own.now > FRESH_MS) return null;
  return { daemon, since, until };
}

/** The name of the machine before the id is for people; it may change while the daemon is the same. */
function idOf(daemon: string): string {
  return daemon.slice(daemon.lastIndexOf('/') + 1);
}
