import { expect, it } from 'vitest';
import { otherHostsOf } from '../../../src/cli/daemon-client/daemon-of-fiber.ts';

const read = (...fibers: { id: string; uid: string | null }[]) => ({ read: { fibers } });

it.each([
  ['an id', 'far', ['host-b', 'host-c']],
  ['a uid', 'U1', ['host-b']],
  ['the last part of an id', 'away', []],
  ['what only this host has', 'near', []],
])('[RTE-2] a fiber is found on the other hosts that have it: %s', (_, fiber, hosts) => {
  const origins = {
    'host-a': read({ id: 'near', uid: 'U0' }),
    'host-b': read({ id: 'far', uid: 'U1' }, { id: 'far/away', uid: null }),
    'host-c': read({ id: 'far', uid: 'U2' }),
    'host-d': { read: null },
  };
  expect(otherHostsOf(fiber, { host: 'host-a', origins })).toEqual(hosts);
});
