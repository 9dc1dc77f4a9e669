import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';
import { commandsFrom, parsePsCommands } from '../../src/platform/process-commands.ts';
import { createProcessFacts } from '../../src/platform/process-facts.ts';

const runner = createRunner();
const facts = createProcessFacts({ platform: process.platform, runner });
const started: ReturnType<typeof spawn>[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
});

describe('the commands below a process', () => {
  it('are its own and those of everything it started, with their exact arguments', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 86400 & echo $!; wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    started.push(child);
    const [line] = await once(child.stdout!, 'data');
    const below = Number(String(line));
    // The shell tells the pid before the program of that process is another one.
    await vi.waitFor(async () => {
      const commands = await commandsFrom(child.pid!, { facts, platform: process.platform, runner });
      expect(commands?.map(({ pid, argv }) => [pid, argv.at(-1)])).toEqual([
        [child.pid, 'sleep 86400 & echo $!; wait'],
        [below, '86400'],
      ]);
    });
    process.kill(below, 'SIGKILL');
  });

  it('are empty for a process that has ended, and unknown if the kernel does not answer', async () => {
    expect(await commandsFrom(2 ** 22 + 1, { facts, platform: process.platform, runner })).toEqual([]);
    const silent = { ...facts, table: async () => null };
    expect(await commandsFrom(process.pid, { facts: silent, platform: process.platform, runner })).toBeNull();
  });

  it('are read from ps elsewhere', async () => {
    const text = '  501 /bin/zsh -l\n  502 node /opt/x/claude --resume\nodd\n';
    expect(parsePsCommands(text)).toEqual(
      new Map([
        [501, ['/bin/zsh', '-l']],
        [502, ['node', '/opt/x/claude', '--resume']],
      ]),
    );
    const row = { pid: 501, parent: 1, start_time: 'now', session: null, state: 'S' };
    const asked: string[][] = [];
    const ps = {
      ...runner,
      run: async ({ args }: { args: readonly string[] }): Promise<ProcessResult> => {
        asked.push([...args]);
        return { kind: 'exited', code: 0, stdout: text, stderr: '' };
      },
    };
    const table = async () => [row, { ...row, pid: 502, parent: 501 }];
    const told = await commandsFrom(501, { facts: { ...facts, table }, platform: 'darwin', runner: ps });
    expect(told?.map(({ argv }) => argv[0])).toEqual(['/bin/zsh', 'node']);
    expect(asked).toEqual([['-p', '501,502', '-o', 'pid=,command=']]);
  });
});
