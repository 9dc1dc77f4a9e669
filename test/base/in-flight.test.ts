import { expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { InFlight } from '../../src/base/in-flight.ts';

it('waits for all work in flight, also for what fails', async () => {
  const flights = new InFlight();
  const [first, second] = [createDeferred<string>(), createDeferred<string>()];
  const done = flights.add(first.promise);
  flights.add(second.promise).catch(() => undefined);
  const order: string[] = [];
  const settled = flights.settled().then(() => order.push('settled'));
  first.resolve('landed');
  order.push(await done);
  second.reject(new Error('lost'));
  await settled;
  expect(order).toEqual(['landed', 'settled']);
  await flights.settled();
});
