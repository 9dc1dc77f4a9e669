import type { Composite } from './wire.ts';

/** What the hosts of a composite told, each by its name; one that has nothing to tell is left out. */
export function readsOf<R>({ origins }: Composite<R>): readonly { host: string; read: R }[] {
  return Object.entries(origins).flatMap(([host, { read }]) => (read === null ? [] : [{ host, read }]));
}

/** What the host that answers told of itself; or null, and why it could not. */
export function ownRead<R>({
  host,
  origins,
}: Composite<R>): { read: R; refusal: null } | { read: null; refusal: { code: string; message: string } } {
  const { read = null, error = null } = origins[host] ?? {};
  if (read !== null) return { read, refusal: null };
  return {
    read: null,
    refusal: error ?? { code: 'no_answer', message: `${host} did not tell this of itself.` },
  };
}
