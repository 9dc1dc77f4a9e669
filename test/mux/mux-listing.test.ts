import { describe, expect, test } from 'vitest';
import type { MuxListing } from '../../src/mux/mux.ts';
import { requireListing, sessionNamed, sessionsOf } from '../../src/mux/mux-listing.ts';

const session = (id: string, name: string) => ({
  ...{ id, name, created_at: 1_000, pane_pid: 7 },
  ...{ pane_dead: false, panes: 1, attached: 0 },
});
const alive: MuxListing = { kind: 'alive', sessions: [session('$1', 'one'), session('$2', 'two')] };
const unknown: MuxListing = { kind: 'unknown', detail: 'no answer within 2000 ms' };

describe('a listing of the multiplexer', () => {
  test('finds a session by its whole name', () => {
    expect(sessionNamed(alive, 'two')?.id).toBe('$2');
    expect(sessionNamed(alive, 'tw')).toBeUndefined();
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
