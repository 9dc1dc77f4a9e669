import { CodedError, isCoded } from '../base/errors.ts';
import type { FoundFiber } from '../fibers/find-fiber.ts';
import type { CliContext } from './command-line/verb.ts';
import type { DaemonClient } from './daemon-client/client.ts';
import { askForFiber } from './daemon-client/daemon-of-fiber.ts';
import { findInStores, thisHost } from './find-fiber.ts';

/** A fiber of another host by its id there, and the daemon that passes requests on to that host. */
export type FiberElsewhere = { daemon: DaemonClient; host: string; fiber: string };

/** A fiber as a person names it. */
export type NamedFiber = {
  fiber: string;
  /** The host that has it, or, with `owner`, that has it only where no store here does. */
  host?: string | undefined;
  owner?: boolean | undefined;
  /** A store of the host that has it; without a host, of this one alone. */
  store?: string | undefined;
};

/** What is done to a fiber, by where it is. */
type ByPlace<T> = {
  here(found: FoundFiber): T | Promise<T>;
  elsewhere(fiber: FiberElsewhere): Promise<T>;
};

/**
 * Does something to the fiber that a person means: in the stores of this machine, else on the host that has it. Throws
 * `fiber_not_found`, `ambiguous_fiber` where several may be meant, and `unknown_host`.
 */
export async function atItsPlace<T>(context: CliContext, named: NamedFiber, work: ByPlace<T>): Promise<T> {
  const { fiber, host, owner = false, store } = named;
  const isHere = host !== undefined && host === thisHost(context);
  const away = isHere ? undefined : host;
  if (away !== undefined && !owner) return askElsewhere(context, fiber, away, work.elsewhere);
  let found: FoundFiber;
  try {
    found = await findInStores(context, fiber, store);
  } catch (error) {
    const isMissing = isCoded(error, 'fiber_not_found') || isCoded(error, 'store_not_found');
    if (!isMissing || isHere || store !== undefined) throw error;
    let isFound = false;
    const elsewhere = (at: FiberElsewhere) => {
      isFound = true;
      return work.elsewhere(at);
    };
    return askElsewhere(context, fiber, away, elsewhere).catch((other: unknown) => {
      // That it is missing here says more than that nobody else has it, or that no daemon could be asked.
      throw !isFound && SAYS_LESS.some((code) => isCoded(other, code)) ? error : other;
    });
  }
  return work.here(found);
}

const SAYS_LESS = ['fiber_not_found', 'unknown_host', 'daemon_unreachable'] as const;

function askElsewhere<T>(
  context: CliContext,
  fiber: string,
  host: string | undefined,
  elsewhere: ByPlace<T>['elsewhere'],
): Promise<T> {
  return askForFiber(context, { fiber, host }, async (of) => {
    if (of.host === null) throw new CodedError('fiber_not_found', `this host has no fiber called ${fiber}`);
    return elsewhere({ ...of, host: of.host });
  });
}
