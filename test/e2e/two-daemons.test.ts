import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Why } from '../../src/contract/http/why.ts';
import { startTestDaemon, TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { run, TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const daemons: TestDaemon[] = [];
afterEach(async () => {
  for (const daemon of daemons.splice(0).reverse()) await daemon.dispose();
});

const FIBERS = Array.from({ length: 10 }, (_, at) => `task-${at}`);

/** A daemon of the same user with a home of its own, on the store of the first by another path. */
async function beside(first: TestDaemon): Promise<TestDaemon> {
  const home = new TestHome({ SVC_RUNTIME_DIR: first.home.env.SVC_RUNTIME_DIR });
  const link = home.path('linked-store');
  symlinkSync(first.home.store, link);
  home.env.SVC_STORES = link;
  const second = new TestDaemon(home);
  daemons.push(second);
  await second.start();
  return second;
}

function launched(daemon: TestDaemon): string[] {
  return FIBERS.filter((id) => launchesOf(daemon.home.data, id).length > 0);
}

describe('two daemons of one host on one store', () => {
  it('start each fiber once: the second lists the store, starts nothing from it, names the first, and takes over when the first ends', async () => {
    const first = await startTestDaemon();
    daemons.push(first);
    await until('the lease', async () => (await first.state()).poll_health.stores[0]?.lease.state === 'held');
    const second = await beside(first);
    for (const id of FIBERS) first.home.fiber(id, { agent: 'stays' });
    for (const id of FIBERS) await first.running(id);
    await until('the listing of the second', async () => (await second.fibers()).length === FIBERS.length);
    await second.ticks();
    expect(launched(first)).toEqual(FIBERS);
    expect(launched(second)).toEqual([]);

    const [store] = (await second.state()).poll_health.stores;
    expect(store).toMatchObject({
      state: 'ok',
      lease: { state: 'elsewhere', holder: { pid: first.pid, data_dir: first.home.data } },
    });
    expect(Date.parse(store?.lease.holder?.since ?? '')).toBeLessThan(Date.now());
    first.home.fiber('waits', { agent: 'stays', front: { status: 'open' } });
    await second.rowWhen('waits', 'listed', () => true);
    expect(await second.dispatch({ fiber_id: 'waits' })).toMatchObject({
      status: 422,
      body: {
        dispatched: false,
        reason: 'store_leased',
        message: expect.stringContaining(`pid ${first.pid}`),
      },
    });
    // Nor does the command promise that it starts here.
    const installed = await second.home.svc('install', 'waits', '--project-dir', first.home.project('waits'));
    expect(installed.stdout).toMatch(
      new RegExp(
        `\\nThe daemon here does not start it: another daemon \\(pid ${first.pid} .*; see: svc doctor\\n`,
      ),
    );
    expect(installed.stdout).not.toMatch(/daemon starts it|daemon release/);
    await first.running('waits');
    await second.ticks();
    expect(launchesOf(second.home.data, 'waits')).toEqual([]);
    const { stdout: status } = await second.home.svc('status');
    expect(status).toContain(`another daemon (pid ${first.pid}`);
    expect(status).toContain(first.home.data);
    expect((await second.home.svc('doctor')).stdout).toMatch(
      new RegExp(`warn +lease: another daemon \\(pid ${first.pid}`),
    );

    // Its workers go on without it, and their fibers are not started twice.
    await first.stop();
    first.home.fiber('late', { agent: 'stays' });
    await second.running('late');
    await second.ticks();
    expect(launched(second)).toEqual([]);
    const { body: why } = await second.http.get<Why>('/why?fiber=task-0');
    expect(why.first).toMatchObject({ gate: 'run_elsewhere' });
    const document = first.home.document('task-0');
    expect(document).toMatch(/daemon: /);
    expect(why.first?.message).toContain(/daemon: (\S+)/.exec(document)![1]);
    expect((await second.dispatch({ fiber_id: 'task-0' })).body.dispatched).toBe(true);
  });

  it('take over from a killed daemon, and the first one starts nothing when it is back', async () => {
    const first = await startTestDaemon();
    daemons.push(first);
    const second = await beside(first);
    await first.kill9();
    await until(
      'the lease',
      async () => (await second.state()).poll_health.stores[0]?.lease.state === 'held',
    );
    await first.start();
    first.home.fiber('task-0', { agent: 'stays' });
    await second.running('task-0');
    await first.ticks();
    expect(launched(first)).toEqual([]);
    expect((await first.state()).poll_health.stores[0]?.lease).toMatchObject({
      state: 'elsewhere',
      holder: { pid: second.pid },
    });
  });
});

describe('a data folder that is deleted under its daemon', () => {
  it('is reported everywhere, stops all launches and keeps a second daemon out; all continues when it is restored', async () => {
    const daemon = await startTestDaemon();
    daemons.push(daemon);
    const { home } = daemon;
    home.fiber('task-0', { agent: 'stays', front: { status: 'open' } });
    await daemon.rowWhen('task-0', 'listed', () => true);
    const aside = home.path('data-aside');
    renameSync(home.data, aside);
    const fault = await until('the fault', async () => (await daemon.state()).data_dir.fault);
    expect(fault).toContain(home.data);
    expect(fault).toContain('svc daemon restart');
    expect(daemon.log).toContain('was deleted under the running daemon');
    expect((await daemon.version()).components).toContainEqual(
      expect.objectContaining({ name: 'data_dir', state: 'failed', last_error: fault }),
    );
    expect(await daemon.dispatch({ fiber_id: 'task-0' })).toMatchObject({
      status: 422,
      body: { reason: 'data_dir_lost' },
    });
    expect((await home.svc('status')).stdout).toContain(`fault\tdata folder\tthe data folder ${home.data}`);

    // A second daemon with the same settings makes the folder again, and is refused all the same.
    const [file = '', ...args] = home.daemonArgv();
    const second = await run(file, args, home.env);
    expect(second.code).toBeGreaterThan(0);
    expect(second.stderr).toContain(`pid ${daemon.pid}`);
    const replaced = await until('the other folder', async () => {
      const now = (await daemon.state()).data_dir.fault;
      return now?.includes('another folder') ? now : null;
    });
    expect(replaced).toContain(home.data);

    rmSync(home.data, { recursive: true });
    renameSync(aside, home.data);
    await until('no fault', async () => (await daemon.state()).data_dir.fault === null);
    expect((await daemon.dispatch({ fiber_id: 'task-0' })).body.dispatched).toBe(true);
    expect(readFileSync(home.path('data/daemon.json'), 'utf8')).toContain(String(daemon.pid));
  });

  it('does not keep svc daemon restart from finding the daemon', async () => {
    const daemon = await startTestDaemon();
    daemons.push(daemon);
    rmSync(daemon.home.data, { recursive: true });
    const stopped = await daemon.home.svc('daemon', 'stop', '--json');
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: true, pid: daemon.pid });
  });
});
