import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createExternalCli } from '../../src/dispatch/external-cli.ts';
import { createRunner } from '../../src/platform/process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(script: string, timeout_ms = 5_000) {
  const file = join(folder, 'cli');
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/args\n${script}\n`);
  chmodSync(file, 0o755);
  return createExternalCli({ file, env: () => process.env, runner: createRunner(), timeout_ms });
}
const accept = { action: 'accept', fiber: 'work/a b', store: '/s', outcome: '$(x)' } as const;

describe('an external CLI', () => {
  it('[WPL-3] is given the verb with the local flag, and its text is the answer', async () => {
    expect(await program('echo accepted').run(accept)).toEqual({
      status: 0,
      text: 'accepted\n',
      error: null,
    });
    expect(readFileSync(join(folder, 'args'), 'utf8').split('\n')).toEqual([
      'accept',
      '--local',
      '--store=/s',
      '--outcome=$(x)',
      '--',
      'work/a b',
      '',
    ]);
  });

  it('is not asked to end a worker, which the daemon does itself', async () => {
    await program('true').run({ action: 'pause', fiber: 'a', kill: true });
    expect(readFileSync(join(folder, 'args'), 'utf8')).not.toContain('kill');
  });

  it('[ERR-18] refuses with its own status and sentence', async () => {
    expect(await program('echo "svc: it is not so" >&2; exit 3').run(accept)).toEqual({
      status: 3,
      text: 'it is not so',
      error: 'refused',
    });
  });

  it('[WPL-17] [RPL-5] answers what it prints as JSON, and refuses by the code that was asked for', async () => {
    const ask = (script: string) =>
      program(script).ask(['agents', '--json'], z.object({ default: z.string() }), 'invalid_config');
    expect(await ask(`echo '{"default": "one"}'`)).toEqual({ default: 'one' });
    await expect(ask('echo "svc: broken" >&2; exit 1')).rejects.toMatchObject({
      code: 'invalid_config',
      message: 'broken',
    });
    await expect(ask(`echo '{"error": "x", "message": "told so"}' >&2; exit 1`)).rejects.toThrow('told so');
    for (const script of ['echo one', `echo '{"default": 1}'`])
      await expect(ask(script)).rejects.toMatchObject({ code: 'cli_unavailable' });
  });

  it('that does not answer in time, or cannot be started, is an error of its own', async () => {
    await expect(program('sleep 30', 200).run(accept)).rejects.toMatchObject({ code: 'cli_timed_out' });
    rmSync(join(folder, 'cli'));
    const gone = createExternalCli({
      file: join(folder, 'cli'),
      env: () => process.env,
      runner: createRunner(),
      timeout_ms: 500,
    });
    await expect(gone.run(accept)).rejects.toMatchObject({ code: 'cli_unavailable' });
  });
});
