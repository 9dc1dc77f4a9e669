import { describe, expect, test } from 'vitest';
import type { MuxListing } from '../../src/mux/mux.ts';
import {
  addressOf,
  paneOfLaunch,
  requireListing,
  sessionNamed,
  sessionsOf,
} from '../../src/mux/mux-listing.ts';

const session = (id: string, name: string) => ({
  ...{ id, name, created_at: 1_000, attached: 0 },
  panes: [{ id: id.replace('$', '%'), pid: 7, dead: false, launch_id: null }],
});
const alive: MuxListing = { kind: 'alive', sessions: [session('$1', 'one'), session('$2', 'two')] };
const unknown: MuxListing = { kind: 'unknown', detail: 'no answer within 2000 ms' };

describe('a listing of the multiplexer', () => {
  test('finds a session by its whole name', () => {
    expect(sessionNamed(alive, 'two')?.id).toBe('$2');
    expect(sessionNamed(alive, 'tw')).toBeUndefined();
  });

  test('finds the pane of a launch in whatever session it is, the living one first, and by no name', () => {
    const pane = { id: '%7', pid: 8, dead: false, launch_id: 'launch-1' };
    const [dead, other] = [{ ...pane, id: '%3', dead: true }, session('$1', 'launch-1')];
    const joined = { ...session('$2', 'mine'), panes: [...other.panes, dead, pane] };
    const listing: MuxListing = { kind: 'alive', sessions: [other, joined] };
    expect(paneOfLaunch(listing, 'launch-1')).toEqual({ session: joined, pane });
    expect(paneOfLaunch({ ...listing, sessions: [other] }, 'launch-1')).toBeUndefined();
    expect([addressOf(pane), addressOf(dead)]).toEqual([{ id: '%7', pid: 8 }, null]);
  });

  test.each([{ kind: 'absent' } as const, unknown])('of kind $kind has no sessions', (listing) => {
    expect(sessionsOf(listing)).toEqual([]);
    expect(sessionNamed(listing, 'one')).toBeUndefined();
  });

  test('is required where a missing answer must not pass for a missing session', async () => {
    await expect(requireListing({ list: async () => alive })).resolves.toBe(alive);
    await expect(requireListing({ list: async () => unknown })).rejects.toMatchObject({
      code: 'mux_unavailable',
      message: 'tmux did not list its sessions (no answer within 2000 ms); try again',
    });
  });
});
