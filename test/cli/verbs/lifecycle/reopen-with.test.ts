import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTempStore, type TempStore } from '../../../fixtures/fibers/temp-store.ts';
import { createMachine, type Machine, serveDaemon } from '../../kit.ts';

let machine: Machine;
let temp: TempStore;
beforeEach(async () => {
  machine = createMachine();
  temp = createTempStore();
  Object.assign(machine.env, { SVC_STORES: temp.root, SVC_HOST: 'host-a' });
  await temp.store.create({ name: 'a', status: 'closed' });
});
afterEach(() => {
  temp.remove();
  machine.remove();
});

const STARTED = {
  ...{ dispatched: true, already_running: false, fiber_id: 'a', host: 'host-a', surface: 'cli' },
  ...{ mux_session: 'a-1-svc', session_uuid: null, run_id: 'r', agent: 'claude-sonnet', harness: 'claude' },
};
const serve = (body: object, status = 200) => serveDaemon(machine, { 'POST /dispatch': { status, body } });

describe('svc reopen --message', () => {
  it('[LIF-4] [PRM-7] starts the next worker with the words in its prompt, in one request', async () => {
    const { seen } = await serve(STARTED);
    expect(await machine.svc('reopen', 'a', '-m', 'Greet in Dutch too.')).toEqual({
      code: 0,
      out: 'claude-sonnet works on a, and is told your message.\nWatch it with: svc attach a\n',
      err: '',
    });
    machine.context.stdin = Readable.from(['From a file.\n']) as typeof machine.context.stdin;
    await machine.svc('reopen', 'a', '--message', '-');
    expect(seen).toEqual([
      { path: '/dispatch', body: { fiber_id: 'a', user_message: 'Greet in Dutch too.' } },
      { path: '/dispatch', body: { fiber_id: 'a', user_message: 'From a file.\n' } },
    ]);
  });

  it('says that the fiber stays closed where the start is refused', async () => {
    const refusal = { dispatched: false, reason: 'stopped_all', fiber_id: 'a', host: 'host-a' };
    await serve({ ...refusal, message: 'the brake is on' }, 422);
    const { code, err } = await machine.svc('reopen', 'a', '-m', 'x');
    expect([code, err]).toEqual([1, 'svc: a stays closed: the brake is on\n']);
  });

  const receipt = { message_id: 'm', address: 'svc://host-a/claude/s', at: 1, detail: 'it ended' };

  it('[LIF-4] says what became of the words as a message to a worker that somebody else has started', async () => {
    await serve({
      ...{ ...STARTED, already_running: true, notes: ['the message waits for the worker'] },
      receipt: { ...receipt, status: 'queued', transport: 'held' },
    });
    expect(await machine.svc('reopen', 'a', '-m', 'x')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^claude-sonnet works on a\.\nNote: the message waits for the worker\n/),
    });
  });

  it('[LIF-4] fails where that worker was not told them', async () => {
    await serve({
      ...{ ...STARTED, already_running: true },
      receipt: { ...receipt, status: 'rejected', transport: 'none' },
    });
    expect(await machine.svc('reopen', 'a', '-m', 'x')).toMatchObject({
      code: 1,
      err: 'svc: a worker of a runs already, and was not told your message: it ended\n',
    });
  });

  it.each([
    ['an empty message', ['-m', ' '], 'the message is empty'],
    ['a message without the daemon', ['-m', 'x', '--local'], 'leave --local out'],
  ])('refuses %s before it asks', async (_, argv, words) => {
    const { seen } = await serve(STARTED);
    const { code, err } = await machine.svc('reopen', 'a', ...argv);
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(seen).toEqual([]);
  });

  it('refuses a fiber that is not closed, and names what to type instead', async () => {
    const { seen } = await serve(STARTED);
    await temp.store.create({ name: 'b' });
    const { err } = await machine.svc('reopen', 'b', '-m', 'x');
    expect(err).toContain("svc send b '…', or start one with: svc dispatch b --message '…'");
    expect(seen).toEqual([]);
  });

  it('needs a daemon, without which the fiber stays as it is', async () => {
    const { digest } = temp.store.read('a');
    expect((await machine.svc('reopen', 'a', '-m', 'x')).code).toBe(3);
    expect(temp.store.read('a').digest).toBe(digest);
  });
});
