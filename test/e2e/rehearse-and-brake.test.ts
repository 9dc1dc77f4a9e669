import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Captured } from '../../src/contract/http/capture.ts';
import type { Rehearsal } from '../../src/contract/http/rehearsal.ts';
import type { Why } from '../../src/contract/http/why.ts';
import { unifiedDiff } from '../../src/fibers/text-diff.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

/** Every file below the store, the data and the config folder with its times, and every terminal session. */
async function everything({ home }: TestDaemon): Promise<string[]> {
  const folders = [home.store, home.data, home.path('config')];
  const files = execFileSync('find', [...folders, '-printf', '%p %s %T@ %i\n'], { encoding: 'utf8' });
  return [...files.split('\n'), ...(await home.sessions())].sort();
}

/** The same once the daemon has made its last socket, which it does a second after its start. */
async function everythingAtRest(daemon: TestDaemon): Promise<string[]> {
  await until('the socket for audio', () => existsSync(join(daemon.home.data, 'socket', 'audio.sock')));
  return everything(daemon);
}

/** The store of this home as it is now, once the moves and diffs of a rehearsal are made in it by Git. */
function applied({ home }: TestDaemon, shown: Rehearsal): (path: string) => string {
  const copy = home.path('copy');
  const inCopy = (path: string) => join(copy, relative(home.store, path));
  cpSync(home.store, copy, { recursive: true });
  for (const { from, to } of shown.moves) {
    mkdirSync(dirname(inCopy(to)), { recursive: true });
    renameSync(inCopy(from), inCopy(to));
  }
  const diffs = shown.documents.map(({ diff }) => diff).join('');
  if (diffs !== '') execFileSync('git', ['apply', '-'], { cwd: copy, input: diffs });
  return (path) => readFileSync(inCopy(path), 'utf8');
}

const timeless = (dated: string) => dated.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

it('[WPL-1] [WPL-11] [WPL-13] a rehearsal writes nothing and starts nothing; the real request then does what was shown', async () => {
  daemon = await startTestDaemon();
  const { home } = daemon;
  home.fiber('task', { front: { status: 'closed' }, agent: 'stays' });
  await daemon.rowWhen('task', 'listed', () => true);
  await daemon.ticks();
  const before = await everythingAtRest(daemon);
  const text = home.document('task');

  const request = { fiber_id: 'task', user_message: 'Mind the gap.' };
  const { body: shown } = await daemon.http.post<Rehearsal>('/dispatch', { ...request, dry_run: true });
  await daemon.http.post('/fiber-edit', { fiber_id: 'task', name: 'Other', dry_run: true });
  await daemon.http.post('/fiber/create', { name: 'Another', dry_run: true });
  await daemon.http.post('/brake', { kill: true, dry_run: true });
  expect((await daemon.http.post('/kill', { fiber_id: 'task', dry_run: true })).status).toBe(404);
  await daemon.ticks();
  expect(await everything(daemon)).toEqual(before);
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
  expect(real(shown.prompt!)).toBe(readFileSync(join(run, 'prompt.md'), 'utf8'));
  expect(shown.command?.mux_session).toBe(manifest.mux_session);
  const script = readFileSync(join(run, 'run.sh'), 'utf8');
  for (const argument of shown.command!.argv.filter((one) => one !== '<prompt>'))
    expect(script).toContain(real(argument));
  // The diff names the document below its store, so it applies to a copy of the store as it was.
  const copy = home.path('copy');
  mkdirSync(join(copy, '.fibers/task'), { recursive: true });
  writeFileSync(join(copy, '.fibers/task/task.md'), text);
  execFileSync('git', ['apply', '-'], { cwd: copy, input: real(shown.documents[0]!.diff) });
  const patched = readFileSync(join(copy, '.fibers/task/task.md'), 'utf8');
  expect(timeless(patched)).toBe(timeless(home.document('task')));
});

it('[WPL-6] [WPL-12] [WPL-17] a rehearsed move, capture and default effort write nothing; the real ones do what was shown', async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      const file = home.path('config/agents.json');
      const agents = readFileSync(file, 'utf8').replaceAll('"effort_levels":[]', '"effort_levels":["low"]');
      home.write('config/agents.json', agents);
    },
  });
  const { home, http } = daemon;
  const parked = { front: { status: 'open' } };
  home.fiber('old', { ...parked, body: 'I am [[old]].\n' });
  home.fiber('old/part', { ...parked, body: 'Part of [[old]].\n' });
  home.fiber('work', { ...parked, body: 'See [[old/part|it]] and [[older]].\n' });
  await daemon.rowWhen('old/part', 'listed', () => true);
  await daemon.ticks();
  const before = await everythingAtRest(daemon);
  const rehearse = async (path: string, body: object) =>
    (await http.post<Rehearsal>(path, { ...body, dry_run: true })).body;

  const nest = { fiber_id: 'old', parent: 'work' };
  const moved = await rehearse('/fiber-nest', nest);
  const text = { prompt: 'Make the loader faster.', project_dir: home.project('dev'), agent: 'stays' };
  const captured = await rehearse('/capture', text);
  const effort = { id: 'exits-0', effort: 'low' };
  const levels = await rehearse('/agents/effort', effort);
  for (const [path, body, status] of [
    ['/claim', { fiber_id: 'old', mux_session: 'nobody' }, 404],
    ['/attach', { mux_session: 'nobody' }, 404],
    ['/sessions/resume', { session: '0198c0de-0000-4000-8000-000000000001' }, 422],
    ['/incidents/resume', {}, 200],
    ['/incidents/dismiss', {}, 200],
    ['/brake/release', {}, 200],
    ['/quarantine/release', {}, 200],
    ['/lifecycle', { action: 'install', fiber: 'old', project_dir: home.project('dev') }, 200],
    ['/transition', { fiber_id: 'old', target: 'inFlight' }, 200],
  ] as const)
    expect([path, (await http.post(path, { ...body, dry_run: true })).status]).toEqual([path, status]);
  await daemon.ticks();
  expect(await everything(daemon)).toEqual(before);

  const then = applied(daemon, moved);
  expect(moved.documents).toHaveLength(3);
  expect((await http.post('/fiber-nest', nest)).body).toMatchObject({ new_id: 'work/old' });
  for (const id of ['work', 'work/old', 'work/old/part'])
    expect(timeless(home.document(id))).toBe(timeless(then(home.documentPath(id))));

  const agents = home.path('config/agents.json');
  const was = existsSync(agents) ? readFileSync(agents, 'utf8') : null;
  expect((await http.post('/agents/effort', effort)).status).toBe(200);
  const diff = unifiedDiff('agents.json', was, readFileSync(agents, 'utf8'));
  expect(levels.documents).toEqual([{ path: agents, diff }]);

  const { body: real } = await http.post<Captured>('/capture', text);
  const run = join(home.data, 'runs', real.run_id);
  const anew = (shown: string) =>
    shown
      .replaceAll(captured.minted.launch_id!, real.run_id)
      .replaceAll(captured.minted.mux_session!, real.mux_session!)
      .replaceAll(captured.minted.session_uuid ?? 'none', real.session_uuid ?? 'none');
  expect(anew(captured.prompt!)).toBe(readFileSync(join(run, 'prompt.md'), 'utf8'));
  expect(anew(captured.command!.mux_session)).toBe(real.mux_session);
  const script = readFileSync(join(run, 'run.sh'), 'utf8');
  for (const word of captured.command!.argv.filter((one) => one !== '<prompt>'))
    expect(script).toContain(anew(word));
  for (const name of captured.command!.env) expect(script).toContain(`export ${name}=`);

  // A session that runs can be claimed, and a worker of it attached to.
  const claim = { fiber_id: 'work', mux_session: real.mux_session };
  const text_before = home.document('work');
  const claimed = await rehearse('/claim', claim);
  const window = await rehearse('/attach', { mux_session: real.mux_session });
  expect(window.command?.argv).toContain(`=${real.mux_session}`);
  expect(home.document('work')).toBe(text_before);
  expect((await http.post('/claim', claim)).body).toMatchObject({ claimed: true });
  const after = home.document('work');
  expect(timeless(claimed.documents[0]!.diff)).toBe(
    timeless(unifiedDiff('.fibers/work/work.md', text_before, after)),
  );
});

it('the emergency brake survives a kill -9, refuses a forced start, is shown by why, and can be released', async () => {
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

const WITHOUT_ANSWER = [
  ['a daemon that is stopped in the middle', 'SIGSTOP'],
  ['no daemon', 'SIGKILL'],
] as const;

it.each(WITHOUT_ANSWER)(
  '[WPL-4] the emergency brake ends workers with %s, and holds their fibers once there is one',
  async (_, end) => {
    daemon = await startTestDaemon();
    const { home } = daemon;
    const ids = ['one', 'two'];
    for (const id of ids) home.fiber(id, { agent: 'stays' });
    for (const id of ids) await daemon.running(id);
    const agents = await Promise.all(ids.map((id) => daemon!.agentPid(id)));
    const { pid } = daemon;
    if (end === 'SIGKILL') await daemon.kill9();
    else process.kill(pid, end);
    const pulled = await home.svc('stop-all', '--kill', '--yes');
    expect(pulled, pulled.stderr).toMatchObject({ code: 0 });
    expect(pulled.stdout).toMatch(/^The brake is on, by its file /);
    for (const id of ids) expect(pulled.stdout).toContain(id);
    for (const agent of agents) expect(() => process.kill(agent, 0)).toThrow('ESRCH');

    if (end === 'SIGKILL') await daemon.start();
    else process.kill(pid, 'SIGCONT');
    for (const id of ids)
      await daemon.rowWhen(id, 'held', ({ runtime, held }) => runtime === undefined && held === 'killed');
    await daemon.http.post('/brake/release', {});
    await daemon.ticks();
    for (const id of ids) expect(launchesOf(home.data, id)).toHaveLength(1);
  },
);

it.each(WITHOUT_ANSWER)(
  '[WPL-4] svc kill ends one worker with %s, says so, and its fiber is held once there is one',
  async (_, end) => {
    daemon = await startTestDaemon();
    const { home } = daemon;
    const ids = ['killed', 'goes-on'];
    for (const id of ids) home.fiber(id, { agent: 'stays' });
    for (const id of ids) await daemon.running(id);
    const [killed, goes_on] = await Promise.all(ids.map((id) => daemon!.agentPid(id)));
    const { pid } = daemon;
    if (end === 'SIGKILL') await daemon.kill9();
    else process.kill(pid, end);
    const asked = await home.svc('kill', 'killed');
    expect(asked.stderr).toContain(
      'nothing was done: this would end the worker of killed by the files of its run',
    );
    expect(() => process.kill(killed!, 0)).not.toThrow();
    const why = end === 'SIGKILL' ? 'no daemon runs' : `the daemon (pid ${pid}) has not answered`;
    expect(await home.svc('kill', 'killed', '--yes', '--note', 'Wrong branch.')).toMatchObject({
      code: 0,
      stdout: `Stopped killed, by the files of its run: ${why}.\nThe daemon holds it once it sees that; let it go on with: svc resume killed\n`,
      stderr: expect.stringContaining('the note is not kept'),
    });
    expect(() => process.kill(killed!, 0)).toThrow('ESRCH');
    expect(() => process.kill(goes_on!, 0)).not.toThrow();

    if (end === 'SIGKILL') await daemon.start();
    else process.kill(pid, 'SIGCONT');
    await daemon.rowWhen('killed', 'held', ({ runtime, held }) => runtime === undefined && held === 'killed');
    await daemon.ticks();
    for (const id of ids) expect(launchesOf(home.data, id)).toHaveLength(1);
    expect((await daemon.running('goes-on')).runtime.state).toBe('running');
  },
);

it('max_concurrent of host.json limits the poller but not forced starts', async () => {
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
  expect(state.workers).toEqual({ count: 1, resting: 0, most: 1 });
  const waiting = state.running[0]!.fiber_id === 'one' ? 'two' : 'one';
  const { body: why } = await daemon.http.get<Why>(`/why?fiber=${waiting}`);
  expect(why.first).toMatchObject({ gate: 'max_concurrent' });
  expect((await daemon.dispatch({ fiber_id: waiting })).body.dispatched).toBe(true);
  expect((await daemon.state()).running).toHaveLength(2);
});
