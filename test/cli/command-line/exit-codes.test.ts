import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMachine, type Machine } from '../kit.ts';

const LAUNCHER = new URL('../../../src/cli/launcher.mjs', import.meta.url).pathname;
const run = promisify(execFile);

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

async function svc(...argv: string[]) {
  try {
    const { stdout, stderr } = await run(process.execPath, [LAUNCHER, ...argv], { env: machine.env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

describe('exit codes of the real launcher', () => {
  it.each([
    [1, 'store_not_found', ['fiber', 'ls']],
    [2, 'invalid_request', ['dispatch']],
    [2, 'invalid_request', ['dispach']],
    [2, 'invalid_request', ['ps', '--colour']],
    [2, 'invalid_request', ['daemon']],
    [3, 'daemon_unreachable', ['ps']],
    [3, 'daemon_unreachable', ['log', 'a']],
    [3, 'daemon_unreachable', ['status']],
    [3, 'daemon_unreachable', ['kill', 'a', '--yes']],
  ])('exits with %i for %s: svc %j, as text and as JSON', async (code, error, argv) => {
    const [words, json] = await Promise.all([svc(...argv), svc(...argv, '--json')]);
    expect(words).toMatchObject({ code, stdout: '' });
    expect(words.stderr).not.toBe('');
    expect(json).toMatchObject({ code, stdout: '' });
    expect(JSON.parse(json.stderr)).toEqual({ error, message: expect.stringMatching(/^[^\n]+$/) });
  });

  it('names the fix for a system error, as text and as JSON', async () => {
    const file = join(machine.folder, 'file');
    writeFileSync(file, '');
    machine.env.SVC_CONFIG_DIR = file;
    const init = ['fiber', 'init', join(machine.folder, 'notes'), '--poll'];
    const words = await svc(...init);
    const json = await svc(...init, '--json');
    const sentence = `EEXIST: file already exists, mkdir '${file}'; another file has that path; move it away`;
    expect(words.stderr).toBe(`svc: ${sentence}\n`);
    expect(JSON.parse(json.stderr)).toEqual({ error: 'internal', message: sentence });
    expect([words.code, json.code]).toEqual([1, 1]);
  });

  it.skipIf(process.platform !== 'linux')(
    'says that a full disk has not taken the result, and outlives one that takes no error',
    async () => {
      const shell = (line: string) =>
        run('/bin/sh', ['-c', `'${process.execPath}' '${LAUNCHER}' ${line}; echo $?`], { env: machine.env });
      expect(await shell('host > /dev/full')).toEqual({
        stdout: '1\n',
        stderr: expect.stringMatching(/^svc: the output cannot be written: ENOSPC/),
      });
      expect(await shell('dispach > /dev/full')).toEqual({
        stdout: '2\n',
        stderr: expect.stringContaining('Did you mean dispatch?'),
      });
      expect(await shell('dispach 2> /dev/full')).toEqual({ stdout: '2\n', stderr: '' });
    },
  );

  it('exits with 0 and without colours for a result', async () => {
    const { code, stdout, stderr } = await svc('host', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveProperty('host');
    machine.env.FORCE_COLOR = '1';
    expect((await svc('help')).stdout).not.toContain('\u001b');
  });

  it('exits quietly when the reader of its output closes the pipe', async () => {
    const script = `"${process.execPath}" "${LAUNCHER}" daemon settings | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await run('bash', ['-c', script], { env: machine.env });
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n').at(-1)).toBe('0');
  });
});
