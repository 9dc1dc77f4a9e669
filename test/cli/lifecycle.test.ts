import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';
import { stateAnswer } from './answers.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from './kit.ts';

let machine: Machine;
let temp: TempStore;
let server: StandIn | undefined;
beforeEach(async () => {
  machine = createMachine();
  temp = createTempStore();
  Object.assign(machine.env, { SVC_STORES: temp.root, SVC_HOST: 'host-a' });
  await temp.store.create({ name: 'a', outcome: 'Kept.' });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  temp.remove();
  machine.remove();
});
const stored = () => temp.store.read('a');

describe('the lifecycle verbs without a daemon', () => {
  it('[WPL-3] [LIF-4] [LIF-6] take a fiber through its life, each with its exit code and one line', async () => {
    const steps: [string[], string, object][] = [
      [
        ['install', 'a', '--project-dir', machine.folder],
        'a: ready to start, once on host-a',
        { status: 'active' },
      ],
      [['pause', 'a'], 'a: draft, once on host-a', { status: 'open' }],
      [['pause', 'a'], 'a: draft, once on host-a', { status: 'open' }],
      [['resume', 'a'], 'a: ready to start, once on host-a', { status: 'active' }],
      [['close', 'a'], 'a: closed, awaits review, once on host-a', { status: 'closed' }],
      [['accept', 'a'], 'a: closed, accepted, once on host-a', { tempered: true }],
      [['reopen', 'a'], 'a: ready to start, once on host-a', { status: 'active' }],
      [
        ['reshape', 'a', '--kind', 'standing', '--schedule', '@daily'],
        'a: ready to start, on a schedule on host-a',
        { svc: { schedule: '@daily' } },
      ],
      [
        ['close', 'a', '--outcome', 'New.'],
        'a: closed, awaits review, on a schedule on host-a',
        { outcome: 'New.' },
      ],
      [
        ['accept', 'a'],
        'a: ready to start, on a schedule on host-a',
        { status: 'active', svc: { runtime: { handed_off_at: expect.any(String) } } },
      ],
      [
        ['set-agent', 'a', 'codex'],
        'a: ready to start, on a schedule on host-a',
        { svc: { agent: 'codex' } },
      ],
      [['set-outcome', 'a', 'Kept.'], 'a: ready to start, on a schedule on host-a', { outcome: 'Kept.' }],
      [['uninstall', 'a'], 'a: draft, no worker is started for it', { status: 'open', outcome: 'Kept.' }],
    ];
    for (const [argv, line, document] of steps) {
      const ran = await machine.svc(...argv, '--local');
      expect(ran, argv.join(' ')).toEqual({ code: 0, out: `${line}\n`, err: '' });
      expect(stored()).toMatchObject(document);
    }
  });

  it.each([
    [['resume', 'a'], 1, 'no_service'],
    [['set-agent', 'a', 'codex'], 1, 'no_service'],
    [['accept', 'nobody'], 1, 'fiber_not_found'],
    [['pause', 'a', '--kill', '--yes'], 3, 'daemon_unreachable'],
    [['set-outcome', 'a', ''], 2, 'invalid_request'],
  ])('[WPL-3] refuse %j with exit code %d, and write nothing', async (argv, code, error) => {
    const { digest } = stored();
    const ran = await machine.svc(...argv, '--json');
    expect(ran.code).toBe(code);
    expect(JSON.parse(ran.err)).toMatchObject({ error, message: expect.any(String) });
    expect(stored().digest).toBe(digest);
  });

  it.each([[['reshape', 'a', '--kind', 'odd']], [['set-model', 'a']], [['accept']]])(
    'are a usage error as %j',
    async (argv) => {
      expect((await machine.svc(...argv)).code).toBe(2);
    },
  );
});

describe('the lifecycle verbs with a daemon', () => {
  async function serve(
    store: string,
    answer: { status?: number; text: string; code?: string },
    shown = rehearsal('accept a'),
  ): Promise<StandIn> {
    const { poll_health } = stateAnswer();
    server = await serveAnswers({
      'GET /state': {
        body: stateAnswer({
          poll_health: { ...poll_health, stores: [{ ...poll_health.stores[0]!, store }] },
        }),
      },
      'POST /lifecycle': {
        ...{ status: answer.status ?? 200, body: answer.text, text: true, code: answer.code },
        ...(answer.status === undefined ? { shown } : {}),
      },
    });
    machine.writeDaemonFile([server.listen]);
    return server;
  }

  it('[WPL-3] have the daemon of the store do the write, and print its text', async () => {
    const { seen } = await serve(temp.root, { text: 'a: closed, accepted, no worker is started for it\n' });
    const { digest } = stored();
    expect(await machine.svc('accept', 'a', '--outcome', 'New.')).toEqual({
      code: 0,
      out: 'a: closed, accepted, no worker is started for it\n',
      err: '',
    });
    expect(seen.findLast((call) => call.path === '/lifecycle')?.body).toEqual({
      action: 'accept',
      fiber: 'a',
      store: temp.root,
      outcome: 'New.',
    });
    expect(stored().digest).toBe(digest);
  });

  it('[ERR-18] print its refusal as their own', async () => {
    await serve(temp.root, { status: 422, text: 'svc exited 1: it is not so\n', code: 'agent_unknown' });
    expect(await machine.svc('accept', 'a')).toEqual({ code: 1, out: '', err: 'svc: it is not so\n' });
    expect(JSON.parse((await machine.svc('accept', 'a', '--json')).err)).toMatchObject({
      error: 'agent_unknown',
    });
  });

  it('[WPL-3] accept asks before it cuts a worker off, and says without a terminal what to type', async () => {
    const would = 'end its worker, which has not closed the fiber, and accept a';
    const cut = { ...rehearsal(would, { ends: ['a-svc'] }), interrupts: ['a-svc'] };
    const { seen } = await serve(temp.root, { text: 'a: closed, accepted\nIts worker was ended.\n' }, cut);
    const written = () => seen.filter(({ body }) => (body as { dry_run?: boolean } | null)?.dry_run !== true);
    const accepts = () => written().filter(({ path }) => path === '/lifecycle');
    expect(await machine.svc('accept', 'a')).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `this would ${would}, and without a terminal nobody is asked whether it may; if it may: svc accept a --yes`,
      ),
    });
    expect(accepts()).toHaveLength(0);
    expect(await machine.svc('accept', 'a', '--yes')).toMatchObject({
      code: 0,
      out: 'a: closed, accepted\nIts worker was ended.\n',
    });
    expect(await machine.svc('accept', 'a', '--keep-worker')).toMatchObject({ code: 0 });
    expect(accepts().map(({ body }) => body)).toMatchObject([{ action: 'accept' }, { keep_worker: true }]);
  });

  it('write the document themselves if the daemon does not poll its store, or with --local', async () => {
    const { seen } = await serve('/srv/other', { text: 'never\n' });
    expect((await machine.svc('accept', 'a')).code).toBe(0);
    expect(stored()).toMatchObject({ status: 'closed', tempered: true });
    expect((await machine.svc('reopen', 'a', '--local')).code).toBe(0);
    expect(stored().status).toBe('open');
    expect(seen.filter((call) => call.path === '/lifecycle')).toEqual([]);
  });
});
