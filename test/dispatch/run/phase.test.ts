import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunView } from '../../../src/contract/fiber.ts';
import { lastSignOf, phaseOf } from '../../../src/dispatch/run/run-phase.ts';
import {
  type PhaseSign,
  phaseSignsMark,
  readPhaseSigns,
} from '../../../src/dispatch/run-directory/phase-signs.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const NOW = 10_000_000;
const STARTED = NOW - 3_600_000;
const sign = (phase: PhaseSign['phase'], before: number, said: string | null = null): PhaseSign => ({
  at: NOW - before,
  session: 's',
  phase,
  said,
});

describe('the phase of a running worker', () => {
  it.each([
    ['a worker that never told anything', null, null, 59_999, 60_000],
    ['one whose transcript rests', null, 1_000_000, 1_179_999, 1_180_000],
    ['one whose transcript grew after its last hook', 0, 1_000_000, 1_179_999, 1_180_000],
    ['one that is known to be idle', 1_000_000, 1_000_000, 9_000_000, null],
  ])(
    '[P16] asks a person to look a minute after it became unknown: %s',
    (_, idle_at, grew_at, not_yet, from) => {
      const told =
        idle_at === null ? null : { at: idle_at, session: 's', phase: 'idle' as const, said: null };
      const asks = (now: number) =>
        phaseOf({ sign: told, last_activity_at: grew_at, started_at: 0, now }).needs_look ?? false;
      expect(asks(not_yet)).toBe(false);
      expect(asks(from ?? 99_000_000)).toBe(from !== null);
    },
  );

  it('[P16] is that of the latest sign of its session, whatever hook wrote first', () => {
    const [working, idle, foreign] = [sign('working', 20), sign('idle', 10), sign('attention', 0)];
    const signs = [sign('idle', 90), idle, working, { ...foreign, session: 'other' }];
    expect(lastSignOf(signs, 's')).toBe(idle);
    expect(lastSignOf(signs, 'none')).toBeNull();
  });

  it.each<[string, PhaseSign | null, number | null, [string, number | null, string | null, string | null]]>([
    ['unknown where nothing tells', null, null, ['unknown', null, null, null]],
    ['working while its transcript grows', null, 60_000, ['working', 60_000, 'transcript', null]],
    ['unknown where its transcript rests and no hook tells', null, 180_000, ['unknown', null, null, null]],
    [
      'working in a long turn, by its hook',
      sign('working', 900_000),
      600_000,
      ['working', 900_000, 'hook', null],
    ],
    [
      'waiting with its question',
      sign('waiting', 5_000, 'may I?'),
      6_000,
      ['waiting', 5_000, 'hook', 'may I?'],
    ],
    [
      'idle since its turn ended',
      sign('idle', 7_200_00, 'done'),
      719_000,
      ['idle', 7_200_00, 'hook', 'done'],
    ],
    [
      'attention after a turn that failed',
      sign('attention', 90_000, 'API Error'),
      null,
      ['attention', 90_000, 'hook', 'API Error'],
    ],
    [
      'still waiting though its transcript grew before the question was told again',
      { ...sign('waiting', 60_000, 'may I?'), told_at: NOW - 40_000 },
      41_000,
      ['waiting', 60_000, 'hook', 'may I?'],
    ],
    [
      'working again when its transcript grows after the question was told again',
      { ...sign('waiting', 60_000, 'may I?'), told_at: NOW - 40_000 },
      30_000,
      ['working', 30_000, 'transcript', null],
    ],
    [
      'working again when its transcript grows after the end',
      sign('idle', 60_000, 'done'),
      30_000,
      ['working', 30_000, 'transcript', null],
    ],
    [
      'unknown when its transcript grew after the end and rests',
      sign('idle', 600_000, 'done'),
      300_000,
      ['unknown', 300_000, 'transcript', null],
    ],
    [
      'not told by a sign of before its start',
      { ...sign('idle', 0), at: STARTED - 1 },
      60_000,
      ['working', 60_000, 'transcript', null],
    ],
  ])('[P16] is %s', (_title, told, active_before, [phase, since_before, source, said]) => {
    const last_activity_at = active_before === null ? null : NOW - active_before;
    const { needs_look: _, ...seen } = phaseOf({
      sign: told,
      last_activity_at,
      started_at: STARTED,
      now: NOW,
    });
    expect(seen).toEqual({
      phase,
      phase_since: since_before === null ? null : NOW - since_before,
      phase_source: source,
      said,
    });
  });
});

describe('a worker whose hooks tell', () => {
  let world: FakeWorld;
  let daemon: Daemon;
  beforeEach(() => {
    world = new FakeWorld();
    daemon = world.boot({ released: true });
  });
  afterEach(() => world.dispose());

  const round = () => world.run(daemon.round());
  const run = () => daemon.memory.runs.all()[0]!;
  const shown = (): RunView => daemon.row('a')!.runtime!;
  const file = () => join(world.data_dir, 'runs', run().launch_id, 'phases.jsonl');
  const tell = (phase: PhaseSign['phase'], said: string | null = null, session = run().session_uuid) =>
    appendFileSync(file(), `${JSON.stringify({ at: world.clock.now(), session, phase, said })}\n`);

  async function works(): Promise<void> {
    world.fiber('a');
    await round();
    world.writesTranscript(run().launch_id, run().session_uuid ?? '');
    await round();
  }

  it('[P16] is shown in the phase that they told last, since its first sign', async () => {
    await works();
    world.clock.advance(10_000);
    const begun = world.clock.now();
    tell('working');
    await round();
    world.clock.advance(300_000);
    tell('working');
    await round();
    expect(shown()).toMatchObject({ phase: 'working', phase_since: begun, phase_source: 'hook', said: null });
    world.clock.advance(10_000);
    const asked = world.clock.now();
    tell('waiting', 'asks to use Bash');
    await round();
    const waiting = { phase: 'waiting', phase_since: asked, phase_source: 'hook', said: 'asks to use Bash' };
    expect(shown()).toMatchObject(waiting);
    world.clock.advance(6_000);
    world.writesTranscript(run().launch_id, run().session_uuid ?? '');
    await world.run(daemon.dispatcher.watchActivity());
    expect(shown()).toMatchObject({ phase: 'working', phase_source: 'transcript' });
    tell('waiting', 'Claude needs your permission');
    await round();
    expect(shown()).toMatchObject(waiting);
  });

  it('[P16] is shown with its second question, though both and the work between were told at once', async () => {
    await works();
    for (const [phase, said] of [
      ['waiting', 'asks to run: rm'],
      ['working', null],
      ['waiting', 'Which one?'],
      ['waiting', 'Claude needs your permission'],
    ] as const) {
      if (said !== 'Claude needs your permission') world.clock.advance(200);
      else world.clock.advance(6_000);
      tell(phase, said);
      if (said === 'asks to run: rm') await round();
    }
    await round();
    expect(shown()).toMatchObject({ phase: 'waiting', said: 'Which one?' });
    expect(shown().phase_since).toBe(world.clock.now() - 6_000);
  });

  it.each(['working', 'waiting', 'idle'] as const)(
    '[P16] is shown %s after a restart as before it, from the moment that it is known',
    async (phase) => {
      await works();
      world.clock.advance(10_000);
      tell(phase === 'working' ? 'idle' : 'working');
      for (const words of ['asks to use Bash', 'Claude needs your permission']) {
        tell(phase, words);
        world.clock.advance(1_000);
        await round();
      }
      const { last_activity_at: _, ...before } = shown();
      expect(before).toMatchObject({ state: 'running', phase });
      daemon = world.boot();
      daemon.rows.refreshAll([]);
      await world.run(daemon.dispatcher.reconcile());
      expect(shown()).toMatchObject(before);
      world.writesTranscript(run().launch_id, run().session_uuid ?? '');
      await world.run(daemon.dispatcher.watchActivity());
      expect(shown().last_activity_at).toBe(world.clock.now());
    },
  );

  it('[P16] is shown to have ended its turn where only its transcript tells so, until a hook tells more', async () => {
    await works();
    world.clock.advance(10_000);
    const path = run().transcript_path!;
    world.turn_ends.set(path, { at: world.clock.now() - 1, failed: 'an end of before' });
    tell('working');
    await round();
    expect(shown()).toMatchObject({ phase: 'working', phase_source: 'hook' });
    const end = { at: world.clock.now() + 500, failed: '400 not like this' };
    world.clock.advance(1_000);
    world.turn_ends.set(path, end);
    const grows = async () => {
      world.writesTranscript(run().launch_id, run().session_uuid ?? '');
      await round();
      await round();
    };
    await grows();
    const failed = { phase: 'attention', phase_since: end.at, phase_source: 'transcript' };
    expect(shown()).toMatchObject({ ...failed, said: end.failed });
    world.clock.advance(10_000);
    tell('working');
    await round();
    expect(shown()).toMatchObject({ phase: 'working', phase_source: 'hook', said: null });
    world.said.set(path, 'Half of it.');
    world.turn_ends.set(path, { at: world.clock.now() + 1, failed: null });
    world.clock.advance(1_000);
    await grows();
    expect(shown()).toMatchObject({ phase: 'idle', phase_source: 'transcript', said: 'Half of it.' });
  });

  it('[P16] shows what its transcript says last where the hook has no words', async () => {
    await works();
    world.clock.advance(10_000);
    world.said.set(run().transcript_path ?? '', 'I have written the loader.');
    tell('idle');
    await round();
    expect(shown()).toMatchObject({ phase: 'idle', said: 'I have written the loader.' });
  });

  it('[P16] is not taken for an agent that the worker itself started', async () => {
    await works();
    tell('working');
    world.clock.advance(1_000);
    tell('idle', 'the review is done', 'another-session');
    await round();
    expect(shown()).toMatchObject({ phase: 'working' });
  });

  it('[P16] [P1] is shown in the same phase after a restart of the daemon', async () => {
    await works();
    world.clock.advance(1_000);
    tell('idle', 'done');
    await round();
    const before = shown();
    daemon = world.boot({ released: true });
    await round();
    await round();
    expect(shown()).toMatchObject({ phase: 'idle', phase_since: before.phase_since, said: 'done' });
  });

  it('does not mind lines that are torn or no signs', async () => {
    await works();
    appendFileSync(file(), 'x\n{"at":"soon"}\n');
    tell('idle', 'done');
    appendFileSync(file(), '{"at":1,"ses');
    expect(readPhaseSigns(join(file(), '..')).map(({ phase }) => phase)).toEqual(['idle']);
    await round();
    expect(shown()).toMatchObject({ phase: 'idle' });
  });

  it('has no mark before its first sign', async () => {
    await works();
    expect(phaseSignsMark(join(file(), '..'))).toBeNull();
    expect(phaseSignsMark(join(file(), '..', 'nowhere'))).toBeNull();
  });
});
