import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSessionName } from '../../../src/cli/verbs/attach/choose-worker.ts';
import { attachCommand } from '../../../src/cli/verbs/attach.ts';
import { runInProcess } from '../in-process.ts';
import { createMachine, type Machine } from '../kit.ts';

const LAUNCHER = new URL('../../../src/cli/launcher.mjs', import.meta.url).pathname;
const SESSION = 'loader-01K2B3C4D5E6F7G8H9J0K1M2N3-svc';

let machine: Machine;
let worker: string;
let desk: string;

/** One command to one of the two private servers of this test. */
function tmux(socket: string, ...args: string[]): string {
  const { TMUX: _, ...env } = process.env;
  return execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('it did not come to that');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

beforeEach(() => {
  machine = createMachine();
  worker = join(machine.folder, 'worker.sock');
  desk = join(machine.folder, 'desk.sock');
  tmux(worker, 'new-session', '-d', '-s', SESSION, 'sleep 60');
});
afterEach(() => {
  for (const [socket, session] of [
    [worker, SESSION],
    [desk, 'desk'],
  ] as const) {
    try {
      tmux(socket, 'kill-session', '-t', `=${session}`);
    } catch {
      // Its server has ended with the last session.
    }
  }
  machine.remove();
});

describe('svc attach', () => {
  it('says what to do instead where there is no terminal to show the worker in', async () => {
    const attach = runInProcess(['attach', SESSION], { ...machine.env, SVC_TMUX_SOCKET: worker });
    await expect(attach).rejects.toMatchObject({
      code: 'invalid_request',
      message:
        'svc attach needs a terminal to show a worker in; `svc transcript <fiber>` prints what was said',
    });
  });

  it('shows the worker in this terminal, without a daemon, and returns when it is detached', async () => {
    const command = `${process.execPath} ${LAUNCHER} attach ${SESSION}; echo "ended with $?"; sleep 60`;
    const env = Object.entries({ ...machine.env, SVC_TMUX_SOCKET: worker }).flatMap(([name, value]) => [
      '-e',
      `${name}=${value}`,
    ]);
    tmux(desk, 'new-session', '-d', '-s', 'desk', ...env, 'sh', '-c', command);
    await until(() => tmux(worker, 'list-clients', '-F', '#{session_name}').includes(SESSION));
    tmux(worker, 'detach-client', '-s', `=${SESSION}`);
    await until(() => tmux(desk, 'capture-pane', '-p', '-t', '=desk:').includes('ended with 0'));
    expect(tmux(worker, 'list-sessions', '-F', '#{session_name}').trim()).toBe(SESSION);
  });

  it('says that tmux is missing', async () => {
    machine.env.PATH = machine.folder;
    expect(await machine.svc('attach', SESSION)).toEqual({
      code: 1,
      out: '',
      err: 'svc: tmux is not on the PATH; install it, then try again\n',
    });
  });
});

describe('the command that attaches', () => {
  it('targets the session by exact name, on the private server if there is one', () => {
    expect(attachCommand('a', null, {})).toEqual({ file: 'tmux', args: ['attach', '-t', '=a'], env: {} });
    expect(attachCommand('a', '/s', {}).args).toEqual(['-S', '/s', 'attach', '-t', '=a']);
  });

  it('switches the client inside the same server, and leaves another server first', () => {
    const inside = { TMUX: '/tmp/tmux-0/default,1,0', TMUX_PANE: '%1', HOME: '/h' };
    expect(attachCommand('a', null, inside).args).toEqual(['switch-client', '-t', '=a']);
    expect(attachCommand('a', '/s', inside)).toMatchObject({
      args: ['-S', '/s', 'attach', '-t', '=a'],
      env: { HOME: '/h' },
    });
    expect(attachCommand('a', '/s', { TMUX: '/s,1,0' }).args).toEqual([
      '-S',
      '/s',
      'switch-client',
      '-t',
      '=a',
    ]);
  });

  it.each([
    [SESSION, true],
    ['work/loader', false],
    ['01K2B3C4D5E6F7G8H9J0K1M2N3', false],
    ['loader-svc', false],
  ])('takes %s for a session name: %s', (name, expected) => {
    expect(isSessionName(name)).toBe(expected);
  });
});
