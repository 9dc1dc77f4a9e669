import type { RemoteAddress } from '../contract/remote-address.ts';

/** Which daemon answers a route (RTE-1). `origin` is read from the query of a GET, from the JSON body otherwise. */
export type Routing =
  /** This daemon (RTE-6). */
  | 'local'
  /** The owner of the fiber, named by `origin`; a name that matches no host falls back to this one (RTE-2). */
  | 'owner'
  /** The host that is the subject, named by `origin`; a name that matches no host is refused (RTE-3). */
  | 'host'
  /** The host that this parameter of the query names (RTE-4). */
  | { readonly param: string }
  /** This daemon, about its own machine; an `origin` that names another host is refused (RTE-5). */
  | 'host-scoped'
  /** This daemon, which merges its own answer with what it knows of the remotes (RTE-7). */
  | 'fan-in';

/** Where a request is answered. */
export type Destination =
  | { kind: 'local' }
  /** Where its daemon answers; null for a host that nobody configured. `silent` aborts once it answers nobody any more. */
  | { kind: 'remote'; host: string; address: RemoteAddress | null; silent?: AbortSignal }
  | { kind: 'refused'; code: string; message: string; details: Record<string, unknown> };

/**
 * Decides where a request is answered; `named` is the host that it names, `hops` those that passed it on. `writes` is false
 * for one that has no effect.
 */
export type Route = (
  routing: Routing,
  named: string | undefined,
  hops: readonly string[],
  writes?: boolean,
) => Destination;
