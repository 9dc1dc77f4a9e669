import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { shellWord } from '../../../../src/base/shell-word.ts';
import { runCli } from '../../../../src/cli/main.ts';
import type { Finding } from '../../../../src/cli/verbs/doctor/check.ts';
import { withoutTrust, withTrust } from '../../../../src/harness/codex/hook-trust.ts';
import {
  hookCommand,
  hookScript,
  isHookCommand,
  programsOf,
} from '../../../../src/harness/hooks/hook-command.ts';
import { withHooks } from '../../../../src/harness/hooks/hook-settings.ts';
import { compareHooks } from '../../../../src/harness/hooks/installed-hooks.ts';
import { installedSkew } from '../../../../src/harness/hooks/skew.ts';
import { compareSkills } from '../../../../src/harness/hooks/worker-skills.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-setup-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = () => ({
  HOME: home,
  SVC_DATA_DIR: join(home, 'data'),
  SVC_CONFIG_DIR: join(home, 'config'),
  PATH: '/nonexistent',
});

async function svc(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    env: env(),
    cwd: home,
    clock: systemClock,
    stdin: process.stdin,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

const put = (name: string, text: string) => {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
};
const text = (name: string) => readFileSync(join(home, name), 'utf8');
const everything = () =>
  readdirSync(home, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [path, readFileSync(path, 'utf8')]);

const USERS_HOOK = { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine.sh' }] };
const SETTINGS = [
  ['two spaces', `${JSON.stringify({ theme: 'dark', hooks: { PreToolUse: [USERS_HOOK] } }, null, 2)}\n`],
  ['tabs, no end of line', JSON.stringify({ hooks: { Stop: [] }, x: 1 }, null, '\t')],
  ['one line, strangely spaced', '{ "a":1,"hooks" : {} }'],
] as const;

describe('svc setup', () => {
  it('keeps a link of the user whose file is not there yet', async () => {
    mkdirSync(join(home, 'dotfiles'));
    mkdirSync(join(home, '.claude'));
    symlinkSync('../dotfiles/claude.json', join(home, '.claude/settings.json'));
    expect((await svc('setup', 'claude')).code).toBe(0);
    expect(JSON.parse(text('dotfiles/claude.json'))).toHaveProperty('hooks');
    expect((await svc('setup', 'claude', '--uninstall')).code).toBe(0);
    expect(readlinkSync(join(home, '.claude/settings.json'))).toBe('../dotfiles/claude.json');
    expect(existsSync(join(home, 'dotfiles/claude.json'))).toBe(false);
  });

  it.each(SETTINGS)(
    'keeps the user’s settings, is idempotent, and removes exactly its part: %s',
    async (_how, before) => {
      put('.claude/settings.json', before);
      put('.claude/skills/mine/SKILL.md', 'mine');
      const all = everything();
      expect((await svc('setup', 'claude')).code).toBe(0);
      const settings = JSON.parse(text('.claude/settings.json'));
      expect(settings).toMatchObject({ ...JSON.parse(before), hooks: expect.anything() });
      expect(settings.hooks.SessionStart).toHaveLength(1);
      if (before.includes('mine.sh')) expect(settings.hooks.PreToolUse[0]).toEqual(USERS_HOOK);
      const done = everything();
      expect((await svc('setup', 'claude')).out).toBe('claude: nothing to change\n');
      expect(everything()).toEqual(done);
      expect((await svc('setup', 'claude', '--uninstall')).code).toBe(0);
      expect(everything()).toEqual(all);
    },
  );

  it('keeps what the user added after the setup', async () => {
    await svc('setup', 'claude');
    const settings = JSON.parse(text('.claude/settings.json'));
    settings.hooks.Stop.unshift(USERS_HOOK);
    settings.theme = 'light';
    put('.claude/settings.json', JSON.stringify(settings, null, 2));
    put('.claude/skills/fiber-store/SKILL.md', 'changed by me');
    const { out } = await svc('setup', 'claude', '--uninstall');
    expect(JSON.parse(text('.claude/settings.json'))).toEqual({
      hooks: { Stop: [USERS_HOOK] },
      theme: 'light',
    });
    expect(text('.claude/skills/fiber-store/SKILL.md')).toBe('changed by me');
    expect(out).toContain('kept ');
  });

  it.each(['{ "hooks": ', '[]', '{"hooks": []}', '{"hooks": {"Stop": {}}}'])(
    'refuses settings of an unknown form: %s',
    async (broken) => {
      put('.claude/settings.json', broken);
      const all = everything();
      const { code, err } = await svc('setup', 'claude');
      expect(code).toBe(1);
      expect(err).toContain('settings.json was not changed');
      expect(everything()).toEqual(all);
    },
  );

  it('refuses to replace a skill of that name that it did not write', async () => {
    put('.pi/agent/skills/fiber-store/SKILL.md', 'somebody’s own');
    const { code, err } = await svc('setup', 'pi');
    expect([code, existsSync(join(home, '.pi/agent/extensions'))]).toEqual([1, false]);
    expect(err).toContain('move it away');
  });

  it('removes leftovers of a killed setup, but not the files of a running one', async () => {
    const ended = spawnSync(process.execPath, ['-e', '0']).pid;
    const left = (pid: number) => `.pi/agent/skills/fiber-store/.SKILL.md.tmp-${pid}-0123456789ab`;
    put(left(ended), '');
    put(left(process.pid), '');
    expect((await svc('setup', 'pi')).code).toBe(0);
    expect([ended, process.pid].map((pid) => existsSync(join(home, left(pid))))).toEqual([false, true]);
  });

  it.each(['claude', 'pi'])(
    'shows with --dry-run what it would change for %s, and writes nothing',
    async (name) => {
      const dry = JSON.parse((await svc('setup', name, '--dry-run', '--json')).out);
      expect(everything()).toEqual([]);
      const real = JSON.parse((await svc('setup', name, '--json')).out);
      expect(dry).toEqual({ ...real, dry_run: true });
      expect(real.changes.every(({ path }: { path: string }) => existsSync(path))).toBe(true);
    },
  );

  it('leaves out the hooks of Codex if their hashes are unknown, since Codex would ask about them', async () => {
    const { code, err } = await svc('setup', 'codex');
    expect(code).toBe(1);
    expect(err).toContain('codex is not on the PATH');
    expect(existsSync(join(home, '.codex/hooks.json'))).toBe(false);
    expect(existsSync(join(home, '.codex/skills/fiber-service/SKILL.md'))).toBe(true);
  });

  it('adds its part to a valid config.toml and removes it exactly, and refuses an invalid one', () => {
    const hooks = {
      file: '/h/hooks.json',
      places: [{ event: 'SessionStart', group: 2 }],
      hashes: new Map([['sessionStart', 'sha256:1']]),
    };
    for (const before of ['', 'model = "x" # mine\n', '[a]\nb = 1\n']) {
      const after = withTrust('config.toml', before, hooks);
      expect(after).toContain('[hooks.state."/h/hooks.json:session_start:2:0"]\ntrusted_hash = "sha256:1"');
      expect(withTrust('config.toml', after, hooks)).toBe(after);
      expect(withoutTrust(after)).toBe(before);
    }
    expect(() => withTrust('config.toml', 'a = [', hooks)).toThrow('was not changed');
  });

  it('[VER-3] updates skills of another generation, which are reported as a skew until then', async () => {
    const state = async () =>
      (await compareSkills(env())).installed.find(({ harness }) => harness === 'claude')?.state;
    expect(await state()).toBe('absent');
    await svc('setup', 'claude');
    expect(await state()).toBe('current');
    rmSync(join(home, '.claude/skills/fiber-service/references/handoff.md'));
    expect(await state()).toBe('skewed');
    await svc('setup', 'claude');
    expect(await state()).toBe('current');
  });

  describe('its hooks', () => {
    const hooksOf = async (name: string) =>
      (await compareHooks(env())).find(({ harness }) => harness === name);
    const doctor = async () => {
      const { findings } = JSON.parse((await svc('doctor', '--json')).out) as { findings: Finding[] };
      return findings.filter(({ name }) => name.startsWith('hooks of '));
    };
    const moved = (file: string, from: RegExp, to: string) => put(file, text(file).replaceAll(from, to));

    it.each([
      ['claude', '.claude/settings.json'],
      ['pi', '.pi/agent/extensions/fiber-dispatch.ts'],
    ])(
      '[VER-3] of %s are reported by doctor if their program is missing or another svc',
      async (name, file) => {
        expect((await hooksOf(name))?.state).toBe('absent');
        expect(await doctor()).toEqual([]);
        await svc('setup', name);
        expect(await hooksOf(name)).toMatchObject({ state: 'current' });
        expect(await doctor()).toMatchObject([{ level: 'ok' }]);

        moved(file, /[^ "']*svc-hook\.sh/g, join(home, 'old', 'svc-hook.sh'));
        expect(await hooksOf(name)).toMatchObject({
          state: 'gone',
          program: join(home, 'old', 'svc-hook.sh'),
        });
        const mend = `run: svc setup ${name}`;
        expect(await doctor()).toMatchObject([
          { level: 'warn', what: expect.stringContaining('does not exist'), mend },
        ]);

        put('old/svc-hook.sh', '');
        expect((await hooksOf(name))?.state).toBe('elsewhere');
        expect(await doctor()).toMatchObject([
          { level: 'warn', what: expect.stringContaining('another installation'), mend },
        ]);
        expect(await installedSkew(env())).toMatchObject([
          { of: 'hooks', where: name, mend: `svc setup ${name}` },
        ]);
      },
    );

    it('[VER-3] are outdated when another version wrote fewer, and a setup fixes them', async () => {
      await svc('setup', 'claude');
      const settings = JSON.parse(text('.claude/settings.json'));
      delete settings.hooks.StopFailure;
      put('.claude/settings.json', JSON.stringify(settings));
      expect((await hooksOf('claude'))?.state).toBe('outdated');
      await svc('setup', 'claude');
      expect((await hooksOf('claude'))?.state).toBe('current');
      expect(await installedSkew(env())).toEqual([]);
    });

    it('[VER-3] are outdated when an earlier version wrote them, and a setup replaces them', async () => {
      await svc('setup', 'claude');
      const before = 'node /opt/svc.cjs hook event --harness claude --context 2>/dev/null || true';
      moved('.claude/settings.json', /\[ ! -r [^"]*/g, before);
      expect((await hooksOf('claude'))?.state).toBe('outdated');
      await svc('setup', 'claude');
      expect((await hooksOf('claude'))?.state).toBe('current');
      expect(text('.claude/settings.json')).not.toContain('svc.cjs');
    });

    it.each([
      ['claude', '.claude/settings.json', '{"disableAllHooks": true}', '"disableAllHooks" in '],
      [
        'pi',
        '.pi/agent/settings.json',
        '{"extensions": ["-extensions/fiber-dispatch.ts"]}',
        '"extensions" in ',
      ],
    ])(
      '[VER-3] of %s that its settings switch off are no success of a setup, and doctor names the setting',
      async (name, file, settings, setting) => {
        put(file, settings);
        const { code, err } = await svc('setup', name);
        expect(code).toBe(1);
        expect(err).toContain('are written, but its hooks are switched off by ');
        expect(err).toContain(setting);
        expect(err).toContain(join(home, file));
        expect(await doctor()).toMatchObject([
          { level: 'warn', what: expect.stringContaining(setting), mend: 'take that out' },
        ]);
        expect((await hooksOf(name))?.state).toBe('off');
      },
    );

    it('[VER-3] of Codex that its configuration switches off are off', async () => {
      for (const name of ['hooks', 'codex_hooks']) {
        put('.codex/hooks.json', withHooks('hooks.json', null, ['Stop'], hookCommand('codex')).text);
        put('.codex/config.toml', `[features]\n${name} = false\n`);
        expect(await hooksOf('codex')).toMatchObject({
          state: 'off',
          off_by: `"${name} = false" under [features] in ${join(home, '.codex/config.toml')}`,
        });
      }
    });

    it.each([
      ['"hooks"', '{"hooks": {}, "model": "opus", "hooks": {"Stop": []}}'],
      ['"hooks.Stop"', '{"hooks": {"Stop": [], "Stop": []}}'],
    ])('are not written into settings in which %s stands twice', async (key, settings) => {
      put('.claude/settings.json', settings);
      const { code, err } = await svc('setup', 'claude');
      expect(code).toBe(1);
      expect(err).toContain(`${key} stands twice in it`);
      expect(text('.claude/settings.json')).toBe(settings);
    });

    it('are not mistaken for ours if they are the user’s own', async () => {
      put('.claude/settings.json', JSON.stringify({ hooks: { PreToolUse: [USERS_HOOK], Stop: 3 } }));
      expect((await hooksOf('claude'))?.state).toBe('absent');
    });
  });
});

describe('the programs of a hook command', () => {
  it.each([
    ['/usr/bin/node', '/opt/svc/svc-hook.sh'],
    ['/usr/bin/node', '/home/a b/it’s/svc-hook.sh'],
    ["/n'o de", "/x' y/svc-hook.sh"],
  ])('are parsed as they were written: %s %s', (node, script) => {
    const command = hookCommand('claude')
      .replaceAll(shellWord(hookScript()), shellWord(script))
      .replace(shellWord(process.execPath), shellWord(node));
    expect(programsOf(command)).toEqual([node, script]);
    expect(isHookCommand(command)).toBe(true);
  });

  it('are not known of a command of an earlier version, which is one of ours all the same', () => {
    const command =
      "/usr/bin/node '/opt/s v/svc.cjs' hook event --harness claude --context 2>/dev/null || true";
    expect(programsOf(command)).toEqual([]);
    expect(isHookCommand(command)).toBe(true);
    expect(isHookCommand('sh my-hook.sh claude')).toBe(false);
  });
});
