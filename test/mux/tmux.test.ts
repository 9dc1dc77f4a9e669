import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mayAttach } from '../../src/mux/control-safety.ts';
import type { MuxListing } from '../../src/mux/mux.ts';
import { paneOfLaunch } from '../../src/mux/mux-listing.ts';
import { ANCHOR_SESSION } from '../../src/mux/session-name.ts';
import type { createTmux } from '../../src/mux/tmux.ts';
import { isEndedState, lookUpProcess } from '../../src/platform/process-facts.ts';
import { createPrivateServer, type PrivateServer, until } from '../fixtures/mux/private-server.ts';

let server: PrivateServer;
beforeEach(() => {
  server = createPrivateServer();
});
afterEach(() => server.dispose());

const SLEEP = ['sleep', '600'];

async function create(mux: ReturnType<typeof createTmux>, name: string, command = SLEEP) {
  const made = await mux.create({ name, cwd: server.dir, command });
  if (made.kind !== 'created') throw new Error(JSON.stringify(made));
  return made.session;
}

function names(listing: MuxListing): string[] {
  return listing.kind === 'alive' ? listing.sessions.map((session) => session.name).sort() : [listing.kind];
}

const gone = (pid: number) => {
  const found = lookUpProcess(pid);
  return found.kind === 'gone' || (found.kind === 'found' && isEndedState(found.row.state));
};

/** Both ways to speak to tmux behave the same. */
describe.each([['the control client'], ['runs of tmux']])('sessions by %s', (way) => {
  const open = () => server.open(way === 'runs of tmux' ? { control: 'never' } : {});

  it('starts a server if there is none, and lists, reads and ends a session', async () => {
    const mux = open();
    expect(await mux.list()).toEqual({ kind: 'absent' });
    const session = await create(mux, 'work', ['/bin/sh', '-c', 'printf "hällo wörld"; exec sleep 600']);
    expect(mux.control.attached).toBe(way === 'the control client');
    expect(session).toMatchObject({ name: 'work', panes: [{ dead: false }], attached: 0 });
    expect(session.id).toMatch(/^\$\d+$/);
    expect(Math.abs(session.created_at - Date.now())).toBeLessThan(10_000);
    expect(lookUpProcess(session.panes[0]!.pid!).kind).toBe('found');
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
    await until('the text', async () => (await mux.capture(session.panes[0]!.id))?.includes('hällo wörld'));

    expect(await mux.kill(session)).toBe('killed');
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION]);
    await until('the end of the process', () => gone(session.panes[0]!.pid!));
    expect(await mux.kill(session)).toBe('gone');
    expect(await mux.capture(session.panes[0]!.id)).toBeNull();
  });

  it('answers duplicate for a taken name and does not change that session', async () => {
    const mux = open();
    const first = await create(mux, 'work');
    expect(await mux.create({ name: 'work', cwd: '/', command: SLEEP })).toEqual({ kind: 'duplicate' });
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
    expect(gone(first.panes[0]!.pid!)).toBe(false);
  });

  it('lists every pane of a session with its process and folder', async () => {
    const mux = open();
    const session = await create(mux, 'work');
    await server.tmux('split-window', '-d', '-t', session.id, '-c', '/', 'sleep', '601');
    // tmux asks the process where it is, which takes it a moment after its start.
    await until('both folders', async () => {
      const panes = await mux.panes(session);
      return JSON.stringify(panes?.map(({ cwd }) => cwd)) === JSON.stringify([server.dir, '/']);
    });
    expect(await mux.panes(session)).toMatchObject([
      { pid: session.panes[0]!.pid, dead: false },
      { pid: expect.any(Number), dead: false },
    ]);
    expect(await mux.panes({ id: '$999' })).toBeNull();
    expect(await mux.panes({ id: 'work' })).toBeNull();
  });

  it('ends a session only if the id still has the name', async () => {
    const mux = open();
    const session = await create(mux, 'work');
    expect(await mux.kill({ id: session.id, name: 'wor' })).toBe('gone');
    expect(await mux.kill({ id: '$999', name: 'work' })).toBe('gone');
    expect(await mux.kill({ id: 'work', name: 'work' })).toBe('unknown');
    await server.tmux('rename-session', '-t', session.id, 'mine-now');
    expect(await mux.kill(session)).toBe('gone');
    expect(names(await mux.list())).toEqual(['mine-now', ANCHOR_SESSION]);
  });

  it('never matches a name by its prefix', async () => {
    const mux = open();
    await create(mux, 'work-1');
    expect(names(await mux.list())).not.toContain('work');
    expect(mux.describe().attach_argv('=work')).toEqual([
      mux.describe().tmux,
      '-S',
      server.socket,
      'attach-session',
      '-t',
      '=work',
    ]);
  });

  it('refuses names that tmux would alter', async () => {
    const mux = open();
    for (const name of ['a.b', 'a:b', '', '$x', 'a\\b', 'a\u0007b']) {
      expect(await mux.create({ name, cwd: server.dir, command: SLEEP })).toMatchObject({ kind: 'failed' });
    }
    expect(await mux.list()).toEqual({ kind: 'absent' });
  });

  it('[DSP-9] ends a session whose name has a character that this tmux does not know, and names the fix', async () => {
    const mux = open();
    // A glyph of 2025 (Unicode 17), which the C library of this machine may know one day.
    const name = `a\u088fb-svc`;
    const made = await mux.create({ name, cwd: server.dir, command: SLEEP });
    if (made.kind === 'created') expect(made.session.name).toBe(name);
    else expect(made).toMatchObject({ detail: expect.stringContaining('rename the fiber’s folder') });
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, ...(made.kind === 'created' ? [name] : [])]);
  });

  it('never keeps a session whose command could not be executed', async () => {
    const mux = open();
    const made = await mux.create({ name: 'work', cwd: server.dir, command: ['/no/such/program', 'x'] });
    // The child may be seen in the moment before its exec fails.
    if (made.kind !== 'created')
      expect(made).toMatchObject({ kind: 'failed', detail: 'the session ended at once', ended: true });
    await until('the end of the session', async () => !names(await mux.list()).includes('work'));
  });

  it('gives each session the size it asks for, 200 by 50 by default', async () => {
    const mux = open();
    const plain = await create(mux, 'plain');
    const small = await mux.create({ name: 'small', cwd: '/', command: SLEEP, columns: 90, rows: 30 });
    const size = (id: string) =>
      server.tmux('display-message', '-p', '-t', `${id}:`, '#{pane_width} #{pane_height}');
    expect(await size(plain.id)).toBe('200 50');
    expect(await size(small.kind === 'created' ? small.session.id : '')).toBe('90 30');
  });

  it('starts in the server’s folder and reports no error if the directory is missing, so a script must check it itself', async () => {
    const mux = open();
    const made = await mux.create({ name: 'work', cwd: join(server.dir, 'missing'), command: SLEEP });
    expect(made.kind).toBe('created');
    const path = await server.tmux('display-message', '-p', '-t', '=work:', '#{pane_current_path}');
    expect(path).not.toBe(join(server.dir, 'missing'));
  });

  it('turns off, for its sessions, the options that would end them at once or keep them dead', async () => {
    const mux = open();
    await create(mux, 'first');
    await server.tmux('set-option', '-g', 'remain-on-exit', 'on');
    await server.tmux('set-option', '-g', 'destroy-unattached', 'on');
    const session = await create(mux, 'work', ['sh', '-c', 'read line']);
    expect(await server.tmux('show-options', '-v', '-t', '=work:', 'destroy-unattached')).toBe('off');
    expect(await server.tmux('show-options', '-w', '-v', '-t', '=work:', 'remain-on-exit')).toBe('off');
    expect(names(await mux.list())).toContain('first');
    process.kill(session.panes[0]!.pid!, 'SIGKILL');
    await until('the end of the session', async () => !names(await mux.list()).includes('work'));
  });
});

describe('the server', () => {
  it('is started with the anchor first, which is no login shell', async () => {
    const mux = server.open();
    await create(mux, 'work');
    const command = await server.tmux(
      'display-message',
      '-p',
      '-t',
      `=${ANCHOR_SESSION}:`,
      '#{pane_current_command}',
    );
    expect(command).toBe('sleep');
  });

  it('started from a configuration that ends unattached sessions keeps ours', async () => {
    writeFileSync(join(server.dir, 'conf'), 'set -g destroy-unattached on\nset -g remain-on-exit on\n');
    const mux = server.open();
    await server.tmux(
      '-f',
      join(server.dir, 'conf'),
      'new-session',
      '-d',
      '-s',
      'user',
      ';',
      'set-option',
      'destroy-unattached',
      'off',
      ';',
      'set-option',
      '-g',
      'destroy-unattached',
      'on',
    );
    await create(mux, 'work');
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'user', 'work']);
  });

  it('of the user is started with the user’s configuration, which cannot end our sessions', async () => {
    writeFileSync(
      join(server.dir, '.tmux.conf'),
      'set -g destroy-unattached on\nset -g remain-on-exit on\nset -g history-limit 4321\n',
    );
    const env = { ...process.env, HOME: server.dir, XDG_CONFIG_HOME: server.dir, TMUX_TMPDIR: server.dir };
    const mux = server.open({ socket: null, env, platform: 'linux' });
    const session = await create(mux, 'work');
    expect(mux.control.attached).toBe(true);
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
    expect(mux.describe().attach_argv('=work').slice(1)).toEqual(['attach-session', '-t', '=work']);
    const socket = join(server.dir, `tmux-${process.getuid?.()}`, 'default');
    expect(await server.tmux('-S', socket, 'show-options', '-g', '-v', 'history-limit')).toBe('4321');
    expect(await mux.kill(session)).toBe('killed');
  });

  it('of the user is not used where it would end with its last client, and the option is named', async () => {
    writeFileSync(join(server.dir, '.tmux.conf'), 'set -s exit-unattached on\n');
    const env = { ...process.env, HOME: server.dir, XDG_CONFIG_HOME: server.dir, TMUX_TMPDIR: server.dir };
    const mux = server.open({ socket: null, env, platform: 'linux' });
    expect(await mux.create({ name: 'work', cwd: '/', command: SLEEP })).toEqual({
      kind: 'failed',
      code: 'tmux_server_unavailable',
      detail: expect.stringMatching(/exit-unattached is on.*: tmux set-option -s exit-unattached off$/),
    });
    expect(await mux.list()).toEqual({ kind: 'absent' });
  });

  it.each([
    ['renames', 'rename-session other'],
    ['splits', 'split-window -b sleep\\ 600'],
    ['adds a window', 'new-window sleep\\ 600'],
  ])('of a user whose hook %s keeps our session, and reads the pane that we made', async (_, hook) => {
    const mux = server.open();
    await create(mux, 'first');
    await server.tmux('set-hook', '-g', 'after-new-session', hook);
    await server.tmux('set-option', '-g', 'base-index', '5');
    await server.tmux('set-option', '-g', 'remain-on-exit', 'on');
    const script = join(server.dir, 'launch-1', 'run.sh');
    mkdirSync(join(server.dir, 'launch-1'));
    writeFileSync(script, 'echo agent; read line');
    const session = await create(mux, 'work', ['/bin/sh', script]);
    expect(session.name).toBe('work');
    const found = paneOfLaunch(await mux.list(), 'launch-1');
    await until('the text', async () => (await mux.capture(found!.pane.id))?.includes('agent'));
    process.kill(found!.pane.pid!, 'SIGKILL');
    await until('the end', async () => paneOfLaunch(await mux.list(), 'launch-1') === undefined);
  });

  it('of a user whose hook ends each session is named with the hook', async () => {
    const mux = server.open();
    await create(mux, 'first');
    await server.tmux('set-hook', '-g', 'after-new-session', 'kill-session');
    expect(await mux.create({ name: 'work', cwd: '/', command: SLEEP })).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('after-new-session'),
    });
  });

  it('is started once by concurrent callers', async () => {
    const mux = server.open();
    const made = await Promise.all(Array.from({ length: 6 }, (_, n) => create(mux, `w${n}`)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(6);
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'w0', 'w1', 'w2', 'w3', 'w4', 'w5']);
  });

  it('is started once by two daemons at the same time', async () => {
    const [one, two] = [server.open({ control: 'never' }), server.open({ control: 'never' })];
    await Promise.all([create(one, 'a1'), create(one, 'a2'), create(two, 'b1'), create(two, 'b2')]);
    expect(names(await one.list())).toEqual(['a1', 'a2', 'b1', 'b2', ANCHOR_SESSION]);
  });

  it('has none of this daemon’s own variables', async () => {
    const mux = server.open({
      env: {
        ...process.env,
        SVC_SECRET: 'x',
        NODE_OPTIONS: '',
        NOTIFY_SOCKET: '/n',
        MARK: 'm',
        NODE_EXTRA_CA_CERTS: '/ca.pem',
      },
    });
    await create(mux, 'work');
    const env = await server.tmux('show-environment', '-g');
    expect(env).toContain('MARK=m');
    expect(env).toContain('NODE_EXTRA_CA_CERTS=/ca.pem');
    expect(env).not.toMatch(/^(SVC_|NODE_OPTIONS|NOTIFY_SOCKET|TMUX=)/m);
  });

  it('[MUX-2] is not started on macOS, with a reason', async () => {
    const mux = server.open({
      platform: 'darwin',
      startServer: async () => ({ kind: 'failed', detail: 'no terminal answers' }),
    });
    expect(await mux.create({ name: 'work', cwd: '/', command: SLEEP })).toEqual({
      kind: 'failed',
      code: 'tmux_server_unavailable',
      detail: 'no terminal answers',
    });
    expect(existsSync(server.socket)).toBe(false);
  });

  it('cannot be started: the message of tmux is reported', async () => {
    const mux = server.open({ socket: join(server.dir, 'x'.repeat(120)) });
    expect(await mux.create({ name: 'work', cwd: '/', command: SLEEP })).toMatchObject({
      kind: 'failed',
      detail: expect.stringContaining('File name too long'),
    });
  });

  it('is started in its own scope if we run as a unit', async () => {
    const bin = join(server.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\n[ "$*" = "--user show-environment" ]\n', {
      mode: 0o755,
    });
    writeFileSync(
      join(bin, 'systemd-run'),
      `#!/bin/sh\nprintf '%s\\n' "$@" >'${server.dir}/asked'\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n`,
      { mode: 0o755 },
    );
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, INVOCATION_ID: 'abc' };
    const mux = server.open({ scope: 'auto', env, platform: 'linux' });
    await create(mux, 'work');
    const asked = readFileSync(join(server.dir, 'asked'), 'utf8').split('\n');
    expect(asked.slice(0, 4)).toEqual(['--user', '--scope', '--collect', '--quiet']);
    expect(asked).toContain(ANCHOR_SESSION);
  });

  it('is started directly if the scope cannot be made', async () => {
    const bin = join(server.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\n', { mode: 0o755 });
    const tried = join(server.dir, 'tried');
    writeFileSync(join(bin, 'systemd-run'), `#!/bin/sh\n: >'${tried}'\necho refused >&2; exit 1\n`, {
      mode: 0o755,
    });
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, INVOCATION_ID: 'abc' };
    await create(server.open({ scope: 'auto', env, platform: 'linux' }), 'work');
    expect(existsSync(tried)).toBe(true);
  });
});

describe('the list of sessions', () => {
  it('is absent with a socket file without a listener, and a session can then be made', async () => {
    const mux = server.open();
    await create(mux, 'work');
    process.kill(await server.serverPid(), 'SIGKILL');
    await until('the loss', () => !mux.control.attached);
    expect(existsSync(server.socket)).toBe(true);
    expect(await mux.list()).toEqual({ kind: 'absent' });
    await create(mux, 'again');
    expect(names(await mux.list())).toEqual(['again', ANCHOR_SESSION]);
  });

  it.each(['auto', 'never'] as const)(
    '[MTS-2] is empty on a server that outlived its sessions, and one can then be made, with a control client: %s',
    async (control) => {
      await server.tmux('start-server', ';', 'set-option', '-s', 'exit-empty', 'off');
      const mux = server.open({ control });
      expect(await mux.list()).toEqual({ kind: 'alive', sessions: [] });
      await create(mux, 'work');
      expect(names(await mux.list())).toContain('work');
    },
  );

  it('is unknown, never absent, while a server lives whose socket file was deleted', async () => {
    const mux = server.open();
    const session = await create(mux, 'work');
    const pid = await server.serverPid();
    rmSync(server.socket);
    // A driver that has never seen this server, and one that has lost its connection to it.
    const fresh = server.open();
    expect(await fresh.list()).toMatchObject({ kind: 'unknown', detail: expect.stringContaining('SIGUSR1') });
    process.kill(mux.control.pid!, 'SIGKILL');
    await until('the loss', () => !mux.control.attached);
    expect(await mux.list()).toMatchObject({ kind: 'unknown', detail: expect.stringContaining('SIGUSR1') });
    expect(await mux.create({ name: 'other', cwd: '/', command: SLEEP })).toMatchObject({
      kind: 'failed',
      code: 'mux_unavailable',
    });
    expect(gone(session.panes[0]!.pid!)).toBe(false);
    process.kill(pid, 'SIGUSR1');
    await until('the socket', () => existsSync(server.socket));
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
  });

  it('is unknown while the server does not answer', async () => {
    const mux = server.open({ deadline_ms: 300 });
    const session = await create(mux, 'work');
    const pid = await server.serverPid();
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await mux.list()).toMatchObject({ kind: 'unknown' });
      expect(await mux.list()).toMatchObject({ kind: 'unknown' });
      expect(await mux.kill(session)).toBe('unknown');
      expect(await mux.capture(session.panes[0]!.id)).toBeNull();
      expect(await server.open({ deadline_ms: 300 }).list()).toMatchObject({ kind: 'unknown' });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until('an answer', async () => names(await mux.list()).includes(ANCHOR_SESSION));
  });

  it.each([0, 200, 400, 600])(
    'does not harm a server that was silent for %d ms while we sent requests, ended and reconnected',
    async (ms) => {
      const mux = server.open({ deadline_ms: 200, control: 'always' });
      const session = await create(mux, 'work');
      await create(mux, 'other');
      const pid = await server.serverPid();
      process.kill(pid, 'SIGSTOP');
      try {
        await mux.list();
        await new Promise((resolve) => setTimeout(resolve, ms));
        await Promise.all([mux.kill(session), mux.capture(session.panes[0]!.id), mux.list()]);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await until('a new connection', () => mux.control.attached);
      expect(await server.serverPid()).toBe(pid);
      expect(names(await mux.list())).toContain('other');
    },
  );

  it('is unknown when tmux cannot be run', async () => {
    expect(await server.open({ tmux: join(server.dir, 'no-tmux') }).list()).toEqual({
      kind: 'unknown',
      detail: 'tmux could not be started (ENOENT)',
    });
    expect(await server.open({ socket: '/etc/passwd/s' }).list()).toMatchObject({ kind: 'unknown' });
  });

  it('has the panes that a person opened beside the one we made, which is the oldest', async () => {
    const mux = server.open();
    const session = await create(mux, 'work');
    await server.tmux('split-window', '-b', '-t', `${session.id}:`, 'sleep 600');
    const listing = await mux.list();
    const now = listing.kind === 'alive' ? listing.sessions.find(({ name }) => name === 'work') : undefined;
    expect(now?.panes).toMatchObject([session.panes[0]!, { launch_id: null }]);
  });

  it('shows foreign sessions with any name', async () => {
    const mux = server.open();
    await create(mux, 'work');
    await server.tmux('new-session', '-d', '-s', 'a person’s = *{odd}* session', 'sleep 600');
    expect(names(await mux.list())).toContain('a person’s = *{odd}* session');
  });
});

describe('changes of sessions', () => {
  it.each(['auto', 'never'] as const)(
    'are reported for each of 20 sessions whose process is killed, with a control client: %s',
    async (control) => {
      const mux = server.open({ control });
      const sessions = [];
      for (let n = 0; n < 20; n += 1) sessions.push(await create(mux, `w${n}`));
      await mux.list();
      const seen = new Set<string>();
      let before = new Set(sessions.map(({ name }) => name));
      mux.onChange(async () => {
        const listing = await mux.list();
        if (listing.kind !== 'alive') return;
        const now = new Set(listing.sessions.map(({ name }) => name));
        for (const name of before) if (!now.has(name)) seen.add(name);
        before = now;
      });
      for (const session of sessions) {
        process.kill(session.panes[0]!.pid!, 'SIGKILL');
        await until(`the end of ${session.name}`, () => seen.has(session.name));
      }
    },
  );

  it('are reported to every listener until it unsubscribes', async () => {
    const mux = server.open();
    await create(mux, 'first');
    const counts = { stays: 0, leaves: 0 };
    mux.onChange(() => {
      counts.stays += 1;
    });
    const leave = mux.onChange(() => {
      counts.leaves += 1;
    });
    await until('a call', () => counts.stays > 0 && counts.leaves > 0);
    leave();
    const before = { ...counts };
    await server.tmux('new-session', '-d', '-s', 'other', 'sleep 600');
    await until('a call', () => counts.stays > before.stays);
    expect(counts.leaves).toBe(before.leaves);
  });

  it('are reported when the server dies, which is then absent', async () => {
    const mux = server.open();
    await create(mux, 'work');
    const listings: string[] = [];
    mux.onChange(async () => {
      listings.push((await mux.list()).kind);
    });
    process.kill(await server.serverPid(), 'SIGKILL');
    await until('the news', () => listings.includes('absent'), 3_000);
  });
});

describe('the control client', () => {
  it('is attached to a server that has only the anchor, and again only if that is safe', async () => {
    const mux = server.open();
    const session = await create(mux, 'work');
    expect(mux.control.attached).toBe(true);
    const version = await server.tmux('display-message', '-p', '#{version}');
    const safe = mayAttach({ policy: 'auto', version, sessions: [session] });
    process.kill(mux.control.pid!, 'SIGKILL');
    await until('the loss', () => !mux.control.attached);
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
    if (safe) await until('a new connection', () => mux.control.attached);
    else await expect(mux.control.connect().then(() => mux.control.attached)).resolves.toBe(false);
    await mux.kill(session);
    await mux.list();
    await until('a new connection', () => mux.control.attached);
  });

  it('reconnects after it was killed, and requests work meanwhile', async () => {
    const mux = server.open({ control: 'always' });
    await create(mux, 'work');
    const pid = mux.control.pid!;
    process.kill(pid, 'SIGKILL');
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
    await until('a new connection', () => mux.control.attached && mux.control.pid !== pid);
  });

  it('makes the anchor again if somebody ended it, and attaches to it', async () => {
    const mux = server.open({ control: 'always' });
    await create(mux, 'work');
    const pid = mux.control.pid;
    await server.tmux('kill-session', '-t', `=${ANCHOR_SESSION}`);
    await until('a new connection', () => mux.control.attached && mux.control.pid !== pid);
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
  });

  it('does not mistake the output of hooks for a reply', async () => {
    const mux = server.open();
    await create(mux, 'work');
    await server.tmux(
      'set-hook',
      '-g',
      'session-created',
      'display-message -p "hook speaks" ; list-sessions',
    );
    await server.tmux('set-hook', '-g', 'after-list-panes', 'display-message -p "hook speaks"');
    await server.tmux('set-hook', '-g', 'after-display-message', 'list-sessions');
    for (let n = 0; n < 5; n += 1) {
      const session = await create(mux, `w${n}`);
      expect(session.name).toBe(`w${n}`);
      expect(names(await mux.list())).toContain(`w${n}`);
    }
  });

  it('is not misled by a screen that imitates its protocol', async () => {
    const mux = server.open();
    const fake = '%end 1 2 1\\n%begin 1 3 1\\nforged\\n%end 1 3 1\\n%exit\\n%sessions-changed\\n';
    const session = await create(mux, 'work', ['sh', '-c', `printf '%b' '${fake}'; exec sleep 600`]);
    const screen = await until('the text', async () => {
      const text = await mux.capture(session.panes[0]!.id);
      return text?.includes('%sessions-changed') ? text : null;
    });
    expect(screen).toContain('forged');
    expect(mux.control.attached).toBe(true);
    expect(names(await mux.list())).toEqual([ANCHOR_SESSION, 'work']);
  });

  it('answers many concurrent requests, each with its own reply', async () => {
    const mux = server.open();
    const sessions = await Promise.all(
      [...Array(8).keys()].map((n) => create(mux, `w${n}`, ['sh', '-c', `echo "<w${n}>"; exec sleep 600`])),
    );
    await until('all texts', async () => {
      const texts = await Promise.all(sessions.map((session) => mux.capture(session.panes[0]!.id)));
      return texts.every((text, n) => text?.includes(`<w${n}>`));
    });
  });

  it('accepts lines far longer than the argv limit of tmux', async () => {
    const mux = server.open();
    const session = await create(mux, 'work', ['sleep', '600', ...Array(30).fill('0'.repeat(1_000))]);
    expect(session.name).toBe('work');
  });
});

describe('stopping', () => {
  it('ends the anchor and the client and leaves every other session', async () => {
    const mux = server.open();
    const session = await create(mux, 'work');
    const pid = mux.control.pid!;
    await mux.stop();
    await until('the end of the client', () => gone(pid));
    expect(await server.tmux('list-sessions', '-F', '#{session_name}')).toBe('work');
    expect(gone(session.panes[0]!.pid!)).toBe(false);
    expect(await mux.create({ name: 'late', cwd: '/', command: SLEEP })).toMatchObject({ kind: 'failed' });
  });

  it('lets an empty server end, and is idempotent', async () => {
    const mux = server.open();
    const session = await create(mux, 'work');
    await mux.kill(session);
    await mux.stop();
    await mux.stop();
    // The server ends a moment after its last session, and says so in yet other words on its way.
    await until('the end of the server', async () =>
      /no server running|No such file/.test(await server.tmux('list-sessions')),
    );
  });

  it.each([0, 5, 10, 20, 40])(
    'leaves nothing behind if it is called %d ms after the first request',
    async (ms) => {
      const mux = server.open();
      const creating = mux.create({ name: 'work', cwd: server.dir, command: SLEEP });
      await new Promise((resolve) => setTimeout(resolve, ms));
      await mux.stop();
      await creating;
      const left = await server.tmux('list-sessions', '-F', '#{session_name}');
      expect(left).not.toContain(ANCHOR_SESSION);
    },
  );

  it('leaves no anchor behind while it reconnects', async () => {
    const mux = server.open({ control: 'always' });
    await create(mux, 'work');
    await server.tmux('kill-session', '-t', `=${ANCHOR_SESSION}`);
    await until('the loss', () => !mux.control.attached);
    const connecting = mux.control.connect();
    await mux.stop();
    await connecting;
    expect(await server.tmux('list-sessions', '-F', '#{session_name}')).toBe('work');
  });

  it('starts no server if there was none', async () => {
    const mux = server.open();
    await mux.stop();
    expect(existsSync(server.socket)).toBe(false);
  });
});
