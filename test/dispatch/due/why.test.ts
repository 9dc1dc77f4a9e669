import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HoldFiles } from '../../../src/config/hold-files.ts';
import { GATES, LAUNCH_CHECKS } from '../../../src/contract/gates.ts';
import type { Why } from '../../../src/contract/http/why.ts';
import { Quarantine } from '../../../src/dispatch/holds/quarantine.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const why = (fiber: string, look = true): Promise<Why> => world.run(daemon.dispatcher.why(fiber, { look }));

/** One fiber and all that may keep it back; the defaults keep nothing back. */
type Case = {
  status: 'open' | 'active' | 'closed';
  host: string;
  kind: 'oneshot' | 'standing' | 'pinned';
  due: boolean;
  tempered: boolean;
  block: boolean;
  broken: boolean;
  running: boolean;
  uid: boolean;
  surface: 'cli' | 'app';
  project_dir: '/srv/dev' | '/srv/gone' | 'relative' | null;
  agent: string;
  effort: string | null;
  program: boolean;
  brake: boolean;
  mux: boolean;
  hold: 'killed' | 'server_lost' | null;
  released: boolean;
  paused: boolean;
  cooldown: boolean;
  limited: boolean;
  /** A person has its last conversation open. */
  open: boolean;
  /** The data folder was deleted. */
  lost: boolean;
  leased: boolean;
  /** Another daemon has marked a run of its own. */
  elsewhere: boolean;
  most: number | null;
  others: number;
  /** The machine is short of memory. */
  short: boolean;
};

/** The values of each fact: the usual one, which nothing is wrong with, and the rare ones. */
const FACTS: { [K in keyof Case]: readonly [Case[K], ...Case[K][]] } = {
  status: ['active', 'open', 'closed'],
  host: ['host-a', 'host-b'],
  kind: ['oneshot', 'standing', 'pinned'],
  due: [true, false],
  tempered: [false, true],
  block: [true, false],
  broken: [false, true],
  running: [false, true],
  uid: [true, false],
  surface: ['cli', 'app'],
  project_dir: ['/srv/dev', '/srv/gone', 'relative', null],
  agent: ['demo', 'nobody'],
  effort: [null, 'high', 'heroic'],
  program: [true, false],
  brake: [false, true],
  mux: [true, false],
  hold: [null, 'killed', 'server_lost'],
  released: [true, false],
  paused: [false, true],
  cooldown: [false, true],
  limited: [false, true],
  open: [false, true],
  lost: [false, true],
  leased: [true, false],
  elsewhere: [false, true],
  most: [null, 1, 2],
  others: [0, 1, 2],
  short: [false, true],
};
const USUAL = Object.fromEntries(Object.entries(FACTS).map(([name, [usual]]) => [name, usual])) as Case;
const ONE_RARE: Case[] = Object.entries(FACTS).flatMap(([name, [, ...rare]]) =>
  rare.map((value) => ({ ...USUAL, [name]: value })),
);
/** The bound that is reached, and a standing role whose time has not come, take two facts. */
const TWO_RARE: Case[] = [
  { ...USUAL, most: 1, others: 1 },
  { ...USUAL, kind: 'standing', due: false },
];

const mostly = <T>([usual, ...rare]: readonly [T, ...T[]]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const anyCase = fc.record({
  ...(Object.fromEntries(
    Object.entries(FACTS).map(([name, values]) => [name, mostly<unknown>(values)]),
  ) as unknown as { [K in keyof Case]: fc.Arbitrary<Case[K]> }),
  kind: fc.constantFrom(...FACTS.kind),
  others: fc.constantFrom(...FACTS.others),
});

/** Makes a world in which all this is so, with the fiber `x`, on the eve of a round. */
async function arrange(one: Case): Promise<{ world: FakeWorld; daemon: Daemon }> {
  const made = new FakeWorld();
  made.most_workers = one.most;
  if (one.short) made.free = { ...made.free, memory: 0 };
  made.directories.set('/srv/gone', { kind: 'missing' });
  const started = made.boot({ released: true });
  for (let at = 0; at < one.others; at += 1) {
    made.fiber(`other-${at}`);
    await made.run(started.dispatcher.reconcile());
    await made.run(started.dispatcher.dispatch({ fiber_id: `other-${at}` }));
  }
  const svc: Record<string, string> = {
    kind: one.kind,
    host: one.host,
    agent: one.agent,
    surface: one.surface,
    ...(one.kind === 'standing' ? { schedule: one.due ? '"* * * * *"' : '"0 0 1 1 *"' } : {}),
    ...(one.effort === null ? {} : { effort: one.effort }),
  };
  if (one.project_dir !== null) svc.project_dir = one.project_dir;
  const open = one.open && one.kind === 'oneshot' && one.host === 'host-a' && one.uid && !one.running;
  const runs = one.running || open;
  const path = made.fiber(
    'x',
    { ...svc, ...(runs ? { agent: 'demo', project_dir: '/srv/dev', surface: 'cli' } : {}) },
    { ...(one.uid ? {} : { id: null }), 'created-at': new Date(made.clock.now() - 120_000).toISOString() },
  );
  await made.run(started.dispatcher.reconcile());
  if (one.running && one.uid && one.host === 'host-a')
    await made.run(started.dispatcher.dispatch({ fiber_id: 'x' }));
  if (open && (await made.run(started.dispatcher.dispatch({ fiber_id: 'x' }))).dispatched) {
    const session = made.documents.index.get('x').svc?.runtime?.session_uuid ?? '';
    made.clock.advance(1_000);
    made.writesConversation(session);
    made.machine.exit(made.machine.worker('x'), { code: 1 });
    await made.run(started.dispatcher.reconcile());
    made.machine.others = [made.machine.session(`resume-${session}`)];
  }
  made.documents.edit(path, (text) => {
    let next = text.replace(/^status: .*$/m, `status: ${one.status}`);
    if (one.project_dir === null) next = next.replace(/^ {2}project_dir: .*\n/m, '');
    if (one.tempered) next = next.replace(/^status:/m, 'tempered: true\nstatus:');
    if (one.elsewhere && !runs)
      next = next.replace(
        /^svc:\n/m,
        `$&  runtime:\n    daemon: machine-b/2\n    dispatched_at: ${new Date(made.clock.now()).toISOString()}\n`,
      );
    if (!one.block) next = next.replace(/^svc:\n(?: .*\n)*/m, '');
    if (one.broken) next = next.replace(/^status: .*$/m, 'status: [x');
    return next;
  });
  made.documents.list();
  const { memory } = started;
  const document = made.documents.index.getPath(path)!;
  const key = document.uid ?? document.path;
  if (one.cooldown)
    memory.refusals.record(key, { reason: 'r', message: 'm' }, made.clock.now(), made.clock.now() + 300_000);
  if (one.paused)
    for (let at = 0; at < 5; at += 1)
      memory.breaker.record(key, { kind: 'died', lived_ms: 0 }, made.clock.now(), 'l');
  if (one.limited)
    memory.limits.note(
      {
        account: 'claude-own',
        family: null,
        agent: 'demo',
        notice: 'n',
        at: made.clock.now(),
        until: made.clock.now() + 3_600_000,
        told: true,
      },
      made.clock.now(),
    );
  if (!one.released) Object.assign(memory, { quarantine: freshQuarantine(started) });
  if (one.hold !== null)
    memory.quarantine.hold(key, { reason: one.hold, at: made.clock.now(), launch_id: null, store: null });
  if (one.brake) memory.brake.pull(null, made.clock.now());
  if (!one.program)
    started.world.harness.probe = () => Promise.reject(new Error('the program cannot be run'));
  if (one.lost) made.data_dir_fault = 'it was deleted';
  if (!one.leased) made.lease = { state: 'elsewhere', holder: null, detail: null };
  if (!one.mux) made.machine.listing = 'unknown';
  await made.run(started.dispatcher.reconcile());
  return { world: made, daemon: started };
}

function freshQuarantine({ world }: Daemon): Quarantine {
  const { logger, clock, settings } = world;
  const files = new HoldFiles({ folder: join(settings.data_dir, 'fresh'), logger });
  return new Quarantine({ files, logger, now: clock.now() });
}

describe('the answer to why', () => {
  it('[DSP-2] [DSP-5] [LIF-2] is what the dispatcher then does, for each fact alone and for random fibers', {
    timeout: 120_000,
  }, async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyCase, async (one) => {
        const { world: made, daemon: started } = await arrange(one);
        try {
          const before = started.memory.runs.get(keyIn(made));
          const told = await made.run(started.dispatcher.why('x', { look: true }));
          const outcome = told.first?.gate ?? 'launches';
          seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
          const refusalsBefore = started.memory.refusals.get(keyIn(made))?.attempts ?? 0;
          const creates = made.machine.creates.length;
          await made.run(started.dispatcher.rounds.startDue());
          const launched = made.machine.creates.slice(creates).some(({ name }) => name.startsWith('x-'));
          const refusal = started.memory.refusals.get(keyIn(made));
          const refused =
            (refusal?.attempts ?? 0) > refusalsBefore ||
            (refusal !== undefined && refusal.reason !== 'r' && refusalsBefore === 0);

          expect(launched).toBe(told.verdict === 'launches');
          const isCheck = (LAUNCH_CHECKS as readonly string[]).includes(told.first?.gate ?? '');
          // A shut gate stops it without a word; a check that fails is a refusal with the same words.
          if (told.verdict === 'waits' && isCheck)
            expect(refusal).toMatchObject({ reason: told.first?.reason, message: told.first?.message });
          else if (!one.paused && !one.limited) expect(refused).toBe(false);
          if (told.verdict === 'running') expect(before).toBeDefined();
          expect(told.gates.map(({ gate }) => gate)).toEqual([...GATES, ...LAUNCH_CHECKS]);
          if (told.first !== null) expect(told.first.mend).toMatch(/`(svc|host)|editor|`svc/);
        } finally {
          made.dispose();
        }
      }),
      { numRuns: 500, examples: [USUAL, ...ONE_RARE, ...TWO_RARE].map((one) => [one]) },
    );
    // The property would hold for a list that is never asked: each gate and check has to have been the first shut one.
    for (const gate of [...GATES, ...LAUNCH_CHECKS, 'launches']) expect([...seen.keys()]).toContain(gate);
  });

  it('names the first shut gate and leaves the checks behind it unasked, so that no directory is touched', async () => {
    world.fiber('a', {}, { status: 'closed' });
    await world.run(daemon.dispatcher.reconcile());
    const told = await why('a');
    expect(told.first).toMatchObject({ gate: 'status', reason: 'status' });
    expect(told.first?.mend).toContain('`svc dispatch a`');
    expect(told.gates.filter(({ state }) => state === 'not_asked').map(({ gate }) => gate)).toEqual([
      ...LAUNCH_CHECKS,
    ]);
    expect(told.project_dir).toEqual({ path: '/srv/dev', looked_at: false });
    expect(world.looked).toEqual([]);
  });

  it('[DSP-4] looks at the directory of a fiber that passed every gate only when it is asked to look', async () => {
    world.fiber('a');
    await world.run(daemon.dispatcher.reconcile());
    world.directories.set('/srv/dev', { kind: 'missing' });
    expect(await why('a', false)).toMatchObject({
      verdict: 'launches',
      project_dir: { looked_at: false },
    });
    expect(world.looked).toEqual([]);
    const told = await why('a');
    expect(told).toMatchObject({
      verdict: 'waits',
      first: { gate: 'project_dir', reason: 'project_dir_missing' },
      project_dir: { looked_at: true },
    });
    expect(told.first?.mend).toContain('--project-dir');
    expect([daemon.row('a')?.blocked, world.documents.writes, world.machine.creates.length]).toEqual([
      undefined,
      0,
      0,
    ]);
  });

  it('[DSP-5] after a refusal tells what was refused, until when, and how to start it at once', async () => {
    world.fiber('a', { project_dir: '/srv/gone' });
    world.directories.set('/srv/gone', { kind: 'missing' });
    await world.run(daemon.round());
    const told = await why('a');
    expect(told.first?.gate).toBe('cooldown');
    expect(told.first?.message).toContain('/srv/gone does not exist');
    expect(told.blocked?.reason).toBe('project_dir_missing');
    expect(daemon.row('a')?.gate).toBe('cooldown');
  });

  it('is named in the row of an armed fiber that does not run, and in no other', async () => {
    world.fiber('waits');
    world.fiber('parked', {}, { status: 'open' });
    world.fiber('elsewhere', { host: 'host-b' });
    daemon.memory.brake.pull(null, world.clock.now());
    await world.run(daemon.round());
    expect(['waits', 'parked', 'elsewhere'].map((id) => daemon.row(id)?.gate)).toEqual([
      'stopped_all',
      undefined,
      undefined,
    ]);
    daemon.memory.brake.release();
    await world.run(daemon.round());
    expect(daemon.row('waits')?.gate).toBeUndefined();
    expect(await why('waits')).toMatchObject({ verdict: 'running', first: { gate: 'running' } });
    expect((await why('waits')).first?.message).toMatch(
      /^its worker (works|runs; what it does now is not known|is being started, since )/,
    );
  });
});

function keyIn(made: FakeWorld): string {
  const document = made.documents.index.get('x');
  return document.uid ?? document.path;
}

describe('a role that never runs', () => {
  it.each([
    ['schedule', { schedule: '"0 9 * *"' }, '`svc repeat a --schedule "0 9 * * *"`'],
    ['tz', { schedule: '"0 9 * * *"', tz: 'Mars/Phobos' }, "--schedule '0 9 * * *' --tz Europe/Paris`"],
    ['tz', { schedule: '"0 9 * * *"', tz: '""' }, "--schedule '0 9 * * *' --tz Europe/Paris`"],
  ] as const)('for its %s is told which one, and a command that mends it', async (field, svc, command) => {
    world.fiber('a', { kind: 'standing', ...svc });
    await world.run(daemon.round());
    expect((await why('a')).first).toMatchObject({
      gate: 'due',
      message: expect.stringContaining(`svc.${field}`),
      mend: expect.stringContaining(command),
    });
    expect(world.machine.creates).toEqual([]);
  });
});
