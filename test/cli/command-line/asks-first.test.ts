import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommands } from '../../../src/cli/command-line/command-table.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { stateAnswer } from '../answers.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';

let machine: Machine;
beforeEach(async () => {
  machine = createMachine();
  machine.env.SVC_STORES = join(machine.folder, 'notes');
  await machine.svc('fiber', 'init', machine.env.SVC_STORES);
  await machine.svc('fiber', 'add', 'Loader');
});
afterEach(() => machine.remove());

const DOCUMENT = ['notes', '.fibers', 'loader', 'loader.md'];
const isThere = () => existsSync(join(machine.folder, ...DOCUMENT));

/** Puts a person in front of the machine, who types this. */
function types(text: string): void {
  machine.context.stdin = Object.assign(Readable.from([text]), { isTTY: true });
}

/** Where the verbs are sent. */
const PATHS = ['/kill', '/dispatch', '/brake', '/lifecycle', '/transition'];
const watches = (store: string) => {
  const { poll_health, ...state } = stateAnswer();
  const [watched] = poll_health.stores;
  return { ...state, poll_health: { ...poll_health, stores: [{ ...watched, store }] } };
};
const KILLED = { killed: true, fiber_id: 'loader', mux_session: 'loader-svc' };
const ENDS = rehearsal('end the worker of loader and hold the fiber', { ends: ['loader-svc'] });
const CHANGES = {
  ...ENDS,
  documents: [{ path: 'loader.md', diff: '+status: open' }],
  interrupts: ['loader-svc'],
};
/** A daemon that rehearses `shown`, and counts what it was really told to do. */
async function serve(shown: object, path = '/kill', done: object = KILLED) {
  const { seen } = await serveDaemon(machine, {
    'GET /state': { body: stateAnswer() },
    [`POST ${path}`]: (body: unknown) => ((body as { dry_run?: boolean }).dry_run === true ? shown : done),
  });
  return () => seen.filter((call) => call.path === path && !('dry_run' in (call.body as object))).length;
}

/** Each verb that asks, with the options that make it end work or remove something. */
const DESTROYING = [
  ['accept', 'loader'],
  ['kill', 'loader'],
  ['dispatch', 'loader', '--force'],
  ['stop-all', '--kill'],
  ['pause', 'loader', '--kill'],
  ['close', 'loader', '--kill'],
  ['uninstall', 'loader'],
  ['fiber', 'rm', 'loader'],
  ['remotes', 'rm', 'host-b'],
];

describe('a verb that ends work or removes something', () => {
  it('declares that it asks, and then has --yes and --dry-run', async () => {
    const asking = (await readCommands(VERBS)).filter(({ verb }) => verb.asks !== undefined);
    expect(asking.map(({ path }) => path.join(' ')).sort()).toEqual(
      DESTROYING.map((argv) => (argv[1] === 'rm' ? argv.slice(0, 2).join(' ') : argv[0])).sort(),
    );
    for (const { options } of asking)
      expect(options.flatMap(({ names }) => names)).toEqual(expect.arrayContaining(['--yes', '--dry-run']));
  });

  it.each(DESTROYING)('without a terminal does nothing and names --yes: svc %s %s %s', async (...argv) => {
    const typed = argv.filter((word) => word !== undefined);
    await machine.svc('pin', 'loader', '--project-dir', '.');
    await machine.svc('remotes', 'add', 'host-b', '--port', '4001');
    const { seen } = await serveDaemon(machine, {
      'GET /state': { body: watches(machine.env.SVC_STORES!) },
      ...Object.fromEntries(PATHS.map((path) => [`POST ${path}`, { body: CHANGES }])),
    });
    const { code, out, err } = await machine.svc(...typed);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^svc: nothing was done: this would .+, and without a terminal nobody is asked whether it may; if it may: /,
    );
    expect(err).toContain(`if it may: svc ${typed.join(' ')} --yes\n`);
    expect(isThere()).toBe(true);
    for (const { path, body } of seen)
      if (path !== '/state') expect([path, body]).toEqual([path, expect.objectContaining({ dry_run: true })]);
  });

  it('says what is wrong before it asks', async () => {
    expect(await machine.svc('fiber', 'rm', 'quartz')).toMatchObject({
      code: 1,
      err: 'svc: no fiber is called quartz; svc fiber ls lists them\n',
    });
  });

  it('with --json asks nothing on a terminal either', async () => {
    types('y\n');
    const { code, err } = await machine.svc('fiber', 'rm', 'loader', '--json');
    expect([code, JSON.parse(err)]).toEqual([
      2,
      {
        error: 'invalid_request',
        message:
          'nothing was done: this would remove loader, and with --json nobody is asked whether it may; if it may: svc fiber rm loader --json --yes',
      },
    ]);
    expect(isThere()).toBe(true);
  });

  it('names the command with its words quoted', async () => {
    await serve(ENDS);
    const { err } = await machine.svc('kill', 'loader', '--note', 'wrong branch', '--');
    expect(err).toContain("if it may: svc kill loader --note 'wrong branch' --yes --\n");
  });

  it.each(['y\n', ' Yes \n'])('asks on a terminal what it would do, and goes on at %j', async (typed) => {
    const kills = await serve(ENDS);
    types(typed);
    const { code, out, err } = await machine.svc('kill', 'loader');
    expect(err).toBe('End the worker of loader and hold the fiber? [y/N] ');
    expect([code, out.split('\n')[0], kills()]).toEqual([0, 'Stopped loader.', 1]);
  });

  it.each(['\n', 'n\n', 'yesterday\n', ''])('does nothing at %j', async (typed) => {
    const kills = await serve(ENDS);
    types(typed);
    const { code, out } = await machine.svc('kill', 'loader');
    expect([code, out, kills()]).toEqual([1, 'Nothing was done.\n', 0]);
  });

  it('goes on unasked with --yes', async () => {
    const kills = await serve(ENDS);
    types('n\n');
    expect(await machine.svc('kill', 'loader', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(kills()).toBe(1);
  });

  it('asks nothing where no worker would be ended, and nothing without the option that ends one', async () => {
    const brakes = await serve(rehearsal('start nothing new and end its 0 workers'), '/brake', {
      ...{ stopped: true, changed: true, since: 1, note: null, killed: [], not_killed: [], running: [] },
    });
    types('n\n');
    expect(await machine.svc('stop-all', '--kill')).toMatchObject({ code: 0, err: '' });
    expect(await machine.svc('stop-all')).toMatchObject({ code: 0, err: '' });
    expect(brakes()).toBe(2);
  });

  it('says of a document what becomes of it', async () => {
    await machine.svc('pin', 'loader', '--project-dir', '.');
    types('n\n');
    expect((await machine.svc('uninstall', 'loader')).err).toBe('Make a plain document of loader? [y/N] ');
    types('n\n');
    expect((await machine.svc('fiber', 'rm', 'loader')).err).toBe('Remove loader? [y/N] ');
    expect(isThere()).toBe(true);
    types('y\n');
    expect(await machine.svc('fiber', 'rm', 'loader')).toMatchObject({ code: 0 });
    expect(isThere()).toBe(false);
  });

  it('asks nothing of a daemon that only hands its request on', async () => {
    await machine.svc('pin', 'loader', '--project-dir', '.');
    expect(await machine.svc('uninstall', '--local', '--', 'loader')).toMatchObject({ code: 0, err: '' });
  });
});
