import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findMuxOwner, ownerFromCgroups, ownerFromLaunchctl } from '../../src/platform/mux-owner.ts';
import type { ProcessCall, ProcessResult, ProcessRunner } from '../../src/platform/process.ts';

const recorded = (name: string) =>
  readFileSync(new URL(`../fixtures/macos/launchctl-print-${name}.txt`, import.meta.url), 'utf8');
const LABEL = 'dev.fiber-dispatch.daemon';
const KITTY = 'application.net.kovidgoyal.kitty.1152921500311894117.1152921500311894121';

function answering(answer: (call: ProcessCall) => ProcessResult): ProcessRunner & { calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    run: async (call) => {
      calls.push([call.file, ...call.args].join(' '));
      return answer(call);
    },
    spawnPiped: () => {
      throw new Error('nothing is left running');
    },
  };
}

describe('the owner of the server', () => {
  it('[MUX-4] is the daemon only if launchd names its own label, else the coalition, verbatim', () => {
    expect(ownerFromLaunchctl(recorded('daemon'), LABEL)).toEqual({ kind: 'daemon_born', name: LABEL });
    expect(ownerFromLaunchctl(recorded('kitty'), LABEL)).toEqual({ kind: 'user_born', name: KITTY });
    expect(ownerFromLaunchctl(recorded('daemon'), null)).toEqual({ kind: 'user_born', name: LABEL });
  });

  it.each([
    '',
    'Could not find service',
    'resource coalition = {\n\t\tID = 3',
    'resource coalition = {\n}\nname = x\n',
  ])('[MUX-4] is unknown after an invalid answer: %j', (text) => {
    expect(ownerFromLaunchctl(text, LABEL)).toEqual({ kind: 'unknown', name: null });
  });

  it('[MUX-4] is queried in two ways on macOS, and unknown if neither answers', async () => {
    const told = answering(({ args }) =>
      args[0] === 'print'
        ? { kind: 'exited', code: 1, stdout: '', stderr: 'not permitted' }
        : { kind: 'exited', code: 0, stdout: recorded('kitty'), stderr: '' },
    );
    const options = { platform: 'darwin' as const, env: { XPC_SERVICE_NAME: LABEL } };
    expect(await findMuxOwner(4242, { ...options, runner: told })).toEqual({
      kind: 'user_born',
      name: KITTY,
    });
    expect(told.calls).toEqual(['/bin/launchctl print pid/4242', '/bin/launchctl procinfo 4242']);
    const silent = answering(() => ({ kind: 'timed_out' }));
    expect((await findMuxOwner(4242, { ...options, runner: silent })).kind).toBe('unknown');
    expect((await findMuxOwner(null, { ...options, runner: silent })).kind).toBe('absent');
    expect(silent.calls).toHaveLength(2);
  });

  it('[MUX-5] is found without a program on other systems', async () => {
    const runner = answering(() => ({ kind: 'timed_out' }));
    for (const platform of ['linux', 'freebsd'] as const)
      await findMuxOwner(process.pid, { platform, env: {}, runner });
    expect(runner.calls).toEqual([]);
  });

  const UNIT = '0::/user.slice/user-1000.slice/user@1000.service/app.slice/fiber-dispatch.service\n';
  it.each([
    ['the daemon’s own service', UNIT, UNIT, 'daemon_born'],
    ['a group below it', UNIT.replace('.service\n', '.service/tmux\n'), UNIT, 'daemon_born'],
    [
      'a scope of its own',
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/svc-mux-1.scope\n',
      UNIT,
      'user_born',
    ],
    [
      'the same terminal as the daemon',
      '0::/user.slice/session-3.scope\n',
      '0::/user.slice/session-3.scope\n',
      'user_born',
    ],
    ['a container without units', '0::/\n', '0::/\n', 'user_born'],
    [
      'the first hierarchy of an older system',
      `12:pids:/a\n1:name=systemd:/system.slice/d.service\n`,
      `1:name=systemd:/system.slice/d.service\n`,
      'daemon_born',
    ],
    ['nothing that can be read', '', UNIT, 'unknown'],
  ])('[MUX-4] is read from control groups on Linux: %s', (_where, server, own, kind) => {
    expect(ownerFromCgroups(server, own).kind).toBe(kind);
  });
});
