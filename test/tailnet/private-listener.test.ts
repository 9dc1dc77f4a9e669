import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { TailnetNetwork } from '../../src/contract/threads/fleet.ts';
import { PrivateListener, type PrivatePlace, placeOf } from '../../src/tailnet/private-listener.ts';
import { until } from '../kit/until.ts';

const network = (address: string | null, more: Partial<TailnetNetwork> = {}): TailnetNetwork => ({
  ...{ socket: '/t.sock', has_interface: true },
  self: {
    ...{ id: 'n-a', user_id: 1, dns_name: 'host-a.tail1234.ts.net', is_tagged: false },
    addresses: address === null ? [] : [address],
  },
  ...more,
});

describe('the place of the private listener', () => {
  it('[OPR-3] is the first address of this machine, or loopback where tailscaled alone is in the tailnet', () => {
    const names = ['100.64.0.1', 'host-a.tail1234.ts.net'];
    expect(placeOf(network('100.64.0.1'), 4000)).toEqual({ host: '100.64.0.1', port: 4000, names });
    expect(placeOf(network('100.64.0.1', { has_interface: false }), 4400)).toEqual({
      ...{ host: '127.0.0.1', port: 4400, names },
    });
    expect(placeOf(network(null), 4000)).toBeNull();
    expect(placeOf(null, 4000)).toBeNull();
  });
});

describe('the private listener', () => {
  let clock: FakeClock;
  let bound: string[];
  let fault: string | null;
  let tries: number;
  let changes: number;
  let listener: PrivateListener;
  beforeEach(() => {
    clock = new FakeClock();
    [bound, fault, tries, changes] = [[], null, 0, 0];
    listener = new PrivateListener({
      port: 4000,
      ...{ clock, logger: silentLogger },
      async bind({ host, port }: PrivatePlace) {
        tries += 1;
        if (fault !== null) throw new Error(fault);
        const address = `${host}:${port}`;
        bound.push(address);
        return { address, close: async () => void bound.splice(bound.indexOf(address), 1) };
      },
      changed: () => {
        changes += 1;
      },
    });
  });

  it('[OPR-3] tries again, less and less often, until the address is there', async () => {
    fault = 'cannot listen on 100.64.0.1:4000 (EADDRNOTAVAIL)';
    listener.follow(network('100.64.0.1'));
    for (const [tried, wait] of [
      [1, 1_000],
      [2, 2_000],
      [3, 4_000],
    ] as const) {
      await until('the failure', () => changes === tried);
      expect(listener.state()).toEqual({ address: null, error: fault });
      clock.advance(wait - 1);
      expect(tries).toBe(tried);
      if (tried === 3) fault = null;
      clock.advance(1);
    }
    await until('the listener', () => bound.length === 1);
    await until('the word of it', () => changes === 4);
    expect(listener.state()).toEqual({ address: '100.64.0.1:4000', error: null });
    await listener.stop();
    expect(bound).toEqual([]);
  });

  it('[OPR-3] follows the address of this machine, and stays where nothing is known', async () => {
    listener.follow(network('100.64.0.1'));
    await until('the listener', () => changes === 1);
    listener.follow(null);
    listener.follow(network(null));
    listener.follow(network('100.64.0.1', { socket: '/other.sock' }));
    listener.follow(network('100.64.0.2'));
    await until('the other address', () => changes === 2);
    expect([bound, tries]).toEqual([['100.64.0.2:4000'], 2]);
    await listener.stop();
  });

  it('[OPR-3] tries no more once it was stopped', async () => {
    fault = 'not now';
    listener.follow(network('100.64.0.1'));
    await until('the failure', () => changes === 1);
    await listener.stop();
    clock.advance(600_000);
    listener.follow(network('100.64.0.2'));
    await listener.stop();
    expect(tries).toBe(1);
  });
});
