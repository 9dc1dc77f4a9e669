import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { runInProcess } from '../in-process.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
  scratch.write('bin/ssh', '#!/bin/sh\n', 0o755);
  scratch.write('config/remotes.json', {
    remotes: [
      { name: 'host-b', ssh: 'b-login', socket: join(scratch.path, 'run/b.sock') },
      { name: 'host-c', ssh: 'c-login', port: 4001 },
      { name: 'host-d', url: 'http://d.example' },
    ],
  });
});
afterEach(() => scratch.remove());

/** A service manager that notes what it is asked, and says of every unit what `state` has. */
function manage(answers = true): void {
  const { path } = scratch;
  scratch.write(
    'bin/systemctl',
    `#!/bin/sh
[ "$2" != show-environment ] || exit ${answers ? 0 : 1}
if [ "$2" = show ]; then /bin/cat ${path}/state; exit; fi
echo "$*" >> ${path}/asked
`,
    0o755,
  );
  scratch.write('state', 'ActiveState=active\nSubState=running\n');
}

const tunnels = (...args: string[]) =>
  runInProcess(['tunnels', ...args], {
    SVC_CONFIG_DIR: join(scratch.path, 'config'),
    HOME: scratch.path,
    PATH: join(scratch.path, 'bin'),
  });
const unit = (name: string) =>
  join(scratch.path, `.config/systemd/user/fiber-dispatch-tunnel-${name}.service`);
const asked = () => readFileSync(join(scratch.path, 'asked'), 'utf8').trim().split('\n');

describe.runIf(process.platform === 'linux')('svc tunnels', () => {
  it('[WPL-19] shows the units first, then installs and starts them, and leaves alone what runs', async () => {
    manage();
    const shown = await tunnels('install', '--dry-run');
    expect(shown.out).toMatch(
      /Would install and start fiber-dispatch-tunnel-host-b, fiber-dispatch-tunnel-host-c/,
    );
    expect(shown.out).toContain('+Restart=always');
    expect(existsSync(unit('host-b'))).toBe(false);
    expect((await tunnels('list')).out).toMatch(/host-b\s+\S*run\/b\.sock\s+not installed/);

    const installed = JSON.parse((await tunnels('install', '--json')).out);
    expect(installed.units).toMatchObject([
      { remote: 'host-b', state: 'active', path: unit('host-b') },
      { remote: 'host-c', state: 'active' },
    ]);
    expect(readFileSync(unit('host-b'), 'utf8')).toBe(installed.units[0].content);
    const steps = (name: string) => [
      '--user daemon-reload',
      `--user enable fiber-dispatch-tunnel-${name}.service`,
      `--user restart fiber-dispatch-tunnel-${name}.service`,
    ];
    expect(asked()).toEqual([...steps('host-b'), ...steps('host-c')]);
    expect((await tunnels('install', '--dry-run')).out).toContain('these tunnels are up already');
    await tunnels('install');
    expect(asked()).toHaveLength(6);
  });

  it('[WPL-19] tells of a tunnel that does not come up, and starts it again', async () => {
    manage();
    scratch.write('state', 'ActiveState=activating\nSubState=auto-restart\n');
    await tunnels('install', 'host-b');
    const again = await tunnels('install', 'host-b');
    expect(again.out).toMatch(/host-b\t.*ended, is restarted/);
    expect(again.err).toContain('svc remotes check host-b');
    expect(asked()).toHaveLength(6);
  });

  it('removes the unit of a remote, also of one that is gone', async () => {
    manage();
    await tunnels('install');
    scratch.write('config/remotes.json', { remotes: [{ name: 'host-c', ssh: 'other', port: 4001 }] });
    const listed = (await tunnels()).out;
    expect(listed).toMatch(/host-b\s+-\s+its remote is gone/);
    expect(listed).toMatch(/host-c\t.*installed for an earlier entry/);
    expect((await tunnels('remove', 'host-b', '--dry-run')).out).toContain('-Restart=always');
    expect(existsSync(unit('host-b'))).toBe(true);
    await tunnels('remove', 'host-b');
    expect(existsSync(unit('host-b'))).toBe(false);
    expect(asked().slice(-2)).toEqual([
      '--user disable --now fiber-dispatch-tunnel-host-b.service',
      '--user daemon-reload',
    ]);
    await expect(tunnels('remove', 'host-b')).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([[true], [false]])(
    '[WPL-19] shows the units also where nothing keeps a tunnel up, and says what to run by hand (%j)',
    async (exists) => {
      if (exists) manage(false);
      const shown = await tunnels('install', '--dry-run');
      expect(shown.out).toContain('+Restart=always');
      expect(shown.out).toMatch(/cannot be done: no service manager.*svc tunnels run host-b/s);
      await expect(tunnels('install')).rejects.toMatchObject({
        code: 'no_service_manager',
        message: expect.stringContaining('svc tunnels run host-b, svc tunnels run host-c'),
      });
      expect(existsSync(unit('host-b'))).toBe(false);
      const { out } = await tunnels();
      expect(out).toMatch(
        /no service manager of this user answers here.*\nIn a terminal or in tmux:\n {2}svc tunnels run host-b/,
      );
      expect(JSON.parse((await tunnels('--json')).out)).toEqual({ manager: null, units: [] });
    },
  );

  it('says first that no remote asks for a tunnel, and that there is none to remove', async () => {
    scratch.write('config/remotes.json', { remotes: [{ name: 'host-d', url: 'http://d.example' }] });
    expect((await tunnels('install')).out).toBe('No entry of remotes.json asks for a tunnel.\n');
    expect((await tunnels('install', '--dry-run')).out).toContain(
      'no entry of remotes.json asks for a tunnel',
    );
    await expect(tunnels('remove', 'host-d')).rejects.toMatchObject({
      code: 'no_service_manager',
      message: expect.stringMatching(/^there is no unit to remove: no service manager/),
    });
  });

  it('refuses a name that no remote has, a remote without a tunnel, and a missing ssh', async () => {
    manage();
    await expect(tunnels('install', 'host-z')).rejects.toMatchObject({ code: 'not_found' });
    await expect(tunnels('install', 'host-d')).rejects.toMatchObject({ code: 'invalid_config' });
    await expect(tunnels('run', 'host-d')).rejects.toMatchObject({ code: 'invalid_config' });
    rmSync(join(scratch.path, 'bin/ssh'));
    await expect(tunnels('install')).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('install the OpenSSH client'),
    });
  });

  it('tells what the service manager refuses', async () => {
    manage();
    scratch.write(
      'bin/systemctl',
      '#!/bin/sh\n[ "$2" = show-environment ] || { echo "No such bus" >&2; exit 1; }\n',
      0o755,
    );
    await expect(tunnels('install', 'host-b')).rejects.toMatchObject({
      code: 'service_manager_failed',
      message: expect.stringContaining('No such bus'),
    });
  });
});
