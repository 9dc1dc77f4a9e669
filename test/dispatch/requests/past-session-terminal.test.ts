import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SshTarget } from '../../../src/contract/http/attach.ts';
import type { SessionLine } from '../../../src/contract/ledger.ts';
import { type AskedTerminal, openTerminal } from '../../../src/dispatch/requests/open-terminal.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { STORE } from '../world/fake-documents.ts';
import { AGENT, type Daemon, FakeWorld, HOST, LEARNING } from '../world/fake-world.ts';

const ID = '0198c0de-0000-4000-8000-000000000001';
const LINE: SessionLine = {
  fiber: 'a',
  uid: 'U',
  session: ID,
  thread_id: null,
  harness: 'codex',
  agent: 'learning',
  host: HOST,
  mux: 'a-U-svc',
  at: 1,
  kind: 'dispatch',
};
const UNNESTED = ['/usr/bin/env', '-u', 'TMUX', '-u', 'TMUX_PANE'];
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
  world.past.set(ID, { kind: 'found', path: '/t.jsonl', cwd: '/srv/began' });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const resume = (lines: SessionLine[] = [LINE], session = ID) =>
  world.run(daemon.dispatcher.resumeSession({ session, lines }));

const open = (asked: Partial<AskedTerminal>) => {
  const here = { lines: [], host: HOST, ssh: null };
  return perform(openTerminal(daemon.world, daemon.dispatcher.pastSessions), { ...here, ...asked });
};
const openRunning = (mux_session: string, ssh: SshTarget | null) => open({ mux_session, ssh });

describe('the terminal of a past session', () => {
  it('[WPL-22] [DSP-10] is started with the agent of the ledger in the folder of the transcript, and is no worker', async () => {
    world.agents = [AGENT, { ...LEARNING, env: { TOKEN: 'secret' } }];
    expect(await resume()).toEqual({ mux_session: `resume-${ID}`, created: true });
    expect(world.machine.creates).toMatchObject([{ name: `resume-${ID}`, cwd: '/srv/began' }]);
    const script = readFileSync(join(world.data_dir, 'resumed', ID, 'run.sh'), 'utf8');
    expect(script).toContain(`'/opt/demo' 'resume' '${ID}'`);
    expect(script).toContain(`export TOKEN='secret'`);
    expect(JSON.stringify(world.machine.creates)).not.toContain('secret');
    world.fiber('a', {}, { status: 'open' });
    await round();
    daemon = world.boot({ released: true });
    await round();
    expect(daemon.state()).toMatchObject({ running: [], captures: [] });
    expect(world.ledger).toEqual([]);
  });

  it('[WPL-22] is found when it is open, however often it is asked for at once', async () => {
    const both = await world.run(
      Promise.all([
        daemon.dispatcher.resumeSession({ session: ID, lines: [LINE] }),
        daemon.dispatcher.resumeSession({ session: ID, lines: [LINE] }),
      ]),
    );
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect(await resume()).toEqual({ mux_session: `resume-${ID}`, created: false });
    expect(world.machine.living).toHaveLength(1);
  });

  it('[ERR-15] [WPL-22] is refused while the session is a running worker or a capture', async () => {
    world.fiber('a');
    await round();
    const run = daemon.row('a')?.runtime;
    const line = { ...LINE, agent: 'demo', harness: 'claude', session: run?.session_uuid ?? null };
    await expect(resume([line], run?.session_uuid ?? '')).rejects.toMatchObject({
      code: 'session_running',
      details: { mux_session: run?.mux_session },
    });
    const captured = await world.run(
      daemon.dispatcher.surfaces.cli.captures.capture({
        prompt: 'x',
        project_dir: '/srv/dev',
        claim: { url: 'http://x', socket: null },
        store: STORE,
      }),
    );
    const session = 'session_uuid' in captured ? (captured.session_uuid ?? '') : '';
    await expect(resume([{ ...line, session }], session)).rejects.toMatchObject({ code: 'session_running' });
    expect(world.machine.creates).toHaveLength(2);
  });

  it.each<[string, () => SessionLine[]]>([
    ['transcript_missing', () => []],
    ['transcript_missing', () => [{ ...LINE, host: 'host-b' }]],
    [
      'transcript_missing',
      () => {
        world.past.clear();
        return [LINE];
      },
    ],
    [
      'working_directory_unknown',
      () => {
        world.past.set(ID, { kind: 'found', path: '/t.jsonl', cwd: null });
        return [LINE];
      },
    ],
    [
      'project_dir_missing',
      () => {
        world.directories.set('/srv/began', { kind: 'missing' });
        return [LINE];
      },
    ],
    [
      'store_unavailable',
      () => {
        world.past.set(ID, { kind: 'unknown', detail: 'EIO' });
        return [LINE];
      },
    ],
    ['surface_unsupported', () => [{ ...LINE, thread_id: ID }]],
  ])('[ERR-20] [WPL-21] is refused with %s, and nothing is started', async (code, lines) => {
    await expect(resume(lines())).rejects.toMatchObject({ code });
    expect(world.machine.creates).toEqual([]);
  });

  it('[WPL-22] is not started while the emergency brake is on; one that is open is still found', async () => {
    daemon.memory.brake.pull('a leak', world.clock.now());
    await expect(resume()).rejects.toMatchObject({
      code: 'stopped_all',
      message: expect.stringContaining('a leak'),
    });
    expect([world.machine.creates, existsSync(join(world.data_dir, 'resumed'))]).toEqual([[], false]);
    daemon.memory.brake.release();
    await resume();
    daemon.memory.brake.pull(null, world.clock.now());
    expect(await resume()).toEqual({ mux_session: `resume-${ID}`, created: false });
    expect(world.machine.living).toHaveLength(1);
  });

  it('[WPL-22] is not started by a request that the brake overtakes', async () => {
    daemon.world.lookAtDirectory = async (real) => {
      daemon.memory.brake.pull(null, world.clock.now());
      return { kind: 'directory', real };
    };
    await expect(resume()).rejects.toMatchObject({ code: 'stopped_all' });
    expect(world.machine.creates).toEqual([]);
    expect(existsSync(join(world.data_dir, 'resumed', ID))).toBe(false);
  });

  it('[WPL-22] refuses an id that no session could be named by', async () => {
    for (const session of ['a b', '../x', 'a:b', "a'b"])
      await expect(resume([{ ...LINE, session }], session)).rejects.toMatchObject({
        code: 'invalid_request',
      });
  });

  it('[WPL-21] of a ledger line from before agents were named is that of the harness', async () => {
    const { agent: _, ...line } = LINE;
    await resume([line]);
    expect(readFileSync(join(world.data_dir, 'resumed', ID, 'run.sh'), 'utf8')).toContain(`'resume' '${ID}'`);
  });
});

describe('a terminal window', () => {
  it('[WPL-21] is opened on a session of this host with tmux’s own argv', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    expect(await openRunning('desk', null)).toEqual({ mux_session: 'desk', terminal: 'kitty' });
    expect(world.terminals).toEqual([
      { argv: [...UNNESTED, 'tmux', '=desk'], title: 'desk', type: 'os-window' },
    ]);
  });

  it('[WPL-21] on a past session of this host has it started first, and none where that is refused', async () => {
    const session = `resume-${ID}`;
    const opened = await world.run(open({ session: ID, lines: [LINE] }));
    expect(opened).toEqual({ mux_session: session, terminal: 'kitty' });
    expect(world.machine.creates.map(({ name }) => name)).toEqual([session]);
    expect(world.terminals).toEqual([
      { argv: [...UNNESTED, 'tmux', expect.stringMatching(/^%\d+$/)], title: session, type: 'os-window' },
    ]);
    await expect(world.run(open({ session: 'nobody', lines: [] }))).rejects.toMatchObject({
      code: 'transcript_missing',
    });
    expect(world.terminals).toHaveLength(1);
  });

  it('[WPL-21] of another host is ssh with the flags of its entry, and one quoted word for the far shell', async () => {
    await openRunning('a-U-svc', { alias: 'host-b-login', flags: ['-p', '22'] });
    expect(world.terminals.map(({ argv }) => argv)).toEqual([
      [
        ...UNNESTED,
        'ssh',
        '-p',
        '22',
        '-t',
        '--',
        'host-b-login',
        expect.stringMatching(/^sh -c '.*' a-U-svc$/),
      ],
    ]);
    await openRunning("x'; reboot; '", { alias: 'b', flags: [] });
    expect(world.terminals[1]!.argv.at(-1)).toMatch(/ 'x'\\''; reboot; '\\'''$/);
    for (const name of ['$(x)', 'a\nb', ''])
      await expect(openRunning(name, { alias: 'b', flags: [] })).rejects.toMatchObject({
        code: 'surface_unsupported',
      });
  });

  it('[WPL-21] that cannot be opened is an error with the command to paste', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.terminal = { kind: 'unreachable', detail: 'no kitty listens' };
    await expect(openRunning('desk', null)).rejects.toMatchObject({
      code: 'terminal_unreachable',
      message: expect.stringContaining("tmux '=desk'"),
      details: { command: "tmux '=desk'" },
    });
    await expect(openRunning('w', { alias: 'b', flags: [] })).rejects.toMatchObject({
      details: { command: expect.stringMatching(/^ssh -t -- b 'sh -c .* w'$/) },
    });
  });

  it('[WPL-21] is refused for an app conversation’s id and for what is not there', async () => {
    await expect(openRunning(ID, null)).rejects.toMatchObject({
      code: 'surface_unsupported',
      message: expect.stringContaining('it is the id of an app conversation; open it in the app.'),
    });
    await expect(openRunning('nobody', null)).rejects.toMatchObject({
      code: 'session_not_found',
    });
    world.machine.listing = 'unknown';
    await expect(openRunning('nobody', null)).rejects.toMatchObject({
      code: 'mux_unavailable',
    });
    expect(world.terminals).toEqual([]);
  });
});
