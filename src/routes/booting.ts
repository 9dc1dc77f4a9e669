import type { Booting } from '../contract/http/booting.ts';
import type { RouteContext } from './context.ts';

/** The gate of every row with `state: 'ready'`: the 503 body while booting, null from then on (RDY-1, RDY-2). */
export function createBootingGate(
  context: Pick<RouteContext, 'host' | 'booted_at' | 'clock' | 'ready_ms'>,
): () => Booting | null {
  return () =>
    context.ready_ms() !== null
      ? null
      : {
          error: 'booting',
          message: 'The daemon is starting; GET /api/v1/version says when it is ready.',
          ready: false,
          boot_ms: bootMs(context),
          host: context.host,
        };
}

/** Milliseconds from process start to ready, or so far while booting. */
export function bootMs(context: Pick<RouteContext, 'booted_at' | 'clock' | 'ready_ms'>): number {
  return context.ready_ms() ?? Math.max(0, context.clock.now() - context.booted_at);
}
