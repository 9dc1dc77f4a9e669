import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { RequestTaker, ServerKind, Transport } from './transport.ts';

/**
 * Loads the transport that is wanted, and no other. `auto`: the native one, or Node's own where its binary cannot be
 * loaded; the log says so then. Rejects with the loader's error when the native one alone is wanted and cannot be.
 */
export async function loadTransport(
  wanted: ServerKind | 'auto',
  options: { requests: RequestTaker; clock: Clock; logger: Logger },
  loadNative = () => import('./uws-transport.ts'),
): Promise<Transport> {
  const { requests, clock, logger } = options;
  if (wanted !== 'node') {
    try {
      const { createTransport } = await loadNative();
      return createTransport(requests, clock);
    } catch (error) {
      if (wanted === 'uws') throw error;
      logger.warn({ err: error }, 'the native HTTP server cannot be loaded; Node’s own is used');
    }
  }
  const { createTransport } = await import('./node-transport.ts');
  return createTransport(requests);
}
