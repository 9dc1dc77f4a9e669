import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dismissCapture } from '../../../../src/dispatch/requests/resume-incident.ts';
import { parseWorkerSessionName } from '../../../../src/mux/session-name.ts';
import { STORE } from '../../world/fake-documents.ts';
import { type Daemon, FakeWorld } from '../../world/fake-world.ts';

const CLAIM = { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null };
const REQUEST = { prompt: 'Make the loader\nfaster.', project_dir: '/srv/dev', claim: CLAIM };
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const capture = (more = {}) =>
  world.run(daemon.dispatcher.surfaces.cli.captures.capture({ ...REQUEST, ...more, store: STORE }));
const runs = () => {
  const folder = join(world.data_dir, 'runs');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('a capture', () => {
  it('[WPL-6] [CAP-1] [CAP-5] starts a terminal session that no dispatch takes for a worker', async () => {
    const captured = await capture({ agent: 'demo', effort: 'high' });
    expect(captured).toMatchObject({ captured: true, surface: 'cli', host: 'host-a', agent: 'demo' });
    if (!captured.captured) throw new Error('refused');
    const name = captured.mux_session ?? '';
    expect(name).toBe(`capture-${captured.session_uuid}`);
    expect(parseWorkerSessionName(name)).toBeNull();
    expect(world.machine.creates).toMatchObject([{ name, cwd: '/srv/dev' }]);
    await round();
    expect(daemon.state()).toMatchObject({
      running: [],
      captures: [
        { mux_session: name, state: 'running', project_dir: '/srv/dev', store: STORE, ended_at: null },
      ],
    });
  });

  it('[CAP-5] answers no session_uuid where the harness assigns it, and learns it for the ledger', async () => {
    const captured = await capture({ agent: 'learning' });
    expect(captured).not.toHaveProperty('session_uuid');
    if (!captured.captured) throw new Error('refused');
    world.writesTranscript(captured.run_id, 'learned-1');
    await round();
    await round();
    expect(daemon.state().captures).toMatchObject([{ session_uuid: 'learned-1' }]);
    expect(world.ledger).toMatchObject([
      { kind: 'capture', session: null, fiber: null, uid: null, agent: 'learning' },
      { kind: 'learned', session: 'learned-1', fiber: null, mux: captured.mux_session },
    ]);
  });

  it('keeps nothing else waiting where its agent was taken out of agents.json before its session is known', async () => {
    const captured = await capture({ agent: 'learning' });
    if (!captured.captured) throw new Error('refused');
    world.writesTranscript(captured.run_id, 'learned-1');
    const { agents } = world;
    world.agents = agents.filter(({ id }) => id !== 'learning');
    await round();
    await round();
    expect(daemon.state().captures).toMatchObject([{ state: 'running' }]);
    world.agents = agents;
    await round();
    expect(daemon.state().captures).toMatchObject([{ session_uuid: 'learned-1' }]);
  });

  it('[PRM-8] [PRM-7] tells its session how to install and claim, in the prompt file and nowhere else', async () => {
    const captured = await capture({ effort: 'low', meeting_launch: 'meet-1' });
    if (!captured.captured) throw new Error('refused');
    const { mux_session, session_uuid } = captured;
    const prompt = readFileSync(join(world.data_dir, 'runs', captured.run_id, 'prompt.md'), 'utf8');
    const body = { fiber_id: '<fiber>', surface: 'cli', mux_session, session_uuid, meeting: 'meet-1' };
    expect(prompt.split('\n').slice(3)).toEqual([
      'Capture: /skills/fiber-service/references/capture.md',
      'Surface: cli',
      'Headless: no',
      `Run: ${captured.run_id}`,
      `Install: {"host":"host-a","store":"${STORE}","project_dir":"/srv/dev","agent":"demo","effort":"low","surface":"cli"}`,
      'Claim: POST http://127.0.0.1:4000/api/v1/claim',
      `Claim body: ${JSON.stringify(body)}`,
      `Claim command: svc claim <fiber> --mux-session ${mux_session} --session-uuid ${session_uuid} --meeting meet-1`,
      'From User:',
      'Make the loader',
      'faster.',
    ]);
    expect(JSON.stringify(world.machine.creates)).not.toContain('faster');
    const script = readFileSync(join(world.data_dir, 'runs', captured.run_id, 'run.sh'), 'utf8');
    expect(script).not.toContain('faster');
    expect(script).toContain(`export SVC_CAPTURE='${mux_session}'`);
  });

  it('[PRM-8] names the socket where the daemon listens on no TCP address', async () => {
    const captured = await capture({
      claim: { url: 'http://localhost/api/v1/claim', socket: '/run/svc.sock' },
    });
    if (!captured.captured) throw new Error('refused');
    const prompt = readFileSync(join(world.data_dir, 'runs', captured.run_id, 'prompt.md'), 'utf8');
    expect(prompt).toContain('\nClaim: POST http://localhost/api/v1/claim\nClaim socket: /run/svc.sock\n');
  });

  it.each([
    ['project_dir_missing', { project_dir: '/srv/gone' }],
    ['project_dir_missing', { project_dir: ' ' }],
    ['project_dir_in_store', { project_dir: '/srv/stored' }],
    ['agent_unknown', { agent: 'nobody' }],
    ['effort_unknown', { effort: 'enormous' }],
  ])('[WPL-6] [ERR-17] is refused with %s before any effect: %j', async (reason, request) => {
    world.directories.set('/srv/gone', { kind: 'missing' });
    world.directories.set('/srv/stored', { kind: 'in_store' });
    expect(await capture(request)).toMatchObject({ captured: false, reason, host: 'host-a' });
    expect(runs()).toEqual([]);
    expect(world.machine.creates).toEqual([]);
    expect(daemon.state().captures).toEqual([]);
  });

  it('[WPL-6] throws for an empty prompt', async () => {
    await expect(capture({ prompt: ' \n' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('[MUX-2] [ERR-17] is refused when there is no server, and leaves nothing behind', async () => {
    daemon.world.mux.create = async () => ({
      kind: 'failed',
      code: 'tmux_server_unavailable',
      detail: 'the terminal emulator does not answer',
    });
    world.machine.server = 'down';
    expect(await capture()).toMatchObject({
      captured: false,
      reason: 'tmux_server_unavailable',
      message: 'the terminal emulator does not answer',
    });
    expect(runs()).toEqual([]);
    expect(daemon.state().captures).toEqual([]);
    expect(world.ledger).toEqual([]);
  });

  it('[P1] [WPL-6] is found again by the next daemon, and shown as ended when its session goes unclaimed', async () => {
    const captured = await capture();
    if (!captured.captured) throw new Error('refused');
    daemon = world.boot();
    await round();
    expect(daemon.state().captures).toMatchObject([{ mux_session: captured.mux_session, state: 'running' }]);
    world.machine.exit(world.machine.worker('capture'), { code: 3 });
    await round();
    const ended = { mux_session: captured.mux_session, state: 'ended', ended_reason: 'exited with 3' };
    expect(daemon.state().captures).toMatchObject([ended]);
    const [view] = daemon.state().captures;
    expect(readFileSync(view?.prompt_file ?? '', 'utf8')).toContain('Make the loader');
    expect(readFileSync(view?.text_file ?? '', 'utf8')).toBe('Make the loader\nfaster.');
    daemon = world.boot();
    await round();
    expect(daemon.state().captures).toMatchObject([ended]);
    world.clock.advance(25 * 60 * 60 * 1000);
    expect(daemon.state().captures).toEqual([]);
    world.clock.advance(14 * 24 * 60 * 60 * 1000);
    daemon = world.boot();
    await round();
    // The clock of a machine that has just started may be wrong.
    expect(runs()).toHaveLength(1);
    daemon.dispatcher.surfaces.cli.captures.removeOld(world.clock.now());
    expect(runs()).toEqual([]);
  });

  it('[WPL-6] is taken off the list by a person once it has ended, also for the next daemon, and keeps its text', async () => {
    const captured = await capture();
    if (!captured.captured) throw new Error('refused');
    const { run_id } = captured;
    const dismiss = () =>
      dismissCapture(daemon.memory, daemon.dispatcher.surfaces.cli.captures, { id: run_id });
    await dismiss();
    expect(daemon.state().captures).toMatchObject([{ run_id }]);
    world.machine.exit(world.machine.worker('capture'), { code: 3 });
    await round();
    const [view] = daemon.state().captures;
    expect(await dismiss()).toMatchObject({ fibers: [] });
    expect(daemon.state().captures).toEqual([]);
    daemon = world.boot();
    await round();
    expect(daemon.state().captures).toEqual([]);
    expect(readFileSync(view?.text_file ?? '', 'utf8')).toBe('Make the loader\nfaster.');
  });

  it('[P2] stays when tmux does not answer at its start, and is what a later listing says', async () => {
    world.machine.next = 'refuse_but_start';
    world.machine.listing = 'unknown';
    expect(await capture()).toMatchObject({ captured: false, reason: 'mux_unavailable' });
    expect(daemon.state().captures).toMatchObject([{ state: 'starting' }]);
    world.machine.listing = 'normal';
    await round();
    expect(daemon.state().captures).toMatchObject([{ state: 'running' }]);
    expect(world.ledger).toMatchObject([{ kind: 'capture' }]);
  });
});
