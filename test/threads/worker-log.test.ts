import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

describe('the log of a component', () => {
  it('reaches standard output while the main thread is blocked and although the process dies next', () => {
    const main = fileURLToPath(new URL('../fixtures/threads/log-main.ts', import.meta.url));
    const { stdout, signal } = spawnSync(process.execPath, [main], { encoding: 'utf8', timeout: 15_000 });
    expect(signal).toBe('SIGKILL');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ component: 'fixture', msg: 'said by the thread', level: 30 }]);
  });
});
