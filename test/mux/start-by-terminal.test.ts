import { describe, expect, it } from 'vitest';
import { startByTerminal } from '../../src/mux/start-by-terminal.ts';
import type { ProcessResult, ProcessRunner } from '../../src/platform/process.ts';

const DONE: ProcessResult = { kind: 'exited', code: 0, stdout: '', stderr: '' };
const FAILED: ProcessResult = {
  kind: 'exited',
  code: 1,
  stdout: '',
  stderr: 'Error: Failed to connect to unix:/tmp/kitty-7 with error: [Errno 61] Connection refused',
};

/** A machine on which the kitty at one socket answers; the server is there once it was asked. */
function machine(answers: string | null) {
  const calls: string[][] = [];
  let started = false;
  const runner: ProcessRunner = {
    run: async ({ file, args }) => {
      calls.push([file, ...args]);
      if (file === '/opt/tmux') return started ? DONE : FAILED;
      started ||= args.includes(`unix:${answers}`);
      return started ? DONE : FAILED;
    },
    spawnPiped: () => {
      throw new Error('the server may not be started by us');
    },
  };
  const options = {
    tmux: '/opt/tmux',
    runner,
    deadline_ms: 200,
    program: '/opt/kitten',
    names: () => ['kitty-7', 'kitty-9', 'kitty-8', 'other'],
    isAlive: (pid: number) => pid !== 8,
  };
  return { calls, options };
}

describe('a server that only the terminal emulator may start', () => {
  it('[MUX-1] is started by the kitty that answers, in the background, holding the anchor session', async () => {
    const { calls, options } = machine('/tmp/kitty-7');
    expect(await startByTerminal({ ...options, env: {} })).toEqual({ kind: 'started' });
    const asked = (socket: string) => [
      ...['/opt/kitten', '@', '--to', `unix:${socket}`, 'launch', '--type=background', '--cwd=/', '--'],
      ...['/opt/tmux', 'new-session', '-d', '-s', 'svc-anchor'],
    ];
    expect(calls.slice(0, 2)).toEqual([asked('/tmp/kitty-9'), asked('/tmp/kitty-7')]);
    expect(calls.slice(2)).toEqual([['/opt/tmux', '-N', 'has-session', '-t', '=svc-anchor']]);
  });

  it('[MUX-1] is asked of the kitty that KITTY_LISTEN_ON names first', async () => {
    const { calls, options } = machine('/tmp/mine');
    await startByTerminal({ ...options, env: { KITTY_LISTEN_ON: 'unix:/tmp/mine' } });
    expect(calls[0]).toContain('unix:/tmp/mine');
  });

  it.each([
    ['no kitty answers', {}],
    ['there is no kitty', { program: null }],
  ])('[MUX-2] is refused with what a person can do when %s, and never started by us', async (_why, more) => {
    const { calls, options } = machine(null);
    const answer = await startByTerminal({ ...options, env: {}, ...more });
    expect(answer).toMatchObject({
      kind: 'failed',
      detail: expect.stringMatching(/tmux new-session -d -s svc-anchor$/),
    });
    expect(calls.filter(([file]) => file === '/opt/tmux')).toEqual([]);
  });
});
