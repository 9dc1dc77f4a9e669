import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SESSION_STARTS_FILE } from '../../../src/dispatch/run-directory/session-starts.ts';
import type { Worker } from '../world/fake-machine.ts';
import { AGENT, type Daemon, FakeWorld, LEARNING } from '../world/fake-world.ts';

const MINUTE = 60_000;
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const dispatch = (fiber_id: string, more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id, ...more }));
const restart = () => {
  daemon = world.boot({ released: true });
};
const promptOf = (worker: Worker) => readFileSync(join(worker.run_dir, 'prompt.md'), 'utf8');
const runtimeOf = (id: string) => world.documents.index.get(id).svc?.runtime;
const sessionOf = (id: string) => runtimeOf(id)?.session_uuid ?? 'none';
/** What is written of a hook for the start of a session. */
const reports = (worker: Worker, source: string, session: string) =>
  appendFileSync(
    join(worker.run_dir, SESSION_STARTS_FILE),
    `${JSON.stringify({ at: world.clock.now(), type: 'session_start', source, session, transcript: null })}\n`,
    { mode: 0o600 },
  );

/** A fiber whose worker wrote a conversation and then died without a word; answers its session. */
async function cutOff(id: string, svc: Record<string, string> = {}): Promise<string> {
  world.fiber(id, svc, svc.kind === 'pinned' ? { status: 'open' } : {});
  if (svc.kind === undefined) await round();
  else await dispatch(id);
  const session = sessionOf(id);
  world.clock.advance(1_000);
  world.writesConversation(session);
  world.machine.exit(world.machine.worker(id), { code: 1 });
  return session;
}

describe('the start after a conversation was cut off', () => {
  it('[RES-3] [PRM-3] resumes it in the same session, says so in the prompt, the markers and the ledger', async () => {
    const session = await cutOff('a');
    await round();
    expect(world.planned.map((request) => request.resume)).toEqual([null, session]);
    const prompt = promptOf(world.machine.worker('a')).split('\n');
    expect(prompt).toContain('Mode: resume');
    expect(prompt.some((line) => line.startsWith('Previous session'))).toBe(false);
    expect(runtimeOf('a')).toMatchObject({ session_uuid: session, run_id: daemon.row('a')?.runtime?.run_id });
    expect(daemon.row('a')?.runtime?.session_uuid).toBe(session);
    expect(world.ledger.map((line) => [line.kind, line.session, line.resumed])).toEqual([
      ['dispatch', session, undefined],
      ['ended', session, undefined],
      ['dispatch', session, true],
    ]);
  });

  it('[RES-3] [LIM-17] is fresh once it is cold, after 45 minutes unless set, and names the session and its transcript', async () => {
    const session = await cutOff('a');
    await world.run(daemon.dispatcher.reconcile());
    world.clock.advance(46 * MINUTE);
    await round();
    expect(sessionOf('a')).not.toBe(session);
    expect(promptOf(world.machine.worker('a'))).toContain(
      `Previous session: ${session} (claude); it ended without a handoff and is not resumed; transcript: /t/${session}.jsonl`,
    );
  });

  it('[RES-3] finds its run without reading those of others', async () => {
    const session = await cutOff('a');
    await world.run(daemon.dispatcher.reconcile());
    const all = vi.spyOn(daemon.world.runDirectories, 'all');
    await round();
    expect(world.planned.at(-1)?.resume).toBe(session);
    expect(all).not.toHaveBeenCalled();
  });

  it('[RES-1] starts although the document names a run as no directory can be named', async () => {
    await cutOff('a');
    await world.run(daemon.dispatcher.reconcile());
    const { path } = world.documents.index.get('a');
    world.documents.edit(path, (text) => text.replace(/^( *run_id:).*$/m, '$1 ../../elsewhere'));
    await round();
    expect(world.machine.worker('a')).toBeDefined();
    expect(runtimeOf('a')?.run_id).toBe(daemon.row('a')?.runtime?.run_id);
  });

  it('[RES-3] takes the warm window from the settings', async () => {
    world.env.SVC_RESUME_WARM_WINDOW_MS = '60000';
    restart();
    const session = await cutOff('a');
    await world.run(daemon.dispatcher.reconcile());
    world.clock.advance(61_000);
    await round();
    expect(sessionOf('a')).not.toBe(session);
  });

  it('[RES-2] [RES-8] is fresh after a handoff, however warm', async () => {
    world.fiber('a');
    await round();
    const session = sessionOf('a');
    world.writesConversation(session);
    await world.handOff('a');
    await round();
    expect(world.planned.at(-1)?.resume).toBeNull();
    expect(promptOf(world.machine.worker('a')).split('\n')).toContain(
      `Previous session: ${session} (claude)`,
    );
  });

  it.each([
    ['leaves closed-at', (text: string) => text],
    ['leaves no trace of the close', (text: string) => text.replace(/^closed-at: .*\n/m, '')],
  ])('[RES-8] is fresh once the fiber was closed and an edit by hand that %s arms it', async (_, trace) => {
    const session = await cutOff('a');
    const { path } = world.documents.index.get('a');
    const closed_at = new Date(world.clock.now() + 5_000).toISOString();
    world.documents.edit(path, (text) =>
      text.replace('status: active', `status: closed\nclosed-at: ${closed_at}`),
    );
    await round();
    restart();
    world.documents.edit(path, (text) => trace(text.replace('status: closed', 'status: active')));
    await round();
    expect(world.planned.at(-1)?.resume).toBeNull();
    expect(promptOf(world.machine.worker('a'))).toContain(
      `Previous session: ${session} (claude); it ended without a handoff and is not resumed; transcript: /t/${session}.jsonl`,
    );
  });

  it('[RES-8] is fresh once a daemon that was started after the end saw the fiber closed', async () => {
    await cutOff('a');
    const { path } = world.documents.index.get('a');
    const parked = (status: string) =>
      world.documents.edit(path, (text) => text.replace(/^status: .*$/m, `status: ${status}`));
    parked('open');
    await round();
    restart();
    parked('closed');
    await round();
    parked('active');
    await round();
    expect(world.planned.at(-1)?.resume).toBeNull();
  });

  it('[RES-8] resumes in a fiber that was closed and armed again while its worker ran', async () => {
    world.fiber('a');
    await round();
    const session = sessionOf('a');
    const { path } = world.documents.index.get('a');
    const closed_at = new Date(world.clock.now()).toISOString();
    world.documents.edit(path, (text) =>
      text.replace('status: active', `status: closed\nclosed-at: ${closed_at}`),
    );
    await round();
    world.documents.edit(path, (text) => text.replace('status: closed', 'status: active'));
    await round();
    world.clock.advance(1_000);
    world.writesConversation(session);
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    expect(world.planned.at(-1)?.resume).toBe(session);
  });

  it('[RES-3] is decided the same by a daemon that was started in between', async () => {
    const session = await cutOff('a');
    restart();
    await round();
    await round();
    expect(world.planned.at(-1)?.resume).toBe(session);
    expect(world.machine.creates).toHaveLength(2);
  });

  it('[RES-3] names a session of another program, which that program’s own adapter finds', async () => {
    const session = await cutOff('a');
    world.documents.edit(world.documents.index.get('a').path, (text) =>
      text.replace('  project_dir', '  agent: learning\n  project_dir'),
    );
    await round();
    expect(world.planned.at(-1)).toMatchObject({ resume: null, agent: { id: LEARNING.id } });
    expect(world.queries.filter((query) => query.session_uuid === session).at(-1)).toMatchObject({
      harness: 'claude',
      agent: { id: AGENT.id },
    });
    expect(promptOf(world.machine.worker('a'))).toContain(
      `Previous session: ${session} (claude); it ended without a handoff and is not resumed; transcript: /t/${session}.jsonl`,
    );
  });

  it('[RES-3] is fresh in another folder, and the same by another name of the folder', async () => {
    const session = await cutOff('a');
    const path = world.documents.index.get('a').path;
    world.documents.edit(path, (text) => text.replace('/srv/dev', '/srv/other'));
    await round();
    expect(world.planned.at(-1)).toMatchObject({ resume: null, project_dir: '/srv/other' });
    expect(promptOf(world.machine.worker('a'))).toContain(`transcript: /t/${session}.jsonl`);

    const other = await cutOff('b');
    world.directories.set('/link', { kind: 'directory', real: '/srv/dev' });
    world.documents.edit(world.documents.index.get('b').path, (text) => text.replace('/srv/dev', '/link'));
    await round();
    expect(world.planned.at(-1)).toMatchObject({ resume: other, project_dir: '/link' });
  });

  it.each([true, false])(
    '[RES-3] [PRM-5] is fresh in another folder, and names the transcript of a program that keeps them by folder (run directory kept: %s)',
    async (kept) => {
      const session = await cutOff('a');
      world.conversation_folders.set(session, '/srv/dev');
      world.past.set(session, { kind: 'found', path: `/t/${session}.jsonl`, cwd: '/srv/dev' });
      const { path } = world.documents.index.get('a');
      world.documents.edit(path, (text) =>
        text.replace('status: active', 'status: open').replace('/srv/dev', '/srv/other'),
      );
      await round();
      if (!kept) rmSync(world.machine.workers[0]!.run_dir, { recursive: true });
      restart();
      world.documents.edit(path, (text) => text.replace('status: open', 'status: active'));
      await round();
      expect(world.planned.at(-1)).toMatchObject({ resume: null, project_dir: '/srv/other' });
      expect(promptOf(world.machine.worker('a'))).toContain(
        `Previous session: ${session} (claude); it ended without a handoff and is not resumed; transcript: /t/${session}.jsonl`,
      );
    },
  );

  it('[RES-3] is fresh while the disk does not tell of the transcript, says so, and does not loop', async () => {
    const session = await cutOff('a');
    world.conversations.set(session, { kind: 'unknown', detail: 'EIO' });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(promptOf(world.machine.worker('a'))).toContain(
      `Previous session: ${session} (claude); it ended without a handoff and is not resumed; its transcript could not be looked for (EIO)`,
    );
    expect(world.machine.creates).toHaveLength(2);
  });

  it('[RES-3] finds a conversation whose id the program had not told when it died', async () => {
    world.fiber('a', { agent: LEARNING.id });
    await world.run(daemon.dispatcher.reconcile());
    await world.run(daemon.dispatcher.rounds.startDue());
    const launch = world.machine.worker('a').run_dir.split('/').at(-1) ?? '';
    expect(sessionOf('a')).toBe('none');
    world.clock.advance(1_000);
    world.writesTranscript(launch, 'learned-late');
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await world.run(daemon.dispatcher.reconcile());
    await world.run(daemon.dispatcher.rounds.startDue());
    expect(world.planned.at(-1)?.resume).toBe('learned-late');
  });

  it.each(['pinned', 'standing'])(
    '[RES-6] [RES-7] of a %s role is fresh, and resumed when asked for',
    async (kind) => {
      const session = await cutOff('a', { kind, schedule: '"0 0 1 1 *"' });
      await round();
      await dispatch('a');
      expect(world.planned.at(-1)?.resume).toBeNull();
      expect(promptOf(world.machine.worker('a'))).toContain(
        `Previous session: ${session} (claude); it ended`,
      );
      const second = sessionOf('a');
      world.clock.advance(1_000);
      world.writesConversation(second);
      world.machine.exit(world.machine.worker('a'), { code: 1 });
      await round();
      const reply = await dispatch('a', { resume_mode: 'continue', user_message: 'One more thing.' });
      expect(reply).toMatchObject({ dispatched: true, resumed: true, session_uuid: second });
      expect(promptOf(world.machine.worker('a'))).toMatch(/Mode: resume[\s\S]*From User:\nOne more thing\.$/);
    },
  );

  it('[RES-7] is what `resume_mode` says: previous after a handoff, fresh while warm', async () => {
    world.fiber('a', {}, {});
    await round();
    const session = sessionOf('a');
    world.writesConversation(session);
    await world.handOff('a');
    await world.run(daemon.dispatcher.reconcile());
    expect(await dispatch('a', { resume_mode: 'previous' })).toMatchObject({
      resumed: true,
      session_uuid: session,
    });
    world.clock.advance(1_000);
    world.writesConversation(session, { size: 200 });
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await world.run(daemon.dispatcher.reconcile());
    const reply = await dispatch('a', { resume_mode: 'fresh' });
    expect(reply).not.toHaveProperty('resumed');
    expect(promptOf(world.machine.worker('a'))).toContain(`Previous session: ${session} (claude); it ended`);
  });

  it('[RES-8] [LIF-4] is fresh for a fiber that was closed in between', async () => {
    const session = await cutOff('a');
    await world.run(daemon.dispatcher.reconcile());
    world.documents.edit(world.documents.index.get('a').path, (text) => text.replace('active', 'closed'));
    world.documents.list();
    expect(await dispatch('a')).toMatchObject({ dispatched: true });
    expect(sessionOf('a')).not.toBe(session);
    expect(world.planned.at(-1)?.resume).toBeNull();
  });

  it('[RES-9] is refused while a person has it open, shown as blocked, and tried again after the cooldown', async () => {
    const session = await cutOff('a');
    const other = world.machine.session('resume-00000000-0000-4000-8000-000000000000');
    world.machine.others = [world.machine.session(`resume-${session}`), other];
    const writes = world.documents.writes;
    await round();
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'session_open_in_resume', attempts: 1 });
    expect(daemon.row('a')?.blocked?.message).toContain(`resume-${session}`);
    expect(await dispatch('a')).toMatchObject({ dispatched: false, reason: 'session_open_in_resume' });
    expect([world.machine.creates.length, world.documents.writes]).toEqual([1, writes]);
    world.machine.others = [other];
    world.clock.advance(6 * MINUTE);
    await round();
    expect(world.planned.at(-1)?.resume).toBe(session);
    expect(daemon.row('a')?.blocked).toBeUndefined();
  });

  it('[RES-9] is refused before a running worker is cut for it', async () => {
    world.fiber('a');
    await round();
    const session = sessionOf('a');
    world.writesConversation(session);
    world.machine.others = [world.machine.session(`resume-${session}`)];
    const reply = await dispatch('a', { force: true, resume_mode: 'previous' });
    expect(reply).toMatchObject({ dispatched: false, reason: 'session_open_in_resume' });
    expect(world.machine.worker('a').alive).toBe(true);
  });

  it('[WPL-1] cuts a running worker for a fresh start that is told what was cut', async () => {
    world.fiber('a');
    await round();
    const session = sessionOf('a');
    world.writesConversation(session);
    await dispatch('a', { force: true });
    expect(world.planned.at(-1)?.resume).toBeNull();
    expect(promptOf(world.machine.worker('a'))).toContain(`Previous session: ${session} (claude); it ended`);
  });
});

describe('a conversation that was resumed in vain', () => {
  /** A resumed worker dies before it wrote anything. */
  async function inVain(): Promise<string> {
    const session = await cutOff('a');
    await round();
    expect(world.planned.at(-1)?.resume).toBe(session);
    world.clock.advance(1_000);
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    return session;
  }
  const starts = () => world.planned.map((request) => request.resume);

  it('[P7] is followed by one fresh start that names it', async () => {
    const session = await inVain();
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(starts()).toEqual([null, session, null]);
    expect(promptOf(world.machine.worker('a'))).toContain(
      `Previous session: ${session} (claude); it ended without a handoff and is not resumed; transcript: /t/${session}.jsonl`,
    );
  });

  it('[P7] has that start once, wherever between the two the daemon is killed', async () => {
    for (let effects = 1; effects < 14; effects += 1) {
      world.dispose();
      world = new FakeWorld();
      daemon = world.boot({ released: true });
      const session = await inVain();
      world.crashIn(effects);
      if (await world.crashes(daemon.round())) restart();
      world.crashIn(null);
      for (let turn = 0; turn < 3; turn += 1) {
        await round();
        world.clock.advance(20_000);
      }
      const living = world.machine.living;
      expect([effects, living.length, world.machine.creates.length]).toEqual([effects, 1, 3]);
      expect(promptOf(living[0]!)).toContain(`Previous session: ${session} (claude); it ended`);
    }
  });

  it('[P7] is shown as unconfirmed, not as started, while nothing has grown', async () => {
    const session = await cutOff('a');
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('starting');
    world.writesConversation(session, { size: 101 });
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('running');
  });

  it('[P7] was none when it grew: it is resumed again', async () => {
    const session = await cutOff('a');
    await round();
    world.clock.advance(1_000);
    world.writesConversation(session, { size: 101 });
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    expect(starts()).toEqual([null, session, session]);
  });

  it.each(['standing', 'pinned'])(
    '[P7] [PRM-7] of a %s role gives its message to the fresh start',
    async (kind) => {
      const session = await cutOff('a', { kind, schedule: '"0 0 1 1 *"' });
      await round();
      await dispatch('a', { resume_mode: 'continue', user_message: 'One more thing.' });
      expect(starts().at(-1)).toBe(session);
      world.clock.advance(1_000);
      world.machine.exit(world.machine.worker('a'), { code: 1 });
      await world.run(daemon.dispatcher.reconcile());
      restart();
      await round();
      expect(starts().at(-1)).toBeNull();
      expect(promptOf(world.machine.worker('a'))).toMatch(/From User:\nOne more thing\.$/);
      world.clock.advance(1_000);
      world.machine.exit(world.machine.worker('a'), { code: 1 });
      await round();
      await round();
      expect(starts()).toHaveLength(3);
      expect(daemon.row('a')?.status).toBe(kind === 'standing' ? 'closed' : 'open');
    },
  );

  it('[P7] owes nothing to a fiber that is disarmed', async () => {
    await cutOff('a', { kind: 'standing', schedule: '"0 0 1 1 *"' });
    await round();
    await dispatch('a', { resume_mode: 'continue', user_message: 'One more thing.' });
    world.clock.advance(1_000);
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await world.run(daemon.dispatcher.reconcile());
    const path = world.documents.index.get('a').path;
    world.documents.edit(path, (text) => text.replace('active', 'open'));
    await round();
    world.documents.edit(path, (text) => text.replace('open', 'active'));
    await round();
    restart();
    await round();
    expect(starts()).toHaveLength(2);
  });

  it('[P7] by a person’s kill owes nothing', async () => {
    await cutOff('a');
    await round();
    await world.run(daemon.dispatcher.kills.kill('a'));
    await round();
    expect(daemon.memory.owed.size).toBe(0);
    expect(world.machine.living).toEqual([]);
  });
});

describe('a session that goes on under another id', () => {
  it('[P7] is followed after /clear by the document, the row and the ledger, and is what is resumed', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    const first = sessionOf('a');
    world.writesConversation(first);
    reports(worker, 'startup', first);
    reports(worker, 'clear', 'second');
    await round();
    expect([sessionOf('a'), daemon.row('a')?.runtime?.session_uuid]).toEqual(['second', 'second']);
    expect(world.ledger.map((line) => [line.kind, line.session])).toEqual([
      ['dispatch', first],
      ['learned', 'second'],
    ]);
    world.clock.advance(1_000);
    world.writesConversation('second');
    world.machine.exit(worker, { code: 1 });
    await round();
    expect(world.planned.at(-1)?.resume).toBe('second');
  });

  it('[P7] is followed although the worker died before anybody looked, and the daemon with it', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    reports(worker, 'clear', 'second');
    world.clock.advance(1_000);
    world.writesConversation('second');
    world.machine.exit(worker, { code: 1 });
    restart();
    await round();
    expect(world.planned.at(-1)?.resume).toBe('second');
    expect(world.ledger.map((line) => line.session)).toContain('second');
  });

  it('[P7] is not that of an agent that the worker itself started', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    const first = sessionOf('a');
    world.writesConversation(first);
    for (const [source, session] of [
      ['startup', first],
      ['startup', 'inside'],
      ['resume', 'inside'],
      ['compact', 'inside'],
    ] as const) {
      reports(worker, source, session);
      await round();
    }
    expect(sessionOf('a')).toBe(first);
    expect(world.ledger).toHaveLength(1);
  });

  it('[P7] is followed later when the document could not be written at first', async () => {
    world.fiber('a');
    await round();
    world.writesConversation(sessionOf('a'));
    await round();
    reports(world.machine.worker('a'), 'clear', 'second');
    world.documents.locked = true;
    await round();
    expect(daemon.row('a')?.runtime?.session_uuid).not.toBe('second');
    world.documents.locked = false;
    await round();
    expect(sessionOf('a')).toBe('second');
  });
});
