import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { unifiedDiff } from '../../../src/fibers/text-diff.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const rehearse = (fiber_id: string, more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id, dry_run: true, ...more })) as Promise<Rehearsal>;
const dispatch = (fiber_id: string, more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id, ...more }));

/** Everything that a launch leaves behind, in memory and on disk. */
const traces = () => ({
  texts: [...world.documents.files],
  writes: world.documents.writes,
  creates: world.machine.creates.length,
  kills: [...world.machine.kills],
  ledger: world.ledger.length,
  on_disk: readdirSync(world.data_dir, { recursive: true }),
  state: JSON.stringify(daemon.state()),
});

describe('a rehearsed dispatch', () => {
  it.each([
    ['of a closed fiber', {}, {}, { status: 'closed', 'closed-at': '2026-01-02T00:00:00.000Z' }],
    ['of a fiber with a message', { user_message: 'Hurry, "please"' }, {}, {}],
    ['of a role outside its schedule', { ad_hoc: true }, { kind: 'standing', schedule: '"0 8 * * *"' }, {}],
    ['with a directory', { project_dir: '/srv/other' }, { project_dir: '/srv/gone' }, {}],
  ])('[WPL-1] %s writes nothing, and then the real one is byte-equal', async (_, request, svc, top) => {
    world.directories.set('/srv/gone', { kind: 'missing' });
    const path = world.fiber('a', svc, top);
    await world.run(daemon.dispatcher.reconcile());
    const before = world.documents.files.get(path)!;
    const untouched = traces();
    // The ids and the clock are the same for both, so every byte has to be.
    const ids = { newUlid: daemon.world.newUlid, newUuid: daemon.world.newUuid };
    const ulid = world.ulid();
    daemon.world.newUlid = () => ulid;
    daemon.world.newUuid = () => '00000000-0000-4000-8000-000000000001';
    const now = world.clock.now();
    world.clock.now = () => now;
    const shown = await rehearse('a', request);
    expect(traces()).toEqual(untouched);

    const reply = await dispatch('a', request);
    Object.assign(daemon.world, ids);
    expect(reply).toMatchObject({ dispatched: true, run_id: shown.minted.run_id });
    const run = daemon.world.runDirectories.directory(shown.minted.launch_id!);
    expect(readFileSync(join(run, 'prompt.md'), 'utf8')).toBe(shown.prompt);
    const after = world.documents.files.get(path)!;
    expect(shown.documents).toEqual([{ path, diff: unifiedDiff(path.slice(1), before, after) }]);
    expect(shown.documents[0]?.diff).not.toBe('');
    const [create] = world.machine.creates;
    expect([create?.name, create?.cwd]).toEqual([shown.command?.mux_session, shown.command?.cwd]);
    const script = readFileSync(join(run, 'run.sh'), 'utf8');
    expect(shown.command?.argv).toEqual(['/opt/demo', '<prompt>']);
    expect(script).toContain("'/opt/demo'");
    for (const name of shown.command!.env) expect(script).toContain(name);
  });

  it('[WPL-1] that would be refused is refused in the same words, and leaves no blocked row', async () => {
    world.directories.set('/srv/dev', { kind: 'missing' });
    world.fiber('a', {}, { status: 'closed' });
    await world.run(daemon.dispatcher.reconcile());
    const untouched = traces();
    const shown = await rehearse('a');
    expect(traces()).toEqual(untouched);
    expect(shown).toEqual(await dispatch('a'));
    expect(shown).toMatchObject({ dispatched: false, reason: 'arm_refused', needs: 'project_dir' });
  });

  it('of a fiber whose worker runs starts nothing, and with force names the session that it would end', async () => {
    world.fiber('a');
    await world.run(daemon.round());
    const { session } = world.machine.worker('a');
    expect(await rehearse('a')).toMatchObject({ would: expect.stringContaining('runs already'), ends: [] });
    expect((await rehearse('a', { force: true })).ends).toEqual([session.name]);
    const kill = { fiber_id: 'a', dry_run: true } as const;
    expect((await world.run(perform(daemon.dispatcher.kills, kill))).ends).toEqual([session.name]);
    expect([world.machine.living.length, world.machine.kills]).toEqual([1, []]);
    expect(existsSync(join(world.data_dir, 'runs'))).toBe(true);
  });

  it('shows the names of the variables and none of their values', async () => {
    world.fiber('a');
    daemon.world.workerEnv.SVC_SECRET = 'hunter2';
    const shown = await rehearse('a');
    expect(shown.command?.env).toContain('SVC_SECRET');
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });
});

describe('a forced start', () => {
  it.each<[string, Record<string, string>, Record<string, string | null>]>([
    ['project_dir', { project_dir: '/srv/gone' }, {}],
    ['no uid', {}, { id: null }],
    ['the agent', { agent: 'nobody' }, {}],
    ['the effort', { effort: 'heroic' }, {}],
    ['the surface', { surface: 'app' }, {}],
    ['a store', { project_dir: '/srv/store' }, {}],
    ['another host', { host: 'host-b' }, {}],
  ])(
    '[WPL-1] [LIF-3] [ERR-17] refused for %s has cut no session and written no byte',
    async (_, svc, top) => {
      world.directories.set('/srv/gone', { kind: 'missing' });
      world.directories.set('/srv/store', { kind: 'in_store' });
      const path = world.fiber('a', {}, top.id === null ? {} : top);
      await world.run(daemon.round());
      expect(world.machine.living).toHaveLength(1);
      world.documents.edit(path, (text) =>
        Object.entries({ project_dir: '/srv/dev', ...svc }).reduce(
          (next, [key, value]) => next.replace(/^svc:\n/m, `svc:\n  ${key}: ${value}\n`),
          (top.id === null ? text.replace(/^id: .*\n/m, '') : text)
            .replace(/^ {2}project_dir: .*\n/m, '')
            .replace('host: host-a\n', svc.host === undefined ? 'host: host-a\n' : '')
            .replace(/^ {2}host: host-b\n/m, ''),
        ),
      );
      const { texts, creates, kills, ledger, on_disk } = traces();
      const refused = await dispatch('a', { force: true });
      expect(refused).toMatchObject({ dispatched: false, fiber_id: 'a', host: 'host-a' });
      expect(traces()).toMatchObject({ texts, creates, kills, ledger, on_disk });
      expect(world.machine.living).toHaveLength(1);
    },
  );
});
