import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { LifecycleCalls } from '../../../src/dispatch/requests/lifecycle-calls.ts';
import { dismissIncident, resumeIncident } from '../../../src/dispatch/requests/resume-incident.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { unifiedDiff } from '../../../src/fibers/text-diff.ts';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const traces = () => ({
  texts: [...world.documents.files],
  creates: world.machine.creates.length,
  kills: [...world.machine.kills],
  ledger: world.ledger.length,
  on_disk: readdirSync(world.data_dir, { recursive: true }),
  state: JSON.stringify(daemon.state()),
});
const untimed = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

/** Rehearses, sees that nothing moved, does it in earnest, and holds the document against what was shown. */
async function asShown(
  path: string,
  rehearse: () => Promise<unknown>,
  earnest: () => Promise<unknown>,
): Promise<Rehearsal> {
  const untouched = traces();
  const before = world.documents.files.get(path)!;
  const shown = (await world.run(rehearse())) as Rehearsal;
  expect(traces()).toEqual(untouched);
  await world.run(earnest());
  const diff = unifiedDiff(path.slice(1), before, world.documents.files.get(path)!);
  expect(untimed(shown.documents.map((one) => one.diff).join(''))).toBe(untimed(diff));
  return shown;
}

function lifecycle(): LifecycleCalls {
  return new LifecycleCalls({
    world: daemon.world,
    memory: daemon.memory,
    dispatcher: daemon.dispatcher,
    look: (reference) => world.documents.index.get(reference),
    agents: () => ({ agents: world.agents, names: { demo: 'demo' }, default_id: 'demo', problem: null }),
    cli: null,
    onMoved: () => {},
  });
}
const STANDING = { kind: 'standing', schedule: '"* * * * *"', tz: 'UTC' };

async function roleAtWork(): Promise<string> {
  const path = world.fiber('a', STANDING);
  await round();
  world.clock.advance(61_000);
  await round();
  expect(world.machine.living).toHaveLength(1);
  return path;
}

describe('a rehearsal', () => {
  it('[WPL-4] of a kill shows what the end of a role writes into its document', async () => {
    const path = await roleAtWork();
    const { session } = world.machine.worker('a');
    const { dispatcher } = daemon;
    const shown = await asShown(
      path,
      () => perform(dispatcher.kills, { fiber_id: 'a', dry_run: true }),
      () => dispatcher.kills.kill('a'),
    );
    expect(shown).toMatchObject({ ends: [session.name], would: expect.stringContaining('hold the fiber') });
    expect(shown.documents).toHaveLength(1);
    expect(await world.run(dispatcher.kills.kill('a'))).toMatchObject({ killed: true, already_killed: true });
  });

  it.each(['pause', 'close', 'uninstall'] as const)(
    '[WPL-3] of %s with kill shows the write on top of that of the worker’s end',
    async (action) => {
      const path = await roleAtWork();
      const calls = lifecycle();
      const request = { action, fiber: 'a', kill: true } as const;
      const shown = await asShown(
        path,
        () => calls.lifecycle({ ...request, dry_run: true }),
        () => calls.lifecycle(request),
      );
      expect(shown.ends).toHaveLength(1);
    },
  );

  it('[WPL-2] of a move shows what it writes, and a refusal as the move itself', async () => {
    const path = await roleAtWork();
    const calls = lifecycle();
    await asShown(
      path,
      () => calls.transition({ fiber_id: 'a', target: 'drafts', dry_run: true }),
      () => calls.transition({ fiber_id: 'a', target: 'drafts' }),
    );
    world.directories.set('/srv/dev', { kind: 'missing' });
    world.fiber('b', {}, { status: 'closed' });
    await round();
    const move = { fiber_id: 'b', target: 'inFlight' } as const;
    const shown = await world.run(calls.transition({ ...move, dry_run: true }));
    expect(shown).toMatchObject({ invoked: false, reason: 'arm_refused', target: 'inFlight' });
    expect(shown).toEqual(await world.run(calls.transition(move)));
  });

  it('[WPL-3] of a verb is refused in the words of the verb', async () => {
    world.documents.write('plain', 'name: Plain');
    await round();
    const calls = lifecycle();
    const request = { action: 'resume', fiber: 'plain' } as const;
    const shown = await world.run(calls.lifecycle({ ...request, dry_run: true }));
    expect(shown).toMatchObject({ status: 1, error: 'no_service' });
    expect(shown).toEqual(await world.run(calls.lifecycle(request)));
  });

  it('[WPL-5] of the claim of a capture shows its markers, and of the same claim once more nothing', async () => {
    const path = world.fiber('a', {}, { status: 'open' });
    await round();
    const claim = { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null };
    const request = { prompt: 'Do it.', project_dir: '/srv/dev', claim, store: STORE };
    const untouched = traces();
    const start = await world.run(
      daemon.dispatcher.surfaces.cli.captures.capture({ ...request, dry_run: true }),
    );
    expect(traces()).toEqual(untouched);
    expect(start).toMatchObject({ dry_run: true, prompt: expect.stringContaining('Do it.') });
    const captured = await world.run(daemon.dispatcher.surfaces.cli.captures.capture(request));
    if (!captured.captured) throw new Error('refused');
    await round();
    const { claims } = daemon.dispatcher.surfaces.cli;
    const mine = { fiber_id: 'a', mux_session: captured.mux_session ?? '' };
    const shown = await asShown(
      path,
      () => claims.claim({ ...mine, dry_run: true }),
      () => claims.claim(mine),
    );
    expect(shown.documents[0]?.diff).toContain(captured.run_id);
    expect(await world.run(claims.claim({ ...mine, dry_run: true }))).toMatchObject({
      would: expect.stringContaining('write nothing'),
      documents: [],
    });
    await expect(world.run(claims.claim({ ...mine, mux_session: 'x', dry_run: true }))).rejects.toMatchObject(
      {
        code: 'worker_exists',
      },
    );
  });

  it('[P2] of an incident shows every start, and what stays on the list', async () => {
    for (const name of ['a', 'b', 'c']) world.fiber(name);
    await round();
    await round();
    world.clock.advance(60_000);
    world.machine.loseServer({ told: true });
    for (let turn = 0; turn < 4; turn += 1) {
      await round();
      world.clock.advance(60_000);
    }
    const row = world.documents.index.get('b');
    world.documents.edit(row.path, (text) => text.replace('status: active', 'status: closed'));
    world.documents.list();
    const untouched = traces();
    const shown = await world.run(resumeIncident(daemon, { dry_run: true }));
    expect((await dismissIncident(daemon.memory, { dry_run: true })).would).toContain('off the list');
    expect(traces()).toEqual(untouched);
    const started = shown.steps.filter(({ prompt }) => prompt !== null);
    expect([shown.steps.length, started.length]).toEqual([3, 2]);
    expect(shown.steps.map(({ would }) => would)).toContainEqual('drop b: it is not armed any more');
    const { fibers } = await world.run(resumeIncident(daemon, {}));
    expect(fibers.filter(({ outcome }) => outcome === 'started')).toHaveLength(2);
    await expect(world.run(resumeIncident(daemon, { id: 'nobody', dry_run: true }))).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
