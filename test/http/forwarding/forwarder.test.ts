import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Forwarder } from '../../../src/http/forwarder.ts';
import { until } from '../../kit/until.ts';
import { listenRaw, type Stranger, urlOf } from './hosts.ts';

const strangers: Stranger[] = [];
afterEach(() => {
  for (const stranger of strangers.splice(0)) stranger.close();
});

it('[OPR-3] tells how requests to another host went, but not of those that it refused itself', async () => {
  const silent = await listenRaw(() => undefined);
  strangers.push(silent);
  const seen: unknown[] = [];
  const forwarder = new Forwarder({
    host: 'host-a',
    clock: systemClock,
    limits: { forwards_of_one_host: 1, forwards: 10, relay_wait_ms: 1_000 },
    observeForward: (_, failure) => seen.push(failure),
  });
  const forward = () =>
    forwarder.forward({
      id: 'r-1',
      head: { method: 'GET', path: '/x', query: '', headers: {}, fault: null },
      hops: [],
      to: { host: 'host-b', address: { url: urlOf(silent) } },
      body: null,
      deadline_ms: 60_000,
      signal: new AbortController().signal,
    });
  const first = forward();
  await until('the first is on its way', () => silent.connections.length === 1);
  await expect(forward()).rejects.toMatchObject({ code: 'queue_full' });
  expect(seen).toEqual([]);
  silent.connections[0]!.destroy();
  await expect(first).rejects.toMatchObject({ code: 'remote_unreachable' });
  expect(seen).toMatchObject([{ code: 'remote_unreachable' }]);
  forwarder.stop();
});
