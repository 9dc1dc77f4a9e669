import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCoded } from '../../src/base/errors.ts';
import type { Agent } from '../../src/contract/agent.ts';
import { FIBER_KINDS, type FiberDocument } from '../../src/contract/fiber.ts';
import { LIFECYCLE_ACTIONS, type LifecycleRequest } from '../../src/contract/http/lifecycle.ts';
import { parseDocument } from '../../src/fibers/document.ts';
import { editDocument } from '../../src/fibers/edit.ts';
import { describeFiber, planAction } from '../../src/lifecycle/actions.ts';
import { fiberDocument, NOW, STAMP, ULID } from '../fixtures/fibers/fiber-document.ts';

const agent = (id: string, over: Partial<Agent> = {}): Agent => ({
  id,
  harness: 'claude',
  cli: id,
  model: `${id}-model`,
  args: [],
  effort_levels: ['low', 'high'],
  default_effort: null,
  default: false,
  aliases: [],
  env: {},
  source: 'builtin',
  ...over,
});
const KNOWN = {
  agents: [
    agent('sonnet', { default: true }),
    agent('opus', { effort_levels: ['max'] }),
    agent('sol', { harness: 'codex', model: 'shared' }),
    agent('luna', { model: 'shared' }),
  ],
  names: { sonnet: 'sonnet', opus: 'opus', sol: 'sol', luna: 'luna', best: 'opus' },
  default_id: 'sonnet',
  problem: null,
};
const FACTS = { this_host: 'host-a', this_zone: 'Asia/Tokyo', new_uid: ULID, running: false };
type Ask = LifecycleRequest extends infer R ? (R extends LifecycleRequest ? Omit<R, 'fiber'> : never) : never;
const plan = (document: FiberDocument, ask: Ask, facts = FACTS) =>
  planAction(document, { fiber: document.id, ...ask } as LifecycleRequest, facts, KNOWN, NOW);
const svc = { kind: 'oneshot', host: 'host-a', project_dir: '/srv/dev' } as const;
const role = { ...svc, kind: 'standing', schedule: '0 9 * * *', tz: 'UTC' } as const;
const ran = { dispatched_at: '2026-02-03T04:00:00.000Z' };

/** Told by a clock that was ahead. */
const LATER = '2031-01-01T00:00:00.000Z';

describe('resume, accept and reopen', () => {
  const stamped = { 'svc.runtime.handed_off_at': STAMP };
  const arms = { status: 'active' };
  const unset = ['closed-at', 'tempered'];
  it.each<[string, Ask['action'], Partial<FiberDocument>, object | null, string[]?]>([
    ['a role that awaits review', 'resume', { svc: role, status: 'closed' }, { ...stamped, ...arms }, unset],
    ['a role that awaits review', 'accept', { svc: role, status: 'closed' }, { ...stamped, ...arms }, unset],
    [
      'a role set aside',
      'accept',
      { svc: role, status: 'closed', tempered: false },
      { ...stamped, ...arms },
      unset,
    ],
    ['a parked role', 'resume', { svc: role, status: 'open' }, { ...stamped, ...arms }, unset],
    ['an armed role', 'resume', { svc: role, status: 'active' }, null],
    ['an armed role', 'accept', { svc: role, status: 'active' }, null],
    [
      'a closed oneshot that ran',
      'resume',
      { svc: { ...svc, runtime: ran }, status: 'closed' },
      { ...stamped, ...arms },
      unset,
    ],
    [
      'a closed oneshot that ran',
      'reopen',
      { svc: { ...svc, runtime: ran }, status: 'closed', tempered: true },
      { ...stamped, ...arms },
      unset,
    ],
    ['a closed oneshot that never ran', 'reopen', { svc, status: 'closed' }, arms, unset],
    [
      'a parked oneshot that was cut off',
      'resume',
      { svc: { ...svc, runtime: ran }, status: 'open' },
      arms,
      unset,
    ],
    [
      'a oneshot that awaits review',
      'accept',
      { svc, status: 'closed' },
      { status: 'closed', tempered: true },
      [],
    ],
    ['an accepted oneshot', 'accept', { svc, status: 'closed', tempered: true }, null],
    ['a plain document', 'accept', {}, { status: 'closed', tempered: true }, []],
    [
      'a pinned role after review',
      'accept',
      { svc: { ...svc, kind: 'pinned' }, status: 'closed' },
      { ...stamped, status: 'open' },
      ['tempered', 'closed-at'],
    ],
    ['a parked pinned role', 'accept', { svc: { ...svc, kind: 'pinned' }, status: 'open' }, null],
    [
      'a closed pinned role',
      'reopen',
      { svc: { ...svc, kind: 'pinned' }, status: 'closed' },
      { status: 'open' },
      ['tempered', 'closed-at'],
    ],
    [
      'a closed plain document',
      'reopen',
      { status: 'closed' },
      { status: 'open' },
      ['tempered', 'closed-at'],
    ],
    ['an open document', 'reopen', { status: 'open' }, null],
  ])('[LIF-4] [LIF-6] [RES-8] [STD-1] %s: %s in one write', (_what, action, overrides, set, removed) => {
    const document = fiberDocument({ uid: ULID, outcome: 'Kept.', ...overrides });
    expect(plan(document, { action } as Ask)).toEqual(set === null ? null : { set, unset: removed });
  });

  it('[RES-8] keeps the conversation of a closed fiber whose worker still runs', () => {
    const document = fiberDocument({ uid: ULID, status: 'closed', svc: { ...svc, runtime: ran } });
    expect(plan(document, { action: 'resume' }, { ...FACTS, running: true })?.set).toEqual({
      status: 'active',
    });
  });

  it('[STD-1] [P30] resets a timestamp from a clock that was ahead', () => {
    const runtime = { dispatched_at: LATER };
    const document = fiberDocument({ uid: ULID, status: 'closed', svc: { ...role, runtime } });
    expect(plan(document, { action: 'accept' })?.set).toEqual({
      'svc.runtime.handed_off_at': STAMP,
      'svc.runtime.dispatched_at': new Date(NOW - 1).toISOString(),
      status: 'active',
    });
  });

  it.each(['accept', 'resume'] as const)(
    '[STD-1] [P30] %s resets it also of an armed role, while no worker of it runs',
    (action) => {
      for (const runtime of [{ dispatched_at: LATER }, { handed_off_at: LATER }]) {
        const document = fiberDocument({ uid: ULID, status: 'active', svc: { ...role, runtime } });
        expect(plan(document, { action })?.set).toMatchObject({ 'svc.runtime.handed_off_at': STAMP });
        expect(plan(document, { action }, { ...FACTS, running: true })).toBeNull();
      }
      const served = { dispatched_at: STAMP, handed_off_at: STAMP };
      const document = fiberDocument({ uid: ULID, status: 'active', svc: { ...role, runtime: served } });
      expect(plan(document, { action })).toBeNull();
    },
  );

  it('adds what a launch of an armed fiber needs: a host and a ULID', () => {
    const document = fiberDocument({ status: 'active', svc: { kind: 'oneshot', project_dir: '/srv/dev' } });
    expect(plan(document, { action: 'resume' })?.set).toEqual({
      id: ULID,
      'svc.host': 'host-a',
      status: 'active',
    });
  });

  it('refuses to resume a document that is not a service, and names the fix', () => {
    expect(() => plan(fiberDocument(), { action: 'resume' })).toThrow('svc install');
  });
});

describe('pause, close, uninstall and set-outcome', () => {
  it.each<[string, Ask, Partial<FiberDocument>, object | null]>([
    [
      'pause parks an armed fiber',
      { action: 'pause' },
      { svc, status: 'active' },
      { set: { status: 'open' }, unset: ['tempered'] },
    ],
    ['pause leaves a parked fiber', { action: 'pause' }, { svc, status: 'open' }, null],
    ['pause leaves a closed fiber', { action: 'pause' }, { svc, status: 'closed' }, null],
    [
      'close closes for review',
      { action: 'close' },
      { svc, status: 'active' },
      { set: { status: 'closed' }, unset: ['tempered'] },
    ],
    ['close keeps a verdict', { action: 'close' }, { status: 'closed', tempered: true }, null],
    [
      'close writes an outcome',
      { action: 'close', outcome: 'New.' },
      { status: 'active' },
      { set: { status: 'closed', outcome: 'New.' }, unset: ['tempered'] },
    ],
    [
      'uninstall keeps a verdict',
      { action: 'uninstall' },
      { svc, status: 'closed', tempered: true },
      { set: {}, unset: ['svc'] },
    ],
    [
      'uninstall parks what is armed',
      { action: 'uninstall' },
      { svc, status: 'active' },
      { set: { status: 'open' }, unset: ['svc', 'tempered'] },
    ],
    [
      'set-outcome writes the line',
      { action: 'set-outcome', outcome: 'New.' },
      {},
      { set: { outcome: 'New.' }, unset: [] },
    ],
    ['set-outcome leaves the same line', { action: 'set-outcome', outcome: 'Old.' }, {}, null],
    [
      'accept takes an outcome along',
      { action: 'accept', outcome: 'New.' },
      { svc: role, status: 'active' },
      { set: { outcome: 'New.' }, unset: [] },
    ],
  ])('[WPL-3] %s', (_what, ask, overrides, expected) => {
    expect(plan(fiberDocument({ uid: ULID, outcome: 'Old.', ...overrides }), ask)).toEqual(expected);
  });
});

describe('set-agent and set-model', () => {
  it.each<[string, Ask, object, object | null]>([
    ['an agent', { action: 'set-agent', agent: 'opus' }, {}, { set: { 'svc.agent': 'opus' }, unset: [] }],
    ['an alias', { action: 'set-agent', agent: 'best' }, {}, { set: { 'svc.agent': 'best' }, unset: [] }],
    ['the agent it has', { action: 'set-agent', agent: 'opus' }, { agent: 'opus' }, null],
    [
      'an effort too',
      { action: 'set-agent', agent: 'opus', effort: 'max' },
      {},
      { set: { 'svc.agent': 'opus', 'svc.effort': 'max' }, unset: [] },
    ],
    [
      'no effort that the new one lacks',
      { action: 'set-agent', agent: 'opus' },
      { effort: 'low' },
      { set: { 'svc.agent': 'opus' }, unset: ['svc.effort'] },
    ],
    [
      'the agent’s own effort',
      { action: 'set-agent', agent: 'sonnet', effort: null },
      { agent: 'sonnet', effort: 'low' },
      { set: { 'svc.agent': 'sonnet' }, unset: ['svc.effort'] },
    ],
    [
      'a model',
      { action: 'set-model', model: 'opus-model' },
      {},
      { set: { 'svc.agent': 'opus' }, unset: [] },
    ],
    [
      'a model of the same harness first',
      { action: 'set-model', model: 'shared' },
      {},
      { set: { 'svc.agent': 'luna' }, unset: [] },
    ],
    ['a model of its own harness', { action: 'set-model', model: 'shared' }, { agent: 'sol' }, null],
  ])('[WPL-3] sets %s', (_what, ask, over, expected) => {
    expect(plan(fiberDocument({ uid: ULID, svc: { ...svc, ...over } }), ask)).toEqual(expected);
  });

  it.each<[Ask, string, string]>([
    [{ action: 'set-agent', agent: 'nobody' }, 'agent_unknown', 'sonnet, opus'],
    [{ action: 'set-agent', agent: 'opus', effort: 'low' }, 'effort_unknown', 'max'],
    [{ action: 'set-model', model: 'none' }, 'agent_unknown', 'sonnet-model'],
    [{ action: 'reshape', agent: 'nobody' }, 'agent_unknown', 'sonnet'],
    [{ action: 'reshape', surface: 'app', agent: 'luna' }, 'surface_unsupported', 'sol'],
    [{ action: 'install', agent: 'nobody' }, 'agent_unknown', 'sonnet, opus'],
    [{ action: 'install', effort: 'max' }, 'effort_unknown', 'low, high'],
    [{ action: 'install', agent: 'best', effort: 'low' }, 'effort_unknown', 'agent opus takes one of max'],
    [{ action: 'install', agent: 'opus', surface: 'app' }, 'surface_unsupported', 'sol'],
    [{ action: 'pin', agent: 'nobody' }, 'agent_unknown', 'sonnet, opus'],
    [{ action: 'repeat', schedule: '@daily', agent: 'nobody' }, 'agent_unknown', 'sonnet, opus'],
    [{ action: 'repeat', schedule: '@daily', effort: 'max' }, 'effort_unknown', 'low, high'],
  ])('[WPL-3] refuses %j and lists the valid values', (ask, code, names) => {
    const refused = expect(() => plan(fiberDocument({ uid: ULID, svc }), ask));
    refused.toThrow(expect.objectContaining({ code }));
    refused.toThrow(names);
  });

  it.each<[string, Ask, object, object]>([
    [
      'an alias, as it is written',
      { action: 'install', agent: 'best', effort: 'max' },
      {},
      { 'svc.agent': 'best', 'svc.effort': 'max' },
    ],
    [
      'a codex agent for the app',
      { action: 'install', agent: 'sol', surface: 'app' },
      {},
      { 'svc.agent': 'sol', 'svc.surface': 'app' },
    ],
    ['what it has, although its agent is gone', { action: 'install' }, { agent: 'gone', effort: 'x' }, {}],
  ])('[WPL-3] [FIB-6] installs with %s', (_what, ask, over, expected) => {
    const edit = plan(fiberDocument({ uid: ULID, project_dir: '/srv/dev', svc: { ...svc, ...over } }), ask);
    const common = { 'svc.kind': 'oneshot', 'svc.host': 'host-a', 'svc.project_dir': '/srv/dev' };
    expect(edit?.set).toEqual({ ...common, status: 'active', ...expected });
  });

  it('[WPL-3] removes an effort that the new agent does not support', () => {
    const document = fiberDocument({
      uid: ULID,
      project_dir: '/srv/dev',
      svc: { ...svc, effort: 'high' },
    });
    expect(plan(document, { action: 'install', agent: 'opus' })?.unset).toContain('svc.effort');
    expect(plan(document, { action: 'install', agent: 'sol' })?.unset).not.toContain('svc.effort');
  });

  it('does not check the agents of another host', () => {
    const document = fiberDocument({ uid: ULID, svc: { ...svc, host: 'host-b' } });
    const ask = { fiber: 'a', action: 'set-agent', agent: 'theirs' } as const;
    expect(planAction(document, ask, FACTS, null, NOW)?.set).toEqual({ 'svc.agent': 'theirs' });
  });
});

describe('reshape', () => {
  const lived = { ...svc, runtime: { ...ran, session_uuid: 's' } };
  it.each<[string, Ask, Partial<FiberDocument>, object | null]>([
    [
      'a oneshot into a role counts from now',
      { action: 'reshape', kind: 'standing', schedule: '@daily' },
      { svc: lived, status: 'active' },
      {
        set: {
          'svc.kind': 'standing',
          'svc.schedule': '@daily',
          'svc.tz': 'Asia/Tokyo',
          'svc.runtime.handed_off_at': STAMP,
        },
        unset: [],
      },
    ],
    [
      'a role into a oneshot loses its schedule',
      { action: 'reshape', kind: 'oneshot' },
      { svc: role },
      { set: { 'svc.kind': 'oneshot' }, unset: ['svc.schedule', 'svc.tz', 'svc.auto_accept'] },
    ],
    [
      'an armed oneshot into a pinned role parks it',
      { action: 'reshape', kind: 'pinned' },
      { svc: lived, status: 'active' },
      { set: { 'svc.kind': 'pinned', status: 'open' }, unset: [] },
    ],
    [
      'the folder alone',
      { action: 'reshape', project_dir: '/srv/x' },
      { svc: lived, status: 'closed', tempered: true },
      { set: { 'svc.project_dir': '/srv/x' }, unset: [] },
    ],
    [
      'the zone counts from now',
      { action: 'reshape', tz: 'Europe/Paris' },
      { svc: role },
      { set: { 'svc.tz': 'Europe/Paris', 'svc.runtime.handed_off_at': STAMP }, unset: [] },
    ],
    [
      'the surface',
      { action: 'reshape', surface: 'app' },
      { svc },
      { set: { 'svc.surface': 'app' }, unset: [] },
    ],
    [
      'nothing new',
      { action: 'reshape', surface: 'cli', kind: 'oneshot' },
      { svc: { ...svc, surface: 'cli' } },
      null,
    ],
  ])('[WPL-3] %s', (_what, ask, overrides, expected) => {
    const document = fiberDocument({ uid: ULID, project_dir: '/srv/dev', ...overrides });
    expect(plan(document, ask)).toEqual(expected);
  });

  it('leaves a running worker’s role to be parked at its end', () => {
    const document = fiberDocument({ uid: ULID, project_dir: '/srv/dev', svc: lived, status: 'active' });
    const edit = plan(document, { action: 'reshape', kind: 'pinned' }, { ...FACTS, running: true });
    expect(edit?.set).toEqual({ 'svc.kind': 'pinned' });
  });

  it.each<[Ask, string]>([
    [{ action: 'reshape' }, 'name what to change'],
    [{ action: 'reshape', kind: 'standing', project_dir: '/srv/dev' }, '--schedule'],
    [{ action: 'reshape', schedule: '@daily' }, '--kind standing'],
    [{ action: 'reshape', project_dir: 'rel' }, 'absolute'],
  ])('refuses %j with the fix', (ask, sentence) => {
    expect(() => plan(fiberDocument({ uid: ULID, svc }), ask)).toThrow(sentence);
  });
});

/** What one step of a random life does to the text of a document. */
function take(text: string, ask: Ask, running: boolean, now: number): string {
  const document = read(text);
  const request = { fiber: 'a', ...ask } as LifecycleRequest;
  const edit = planAction(document, request, { ...FACTS, running }, KNOWN, now);
  return edit === null ? text : editDocument(text, edit, now);
}
const read = (text: string) =>
  parseDocument(Buffer.from(text), { store: '/s', path: '/s/.fibers/a/a.md', relativePath: 'a/a.md' });

const anyAsk: fc.Arbitrary<Ask> = fc.oneof(
  ...LIFECYCLE_ACTIONS.map((action): fc.Arbitrary<Ask> => {
    switch (action) {
      case 'install':
      case 'pin':
        return fc.constant({ action, project_dir: '/srv/dev' });
      case 'repeat':
        return fc
          .constantFrom('@daily', '0 9 * * 1')
          .map((schedule) => ({ action, project_dir: '/srv/dev', schedule }));
      case 'reshape':
        return fc
          .constantFrom(...FIBER_KINDS)
          .map((kind) =>
            kind === 'standing'
              ? { action, kind, schedule: '@hourly', project_dir: '/srv/dev' }
              : { action, kind, project_dir: '/srv/dev' },
          );
      case 'set-agent':
        return fc.constantFrom('sonnet', 'opus', 'best').map((name) => ({ action, agent: name }));
      case 'set-model':
        return fc.constantFrom('sonnet-model', 'opus-model', 'shared').map((model) => ({ action, model }));
      case 'set-outcome':
        return fc.constantFrom('One.', 'Two.').map((outcome) => ({ action, outcome }));
      default:
        return fc.constant({ action } as Ask);
    }
  }),
);

describe('any sequence of verbs', () => {
  const NEEDS_SERVICE = ['resume', 'reshape', 'set-agent', 'set-model'];
  const life = fc.array(fc.record({ ask: anyAsk, running: fc.boolean() }), { minLength: 1, maxLength: 12 });

  it('[P5] leaves no state that the next verb refuses, keeps the outcome, and arms only what can be launched', () => {
    fc.assert(
      fc.property(life, (steps) => {
        let text = '---\nname: A\n---\nBody.\n';
        let now = NOW;
        for (const { ask, running } of steps) {
          const before = read(text);
          now += 1000;
          try {
            text = take(text, ask, running, now);
          } catch (error) {
            const allowed = before.svc === undefined && NEEDS_SERVICE.includes(ask.action);
            if (!allowed || !isCoded(error, 'no_service')) throw error;
          }
          const after = read(text);
          expect(after.error).toBeUndefined();
          expect(after.body).toBe('Body.\n');
          if (!('outcome' in ask)) expect(after.outcome).toBe(before.outcome);
          if (after.status === 'active') {
            expect(after.tempered).toBeUndefined();
            expect(after).toMatchObject({ uid: ULID, svc: { host: 'host-a', project_dir: '/srv/dev' } });
            if (after.svc?.kind === 'standing') expect(after.svc.schedule).toBeDefined();
          }
          const wasUp = before.status === 'active' && before.svc?.kind === 'standing';
          // A worker that runs serves the role by its own end.
          if (after.status === 'active' && after.svc?.kind === 'standing' && !wasUp && !running)
            expect(after.svc.runtime?.handed_off_at).toBe(new Date(now).toISOString());
          // Once more changes nothing: every verb is where it wanted to be.
          if (before.svc !== undefined || !NEEDS_SERVICE.includes(ask.action))
            expect(stateOf(take(text, ask, running, now))).toEqual(stateOf(text));
        }
      }),
      { numRuns: 120 },
    );
  });

  function stateOf(text: string) {
    const { status, tempered, svc: block, outcome } = read(text);
    return { status, tempered, block, outcome };
  }

  it('describes the state of a fiber', () => {
    const lines = [
      [{ svc: role, status: 'active' }, 'work/loader: ready to start, on a schedule on host-a\n'],
      [{ status: 'closed' }, 'work/loader: closed, awaits review, no worker is started for it\n'],
      [{ status: 'closed', tempered: true }, 'work/loader: closed, accepted, no worker is started for it\n'],
      [
        { status: 'closed', tempered: false },
        'work/loader: closed, set aside, no worker is started for it\n',
      ],
    ] as const;
    for (const [over, line] of lines) expect(describeFiber(fiberDocument(over))).toBe(line);
  });
});
