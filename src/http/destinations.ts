import { refusal } from './error-reply.ts';
import { FieldScan } from './field-scan.ts';
import type { Call } from './request-call.ts';
import type { Route, Routing } from './routing.ts';
import type { Row } from './row.ts';

/** Finds out which daemon a request is for, from its query, its parsed body, or its body while it comes. */
export class Destinations {
  readonly #route: Route;

  constructor(route: Route) {
    this.#route = route;
  }

  /** Comes before the schemas: what is meant for another host is not for this one to judge. */
  settle(call: Call, row: Row, input: unknown): void {
    if (row.begins_here?.(input) === true) return;
    const origin = namedHost(row.routing, input);
    const named = origin ?? addressedHost(row, input);
    if (named === undefined) return;
    const destination = this.#route(row.routing, named, call.hops);
    if (destination.kind === 'local') return;
    if (destination.kind === 'refused') {
      if (origin === undefined && destination.code === 'unknown_host') return;
      throw refusal(destination.code, destination.message, destination.details);
    }
    const { host, address, silent } = destination;
    if (row.remote !== undefined) call.remote = host;
    else if (address !== null) call.forward = { host, address, silent };
    else
      throw refusal('unknown_host', `No address of "${host}" is known here; see: svc remotes list`, {
        origin: host,
      });
  }

  /** A body that is not parsed here is looked through for the host that it names while it comes. */
  looksInBody({ body, routing }: Row): boolean {
    return body === 'bytes' && (routing === 'owner' || routing === 'host');
  }

  /** Sees the pieces of a body; calls `divert` once it is for another host, `refused` where it is for none. */
  finder(call: Call, row: Row, divert: () => void, refused: (error: unknown) => void) {
    const fields = ['origin', ...(row.addressed === undefined ? [] : [row.addressed.field])];
    const scans = fields.map((field) => ({ field, scan: new FieldScan(field) }));
    let routed = false;
    return (chunk: Uint8Array) => {
      try {
        for (const { field, scan } of scans) {
          scan.feed(chunk);
          if (scan.ambiguous)
            throw refusal('invalid_request', `The body names its ${field} twice.`, { issues: [] });
          // What came first decides, and in one piece the origin does, as in a body that is parsed at once.
          if (routed || scan.value === undefined) continue;
          routed = true;
          this.settle(call, row, { [field]: scan.value });
          if (call.forward !== null) divert();
        }
      } catch (error) {
        refused(error);
      }
    };
  }
}

/** The host that a parsed query or body names, if it names one. */
export function namedHost(routing: Routing, input: unknown): string | undefined {
  if (routing === 'local' || routing === 'fan-in' || typeof input !== 'object' || input === null)
    return undefined;
  const name = typeof routing === 'object' ? routing.param : 'origin';
  const value: unknown = Object.getOwnPropertyDescriptor(input, name)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** The host that the address in a body means, if it has one. */
function addressedHost(
  { addressed }: { addressed?: { field: string; hostIn(value: string): string | undefined } },
  input: unknown,
): string | undefined {
  if (addressed === undefined || typeof input !== 'object' || input === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(input, addressed.field)?.value;
  return typeof value === 'string' ? addressed.hostIn(value) : undefined;
}
