import { describe, expect, it } from 'vitest';
import { createDeferred, type Deferred } from '../../src/base/deferred.ts';
import type { MuxListing } from '../../src/mux/mux.ts';
import { SharedListings } from '../../src/mux/shared-listings.ts';

const ALIVE: MuxListing = { kind: 'alive', sessions: [] };
const ABSENT: MuxListing = { kind: 'absent' };
const UNKNOWN: MuxListing = { kind: 'unknown', detail: 'tmux did not answer in time' };

/** Listings that a test answers itself, in the order in which they begin. */
function shared() {
  const begun: Deferred<MuxListing>[] = [];
  const listings = new SharedListings(() => {
    const listing = createDeferred<MuxListing>();
    begun.push(listing);
    return listing.promise;
  });
  return { begun, list: () => listings.list() };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('listings of one server for many callers', () => {
  it('gives all that call during one the next, which begins after it', async () => {
    const { begun, list } = shared();
    const first = list();
    const later = [list(), list(), list()];
    await turn();
    expect(begun).toHaveLength(1);
    begun[0]?.resolve(ALIVE);
    expect(await first).toBe(ALIVE);
    await turn();
    expect(begun).toHaveLength(2);
    begun[1]?.resolve(ABSENT);
    expect(await Promise.all(later)).toEqual([ABSENT, ABSENT, ABSENT]);
    void list();
    expect(begun).toHaveLength(3);
  });

  it('begins one more for who calls during the next', async () => {
    const { begun, list } = shared();
    void list();
    const second = list();
    begun[0]?.resolve(ALIVE);
    await turn();
    const third = list();
    begun[1]?.resolve(ABSENT);
    expect(await second).toBe(ABSENT);
    await turn();
    begun[2]?.resolve(ALIVE);
    expect(await third).toBe(ALIVE);
  });

  it('keeps nobody waiting twice for a server that does not answer', async () => {
    const { begun, list } = shared();
    const answers = Promise.all([list(), list()]);
    begun[0]?.resolve(UNKNOWN);
    expect(await answers).toEqual([UNKNOWN, UNKNOWN]);
    expect(begun).toHaveLength(1);
  });

  it('lists again after one that failed', async () => {
    const { begun, list } = shared();
    const first = list();
    const second = list();
    begun[0]?.reject(new Error('broken'));
    await expect(first).rejects.toThrow('broken');
    await turn();
    begun[1]?.resolve(ALIVE);
    expect(await second).toBe(ALIVE);
  });
});
