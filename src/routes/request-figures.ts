import type { AnsweredRequest } from '../http/answering.ts';
import { type Figure, type HistogramValue, histogram, sample } from './exposition.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type Seen = {
  labels: { method: string; route: string };
  latency: HistogramValue;
  bytes: number;
  statuses: Map<number, number>;
};

/** Counts requests by row. A client can make no labels of its own: its method and path are only told where known. */
export class RequestFigures {
  /** By method and, in it, by route. */
  readonly #seen = new Map<string, Map<string, Seen>>();

  /** Called once for each answer; on the path of every request, so it does little. */
  readonly observe = (request: AnsweredRequest): void => {
    const method = METHODS.has(request.method) ? request.method : 'other';
    const route = request.path ?? 'none';
    let routes = this.#seen.get(method);
    if (routes === undefined) {
      routes = new Map();
      this.#seen.set(method, routes);
    }
    let seen = routes.get(route);
    if (seen === undefined) {
      const latency = { counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0 };
      seen = { labels: Object.freeze({ method, route }), latency, bytes: 0, statuses: new Map() };
      routes.set(route, seen);
    }
    const seconds = request.ms / 1_000;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket += 1;
    seen.latency.counts[bucket]! += 1;
    seen.latency.sum += seconds;
    seen.bytes += request.bytes;
    seen.statuses.set(request.status, (seen.statuses.get(request.status) ?? 0) + 1);
  };

  figures(): Figure[] {
    const all = [...this.#seen.values()].flatMap((routes) => [...routes.values()]);
    return [
      {
        name: 'svc_http_requests_total',
        type: 'counter',
        help: 'Requests answered',
        samples: all.flatMap(({ labels, statuses }) =>
          [...statuses].map(([status, count]) => sample(count, { ...labels, status: String(status) })),
        ),
      },
      {
        name: 'svc_http_response_bytes_total',
        type: 'counter',
        help: 'Bytes of answered bodies',
        samples: all.map(({ labels, bytes }) => sample(bytes, labels)),
      },
      histogram(
        'svc_http_request_duration_seconds',
        'Time from a request to its answer',
        BOUNDS,
        all.map(({ labels, latency }) => ({ labels, ...latency })),
      ),
    ];
  }
}
