import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Rehearsal } from '../../src/contract/http/rehearsal.ts';
import type { Why } from '../../src/contract/http/why.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

/** Every file below the store and the data folder, with its bytes and its times. */
function everything(of: TestDaemon): string[] {
  return execFileSync('find', [of.home.store, of.home.data, '-printf', '%p %s %T@ %i\n'], {
    encoding: 'utf8',
  })
    .split('\n')
    .sort();
}

it('[WPL-1] [WPL-11] [WPL-13] a rehearsal writes nothing and starts nothing; then the real request does what was shown', async () => {
  daemon = await startTestDaemon();
  const { home } = daemon;
  home.fiber('task', { front: { status: 'closed' }, agent: 'stays' });
  await daemon.rowWhen('task', 'listed', () => true);
  await daemon.ticks();
  const before = everything(daemon);
  const text = home.document('task');

  const request = { fiber_id: 'task', user_message: 'Mind the gap.' };
  const { body: shown } = await daemon.http.post<Rehearsal>('/dispatch', { ...request, dry_run: true });
  await daemon.http.post('/fiber-edit', { fiber_id: 'task', name: 'Other', dry_run: true });
  await daemon.http.post('/fiber/create', { name: 'Another', dry_run: true });
  await daemon.http.post('/brake', { kill: true, dry_run: true });
  expect((await daemon.http.post('/kill', { fiber_id: 'task', dry_run: true })).status).toBe(404);
  await daemon.ticks();
  expect(everything(daemon)).toEqual(before);
  expect(launchesOf(home.data, 'task')).toEqual([]);

  expect((await daemon.dispatch(request)).body.dispatched).toBe(true);
  const launch = daemon.lastLaunch('task');
  const run = join(home.data, 'runs', launch.launch_id);
  const manifest = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as Record<string, string>;
  /** What was shown, with the ids and moments of the real launch in the place of those of the rehearsal. */
  const real = (shownText: string) =>
    shownText
      .replaceAll(shown.minted.launch_id!, launch.launch_id)
      .replaceAll(shown.minted.run_id!, manifest.run_id!)
      .replaceAll(shown.minted.session_uuid!, manifest.session_uuid!);
  const timeless = (dated: string) => dated.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');
  expect(real(shown.prompt!)).toBe(readFileSync(join(run, 'prompt.md'), 'utf8'));
  expect(shown.command?.mux_session).toBe(manifest.mux_session);
  const script = readFileSync(join(run, 'run.sh'), 'utf8');
  for (const argument of shown.command!.argv.filter((one) => one !== '<prompt>'))
    expect(script).toContain(real(argument));
  // The diff names the document below its store, so it applies to a copy of the store as it was.
  const copy = home.path('copy');
  mkdirSync(join(copy, '.fibers/task'), { recursive: true });
  writeFileSync(join(copy, '.fibers/task/task.md'), text);
  execFileSync('git', ['apply', '-'], { cwd: copy, input: real(shown.document!.diff) });
  const patched = readFileSync(join(copy, '.fibers/task/task.md'), 'utf8');
  expect(timeless(patched)).toBe(timeless(home.document('task')));
});

it('the emergency brake holds across a kill -9, refuses a forced start, is told by why, and lets go', async () => {
  daemon = await startTestDaemon();
  const { home } = daemon;
  home.fiber('works', { agent: 'stays' });
  await daemon.running('works');
  expect((await daemon.http.post('/brake', { note: 'test' })).body).toMatchObject({ running: ['works'] });
  await daemon.kill9();
  home.fiber('waits', { agent: 'stays' });
  await daemon.start();
  await daemon.running('works');
  await daemon.rowWhen('waits', 'kept back', (row) => row.gate === 'stopped_all');
  await daemon.ticks();
  expect(launchesOf(home.data, 'waits')).toEqual([]);
  expect((await daemon.state()).brake).toMatchObject({ on: true, note: 'test' });
  const { body: why } = await daemon.http.get<Why>('/why?fiber=waits&look=true');
  expect(why).toMatchObject({ verdict: 'waits', first: { gate: 'stopped_all' } });
  expect(why.first?.mend).toContain('svc resume-all');
  expect(await daemon.dispatch({ fiber_id: 'waits', force: true })).toMatchObject({
    status: 422,
    body: { dispatched: false, reason: 'stopped_all', fiber_id: 'waits' },
  });

  expect((await daemon.http.post('/brake/release', {})).body).toMatchObject({
    stopped: false,
    changed: true,
  });
  await daemon.running('waits');
  const killed = await daemon.http.post('/brake', { kill: true });
  expect(killed.body).toMatchObject({ running: [], not_killed: [] });
  await until('no worker', async () => (await daemon!.state()).running.length === 0);
  expect(readdirSync(join(home.data, 'state'))).toContain('brake.json');
});

it('max_concurrent of host.json bounds the poller and no forced start', async () => {
  daemon = await startTestDaemon({
    prepare: (home) => {
      home.write('config/host.json', { version: 1, max_concurrent: 1 });
      home.fiber('one', { agent: 'stays' });
      home.fiber('two', { agent: 'stays' });
    },
  });
  await until('one worker', async () => (await daemon!.state()).running.length === 1);
  await daemon.ticks();
  const state = await daemon.state();
  expect(state.workers).toEqual({ count: 1, most: 1 });
  const waiting = state.running[0]!.fiber_id === 'one' ? 'two' : 'one';
  const { body: why } = await daemon.http.get<Why>(`/why?fiber=${waiting}`);
  expect(why.first).toMatchObject({ gate: 'max_concurrent' });
  expect((await daemon.dispatch({ fiber_id: waiting })).body.dispatched).toBe(true);
  expect((await daemon.state()).running).toHaveLength(2);
});
