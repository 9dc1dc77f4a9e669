import { chmodSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { run, TestHome } from '../kit/test-home.ts';

let daemon: TestDaemon | undefined;
let home: TestHome | undefined;
afterEach(async () => {
  await daemon?.dispose();
  await home?.dispose();
  daemon = undefined;
  home = undefined;
});

/** An executable that answers `host --json` with this text and everything else with a failure. */
function cliThatSays(of: TestHome, answer: string): string {
  const path = of.write(
    'cli.sh',
    `#!/bin/sh\n[ "$*" = 'host --json' ] || exit 9\ncat <<'END'\n${answer}\nEND\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

describe('the host id', () => {
  it('[DSP-3] is SVC_HOST, trimmed, over host.json', async () => {
    daemon = await startTestDaemon({
      settings: { SVC_HOST: '  spaced-out \t' },
      prepare: (at) => {
        at.write('config/host.json', { version: 1, host: 'another' });
        at.fiber('mine', { svc: { host: 'spaced-out' } });
        at.fiber('not-mine', { svc: { host: 'another' } });
      },
    });
    expect((await daemon.version()).host).toBe('spaced-out');
    await daemon.running('mine');
    await daemon.ticks();
    expect((await daemon.row('not-mine'))?.runtime).toBeUndefined();
  });

  it('[DSP-3] is fixed at boot: host.json may change under a running daemon', async () => {
    daemon = await startTestDaemon({
      settings: { SVC_HOST: undefined },
      prepare: (at) => void at.write('config/host.json', { version: 1, host: 'first' }),
    });
    daemon.home.write('config/host.json', { version: 1, host: 'second' });
    daemon.home.fiber('of-the-second', { svc: { host: 'second' } });
    daemon.home.fiber('of-the-first', { svc: { host: 'first' } });
    await daemon.running('of-the-first');
    await daemon.ticks();
    expect((await daemon.version()).host).toBe('first');
    expect((await daemon.state()).host).toBe('first');
    expect((await daemon.row('of-the-second'))?.runtime).toBeUndefined();
    await daemon.restart();
    expect((await daemon.version()).host).toBe('second');
  });

  it('[DSP-3][VER-3] is what the CLI of SVC_CLI reports; a CLI with another contract version, or none, is a skew', async () => {
    daemon = await startTestDaemon({
      settings: { SVC_HOST: undefined },
      prepare: (at) => {
        at.env.SVC_CLI = cliThatSays(at, '{"host": "told-by-cli"}');
      },
    });
    expect((await daemon.version()).host).toBe('told-by-cli');
    expect((await daemon.state()).contract).toEqual({ ok: false, daemon: 1, cli: null });
    const { SVC_CLI } = daemon.home.env;
    expect((await daemon.version()).skew).toMatchObject([{ of: 'cli', where: SVC_CLI }]);
    cliThatSays(daemon.home, '{"host": "told-by-cli", "contract": 1}');
    await daemon.restart();
    expect((await daemon.state()).contract).toEqual({ ok: true, daemon: 1, cli: 1 });
    expect((await daemon.version()).skew).toEqual([]);
  });

  it.each([
    ['is missing', undefined],
    ['answers no JSON', 'hello'],
    ['names no host', '{"contract": 1}'],
  ])('[DSP-3] prevents the boot of the daemon when SVC_CLI %s', async (_case, answer) => {
    home = new TestHome({ SVC_HOST: undefined });
    const cli = answer === undefined ? home.path('no-such-cli') : cliThatSays(home, answer);
    const [file = '', ...args] = home.daemonArgv();
    const ran = await run(file, args, { ...home.env, SVC_CLI: cli });
    expect(ran.code).not.toBe(0);
    expect(ran.code).not.toBeNull();
    expect(ran.stderr).toMatch(new RegExp(`^svc.*SVC_CLI is ${cli}.*fix it or unset SVC_CLI`));
    expect(ran.stderr).not.toContain('    at ');
  });

  it('[DSP-3] prevents the boot of the daemon if it is invalid, and the error names the variable', async () => {
    home = new TestHome({ SVC_HOST: 'a host' });
    const [file = '', ...args] = home.daemonArgv();
    const ran = await run(file, args, home.env);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain('SVC_HOST is "a host"');
  });
});
