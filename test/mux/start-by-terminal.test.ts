import { describe, expect, it } from 'vitest';
import { startByTerminal } from '../../src/mux/start-by-terminal.ts';
import type { ProcessResult, ProcessRunner } from '../../src/platform/process.ts';
import type { TerminalLaunch, TerminalLaunched } from '../../src/platform/terminal-kitty.ts';

const DONE: ProcessResult = { kind: 'exited', code: 0, stdout: '', stderr: '' };
const FAILED: ProcessResult = { kind: 'exited', code: 1, stdout: '', stderr: 'no server running' };

/** A machine whose emulator gives this answer; a server that it starts is seen at the second look. */
function machine(answer: TerminalLaunched, comes = true) {
  const runs: string[][] = [];
  const launches: TerminalLaunch[] = [];
  const runner: ProcessRunner = {
    run: async ({ file, args }) => {
      runs.push([file, ...args]);
      return launches.length > 0 && comes && runs.length > 1 ? DONE : FAILED;
    },
    spawnPiped: () => {
      throw new Error('the server may not be started by us');
    },
  };
  const openTerminal = async (launch: TerminalLaunch) => {
    launches.push(launch);
    return answer;
  };
  return { runs, launches, options: { tmux: '/opt/tmux', env: {}, runner, deadline_ms: 200, openTerminal } };
}

describe('a server that only the terminal emulator may start', () => {
  it('[MUX-1] is started by it in the background, outside any project, with the anchor session', async () => {
    const { runs, launches, options } = machine({ kind: 'opened', terminal: 'kitty' });
    expect(await startByTerminal(options)).toEqual({ kind: 'started' });
    const argv = ['/opt/tmux', 'new-session', '-d', '-s', 'svc-anchor'];
    expect(launches).toEqual([{ argv, title: 'svc-anchor', type: 'background', cwd: '/' }]);
    const look = ['/opt/tmux', '-N', 'has-session', '-t', '=svc-anchor'];
    expect(runs).toEqual([look, look]);
  });

  it.each([
    ['nobody answers', { kind: 'unreachable', detail: 'no kitty listens' }, true, false],
    ['it will not', { kind: 'refused', detail: 'Remote control is disabled' }, true, false],
    ['nothing comes of it', { kind: 'opened', terminal: 'kitty' }, false, true],
  ] as const)(
    '[MUX-2] is refused with what a person can do when %s, and never started by us',
    async (_why, answer, comes, looked) => {
      const { runs, options } = machine(answer, comes);
      const said = await startByTerminal(options);
      expect(said).toMatchObject({
        kind: 'failed',
        detail: expect.stringMatching(/tmux new-session -d -s svc-anchor$/),
      });
      if ('detail' in answer) expect(said).toMatchObject({ detail: expect.stringContaining(answer.detail) });
      expect(runs.length > 0).toBe(looked);
      for (const [, , word] of runs) expect(word).toBe('has-session');
    },
  );
});
