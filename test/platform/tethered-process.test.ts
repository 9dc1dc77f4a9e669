import { describe, expect, it } from 'vitest';
import { spawnPiped } from '../../src/platform/piped-process.ts';
import { tethered } from '../../src/platform/tethered-process.ts';
import { isRunning, processOf } from '../kit/processes.ts';
import { until } from '../kit/until.ts';

function start(script: string) {
  const program = spawnPiped({ ...tethered(['/bin/sh', '-c', script, "it's $0", '%;x']) });
  const run = { program, out: '', ended: null as string | null };
  program.onStdout((chunk) => {
    run.out += Buffer.from(chunk).toString();
  });
  program.onExit((detail) => {
    run.ended = detail;
  });
  return run;
}

describe('a tethered program', () => {
  it('gets its words unread and no input, and its end is told with what it said', async () => {
    const run = start('printf "%s|%s|" "$0" "$1"; cat; echo gone >&2; exit 3');
    await until('its end', () => run.ended !== null);
    expect([run.out, run.ended]).toEqual(["it's $0|%;x|", 'gone']);
  });

  it('ends when the other end of its input is closed', async () => {
    const run = start('echo $$; exec sleep 600');
    const pid = await until('its pid', () => Number(run.out) || null);
    const row = processOf(pid);
    run.program.end();
    await until('its end', () => run.ended !== null && !isRunning(row));
  });
});
