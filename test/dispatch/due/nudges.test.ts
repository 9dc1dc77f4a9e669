import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import { isNudgeDue, type NudgeFacts, nudgeText } from '../../../src/dispatch/due/nudges.ts';
import type { PhaseSign } from '../../../src/dispatch/run-directory/phase-signs.ts';
import { type Daemon, FakeWorld, HOST } from '../world/fake-world.ts';

const MINUTE = 60_000;
const DUE: NudgeFacts = {
  document: { status: 'active', svc: { kind: 'oneshot', host: 'host-a', when_idle: 'nudge' } },
  worker: { state: 'running', phase: 'idle', phase_since: 0, session_uuid: 's' },
  ...{ host: 'host-a', claimed: false, nudged: false, braked: false, limited: false },
  ...{ after_ms: 10 * MINUTE, now: 10 * MINUTE },
};
const worker = (over: Partial<NudgeFacts['worker']>) => ({ worker: { ...DUE.worker, ...over } });
const document = (svc: object, status: FiberDocument['status'] = 'active') => ({
  document: { status, svc: { ...DUE.document.svc, ...svc } as FiberDocument['svc'] },
});

describe('a worker is nudged', () => {
  it('once it has been idle for the time that the setting says', () => {
    expect(isNudgeDue(DUE)).toBe(true);
    expect(isNudgeDue({ ...DUE, now: 10 * MINUTE - 1 })).toBe(false);
  });

  it.each<[string, Partial<NudgeFacts>]>([
    ['whose fiber does not say so', document({ when_idle: undefined })],
    ['whose fiber is closed', document({}, 'closed')],
    ['whose fiber is parked', document({}, 'open')],
    ['whose fiber was given to another host', document({ host: 'host-b' })],
    ['that works', worker({ phase: 'working' })],
    ['that waits for a permission', worker({ phase: 'waiting' })],
    ['whose turn failed', worker({ phase: 'attention' })],
    ['of which nothing is known', worker({ phase: 'unknown' })],
    ['that is starting', worker({ state: 'starting' })],
    ['that is idle since nobody knows when', worker({ phase_since: null })],
    ['whose session is not known', worker({ session_uuid: null })],
    ['of a session that a person began', { claimed: true }],
    ['that was nudged', { nudged: true }],
    ['while starts are stopped', { braked: true }],
    ['that met a usage limit', { limited: true }],
  ])('but not one %s', (_what, over) => {
    expect(isNudgeDue({ ...DUE, ...over })).toBe(false);
  });

  it('with a text that names its fiber in a command that can be typed', () => {
    expect(nudgeText('work/loader')).toContain("svc fiber edit work/loader --outcome '…' --status closed");
    expect(nudgeText('it’s (here)')).toContain("svc fiber edit 'it’s (here)' --outcome");
  });
});

describe('the daemon', () => {
  let world: FakeWorld;
  let daemon: Daemon;
  beforeEach(() => {
    world = new FakeWorld();
    daemon = world.boot({ released: true });
  });
  afterEach(() => world.dispose());

  const round = () => world.run(daemon.round());
  async function works(
    id: string,
    more: Record<string, string>,
  ): Promise<(phase: PhaseSign['phase']) => void> {
    world.fiber(id, more);
    await round();
    const run = daemon.memory.runs.all().find(({ fiber_id }) => fiber_id === id)!;
    const session = run.session_uuid ?? '';
    world.writesTranscript(run.launch_id, session);
    await round();
    return (phase) => {
      const sign = { session, at: world.clock.now(), phase, said: null };
      appendFileSync(
        join(world.data_dir, 'runs', run.launch_id, 'phases.jsonl'),
        `${JSON.stringify(sign)}\n`,
      );
    };
  }

  it('[P13] nudges a worker once, whatever it does afterwards and whoever is restarted', async () => {
    const tell = await works('a', { when_idle: 'nudge' });
    world.clock.advance(1_000);
    tell('idle');
    await round();
    expect(world.sent).toEqual([]);
    world.clock.advance(10 * MINUTE);
    for (let time = 0; time < 3; time += 1) await round();
    const [{ run_id, session_uuid } = { run_id: '', session_uuid: '' }] = daemon.memory.runs.all();
    const message = {
      address: `svc://${HOST}/claude/${session_uuid}`,
      text: nudgeText('a'),
      message_id: `nudge-${run_id}`,
    };
    expect(world.sent).toEqual([message]);
    tell('working');
    world.clock.advance(1_000);
    tell('idle');
    world.clock.advance(20 * MINUTE);
    await round();
    daemon = world.boot({ released: true });
    for (let time = 0; time < 3; time += 1) await round();
    expect(daemon.memory.runs.all()).toHaveLength(1);
    expect(world.sent).toEqual([message]);
  });

  it('nudges no worker whose fiber does not say so, and none once a person has stopped it', async () => {
    const tell = await works('quiet', {});
    const other = await works('stopped', { when_idle: 'nudge' });
    world.clock.advance(1_000);
    tell('idle');
    other('idle');
    await round();
    await world.run(daemon.dispatcher.kills.kill('stopped'));
    world.clock.advance(30 * MINUTE);
    for (let time = 0; time < 2; time += 1) await round();
    expect(world.sent).toEqual([]);
  });

  it('[P13] nudges at most once for each session, in whatever order its workers work, rest and are adopted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('idle', 'working', 'waiting', 'pass', 'restart'), { maxLength: 12 }),
        async (steps) => {
          world.dispose();
          world = new FakeWorld();
          daemon = world.boot({ released: true });
          const tell = await works('a', { when_idle: 'nudge' });
          for (const step of steps) {
            world.clock.advance(1_000);
            if (step === 'pass') world.clock.advance(15 * MINUTE);
            else if (step === 'restart') daemon = world.boot({ released: true });
            else tell(step as PhaseSign['phase']);
            await round();
          }
          expect(new Set(world.sent.map(({ message_id }) => message_id)).size).toBe(world.sent.length);
          expect(world.sent.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 20 },
    );
  });
});
