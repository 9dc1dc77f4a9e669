import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runningRow, stateAnswer } from '../answers.ts';
import { createMachine, type Machine, type StandIn, serveDaemon } from '../kit.ts';

let machine: Machine;
let daemon: StandIn;
let store: string;
beforeEach(async () => {
  machine = createMachine();
  store = join(machine.folder, 'notes');
  Object.assign(machine.env, { SVC_STORES: store, SVC_HOST: 'host-a' });
  for (const args of [
    ['init', store],
    ['add', 'Work'],
    ['add', 'Loader', '--parent', 'work'],
    ['add', 'Other'],
  ])
    expect(await machine.svc('fiber', ...args)).toMatchObject({ code: 0 });
  const running = [runningRow({ fiber_id: 'work/loader', uid: '01J', store, mux_session: 'loader-svc' })];
  const state = stateAnswer({ running });
  state.poll_health.stores[0]!.store = store;
  daemon = await serveDaemon(machine, {
    'GET /state': { body: state },
    'GET /fibers/composite': {
      body: {
        host: 'host-a',
        origins: {
          'host-a': { read: { fibers: [] } },
          'host-b': { read: { fibers: [{ id: 'far/away', uid: null }] } },
        },
      },
    },
    'POST /kill': {
      body: { killed: true, fiber_id: 'work/loader', mux_session: 'loader-svc' },
    },
  });
});
afterEach(() => machine.remove());
const document = (id: string, leaf: string) => join(store, '.fibers', id, `${leaf}.md`);

describe('svc fiber rm of a fiber with a worker', () => {
  it.each([
    { what: 'the fiber itself', args: ['work/loader'] },
    { what: 'a rehearsal', args: ['work/loader', '--dry-run'] },
    { what: 'a fiber above it', args: ['work', '--recursive'] },
  ])('is refused for $what, names the worker and removes nothing', async ({ args }) => {
    const refused = await machine.svc('fiber', 'rm', ...args, '--yes');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('a worker runs for work/loader (loader-svc)');
    expect(refused.err).toContain('--kill');
    expect(existsSync(document('work/loader', 'loader'))).toBe(true);
    expect(daemon.seen.map(({ path }) => path)).not.toContain('/kill');
  });

  it('stops the worker first with --kill', async () => {
    expect(await machine.svc('fiber', 'rm', 'work', '--recursive', '--kill', '--yes')).toMatchObject({
      code: 0,
      err: '',
    });
    expect(daemon.seen.filter(({ path }) => path === '/kill')).toMatchObject([{ body: { fiber_id: '01J' } }]);
    expect(existsSync(document('work', 'work'))).toBe(false);
  });

  it('says nothing of workers of other fibers', async () => {
    expect(await machine.svc('fiber', 'rm', 'other', '--yes')).toMatchObject({ code: 0 });
    expect(existsSync(document('other', 'other'))).toBe(false);
  });
});

describe('svc fiber rm of a fiber that is not here', () => {
  it('[RTE-2] names the host that has it, and what to run there', async () => {
    expect(await machine.svc('fiber', 'rm', 'far', '--yes')).toMatchObject({
      code: 1,
      out: '',
      err:
        'svc: far/away is on host-b\n' +
        'svc: a fiber is removed on its own host only; on host-b run: svc fiber rm far/away\n',
    });
  });

  it('says that nobody has it, where no host does and where no daemon answers', async () => {
    const refused = await machine.svc('fiber', 'rm', 'farther', '--yes');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('no fiber is called farther');
    machine.env.SVC_DATA_DIR = join(machine.folder, 'none');
    expect((await machine.svc('fiber', 'rm', 'farther', '--yes')).err).toBe(refused.err);
  });
});

describe('svc pause of a closed fiber', () => {
  it('says that nothing was changed, and why nothing starts', async () => {
    await machine.svc('install', 'other', '--project-dir', machine.folder, '--local');
    await machine.svc('close', 'other', '--local');
    expect((await machine.svc('pause', 'other', '--local')).out).toContain(
      'Nothing was changed: it is closed, so nothing starts for it until it is resumed.',
    );
  });
});
