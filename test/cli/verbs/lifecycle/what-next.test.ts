import { describe, expect, it } from 'vitest';
import { describeNext } from '../../../../src/cli/verbs/lifecycle/what-next.ts';
import type { FiberDocument } from '../../../../src/contract/fiber.ts';
import type { State } from '../../../../src/contract/http/state.ts';

type Written = Parameters<typeof describeNext>[0];
const fiber = (over: Partial<Written> = {}): Written => ({
  id: 'work/loader',
  store: '/srv/notes',
  status: 'active',
  svc: { kind: 'oneshot', host: 'host-a' },
  ...over,
});
const svc = (over: FiberDocument['svc']) => fiber({ svc: { host: 'host-a', ...over } });

type Over = {
  active?: boolean;
  store?: string;
  brake?: boolean;
  running?: string[];
  held?: string;
  leased?: string;
};

function state(over: Over = {}): State {
  const rows = (ids: string[] = []) => ids.map((fiber_id) => ({ fiber_id, store: '/srv/notes' }));
  const stores = [
    {
      ...{
        store: over.store ?? '/srv/notes',
        state: 'ok',
        fibers: 1,
        last_ok_at: 1,
        last_ms: 1,
        error: null,
      },
      held_back: over.leased === undefined ? null : { message: over.leased, mend: 'end it' },
    },
  ];
  return {
    host: 'host-a',
    running: rows(over.running),
    pending_launch:
      over.held === undefined
        ? []
        : rows(['work/loader']).map((row) => ({ ...row, since: 1, reason: over.held, note: 'wrong branch' })),
    standing_roles: [],
    brake: { on: over.brake ?? false, since: null, note: null },
    boot_quarantine: { active: over.active ?? false, reason: 'restart', held: 0, released_at: null },
    poll_health: { interval_ms: 30_000, stores },
  } as unknown as State;
}

describe('what a changed fiber waits for', () => {
  it.each<[string, Written, Parameters<typeof describeNext>[1], string]>([
    [
      'a daemon that starts',
      fiber(),
      'booting',
      'still starting; see in a moment what becomes of it: svc status',
    ],
    [
      'a stuck daemon',
      fiber(),
      { silent: 'the daemon (pid 7) does not answer' },
      'It is not known when it starts: the daemon (pid 7) does not answer',
    ],
    ['no daemon', fiber(), null, 'start it with: svc daemon start'],
    ['the quarantine', fiber(), state({ held: 'boot_quarantine' }), 'let it begin with: svc daemon release'],
    ['the next tick', fiber(), state(), 'starts it within 30 s; see: svc status work/loader'],
    ['the brake', fiber(), state({ brake: true }), 'let it go with: svc resume-all'],
    ['the quarantine of a role', svc({ kind: 'standing' }), state({ active: true }), 'svc daemon release'],
    [
      'a kill',
      fiber(),
      state({ held: 'killed' }),
      'stopped by you: wrong branch; let it start with: svc resume work/loader',
    ],
    ['a lost server', fiber(), state({ held: 'server_lost' }), 'let it start with: svc resume work/loader'],
    ['its schedule', svc({ kind: 'standing' }), state(), 'when its schedule says so'],
    [
      'a person',
      { ...svc({ kind: 'pinned' }), status: 'open' },
      state(),
      'started by hand: svc dispatch work/loader',
    ],
    ['another host', svc({ kind: 'oneshot', host: 'host-b' }), state(), 'The daemon of host-b starts it'],
    [
      'another daemon with the lease of the store, before what this one holds back',
      fiber(),
      state({ leased: 'another daemon (pid 7) dispatches from /srv/notes', held: 'boot_quarantine' }),
      'The daemon here does not start it: another daemon (pid 7) dispatches from /srv/notes; see: svc doctor\n',
    ],
    ['a store that is polled', fiber(), state({ store: '/other' }), 'svc fiber init /srv/notes --poll'],
  ])('names %s', (_, written, answer, sentence) => {
    expect(describeNext(written, answer, 'svc')).toContain(sentence);
  });

  it('announces no start of a fiber whose worker runs', () => {
    expect(describeNext(fiber(), state({ running: ['work/loader'] }), 'svc')).toBe('');
    expect(describeNext(fiber(), state({ running: ['other'] }), 'svc')).toContain('starts it within');
  });

  it('prints nothing about a document that no worker may start', () => {
    expect(describeNext(fiber({ svc: undefined }), state(), 'svc')).toBe('');
    expect(describeNext(fiber({ status: 'open' }), state(), 'svc')).toBe('');
  });

  it('names the demo’s commands inside the demo', () => {
    expect(describeNext(fiber(), state(), 'svc demo')).toContain('see: svc demo status work/loader');
  });
});
