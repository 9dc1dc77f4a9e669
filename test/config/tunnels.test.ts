import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jobOf, leftUnits, tunnelOf, tunnelsOf, tunnelUnits, wantsTunnel } from '../../src/config/tunnels.ts';
import { type Remote, remoteSchema } from '../../src/contract/operator-files.ts';
import type { ServiceManager, ServiceState, ServiceUnit } from '../../src/platform/service-manager.ts';
import { launchdPlist, systemdUnit } from '../../src/platform/service-units.ts';

const SSH = '/usr/bin/ssh';
const REMOTE: Remote = {
  name: 'host-b',
  ssh: 'host-b-login',
  socket: '/run/user/1000/fiber-dispatch/tunnels/host-b.sock',
};
const unitOf = (remote: Remote) => systemdUnit(jobOf(tunnelOf(remote), SSH));
const plistOf = (remote: Remote) => launchdPlist(jobOf(tunnelOf(remote), SSH), '/Users/me/b.log');

describe('the tunnel of a remote', () => {
  it.each([
    ['with ssh and a socket', REMOTE, true],
    ['with ssh and a port', { name: 'b', ssh: 'b', port: 4001 }, true],
    ['without ssh', { name: 'b', port: 4001 }, false],
    ['with a url alone', { name: 'b', ssh: 'b', url: 'http://b.example' }, false],
    ['that says so', { ...REMOTE, tunnel: false as const }, false],
    ['with a label', { ...REMOTE, tunnel: { manager: 'systemd' } }, true],
  ] as const)('[WPL-19] is kept up for one %s: %j %s', (_, remote, wanted) => {
    expect(wantsTunnel(remote)).toBe(wanted);
    if (!wanted) expect(() => tunnelOf(remote)).toThrow(/asks for no tunnel/);
  });

  it.each([
    [REMOTE, `${REMOTE.socket}:127.0.0.1:4000`],
    [{ ...REMOTE, remote_port: 4100 }, `${REMOTE.socket}:127.0.0.1:4100`],
    [
      { ...REMOTE, remote_socket: '/home/me/.svc/socket/api.sock', remote_port: 4100 },
      `${REMOTE.socket}:/home/me/.svc/socket/api.sock`,
    ],
    [{ name: 'b', ssh: 'b', port: 4001 }, '127.0.0.1:4001:127.0.0.1:4000'],
  ] as const)('[WPL-19] leads from where the entry says to the daemon: %j', (remote, forward) => {
    const { args } = tunnelOf(remote);
    expect(args.slice(-4)).toEqual(['-L', forward, '--', remote.ssh]);
  });

  it('cannot have its own options changed by the flags of an entry', () => {
    const { args } = tunnelOf({ ...REMOTE, ssh_flags: ['-p', '2222', '-o', 'BatchMode=no', '-S', '/x'] });
    expect(args.indexOf('BatchMode=yes')).toBeLessThan(args.indexOf('BatchMode=no'));
    expect(args.lastIndexOf('-S')).toBe(args.indexOf('none') - 1);
    expect(args).toContain('2222');
  });

  it.each([
    [{ ssh: 'b\nExecStartPre=/bin/false' }, /control character/],
    [{ ssh_flags: ['-p', '22\n'] }, /control character/],
    [{ socket: '/run/%h.sock' }, /characters that ssh would expand/],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: ssh expands it
    [{ socket: '/run/${HOME}.sock' }, /characters that ssh would expand/],
    [{ remote_socket: '/run/b:4000' }, /characters that ssh would expand/],
  ])('is refused for %j, with the fix', (rest, says) => {
    const refused = expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(says) });
    expect(() => tunnelOf({ ...REMOTE, ...rest })).toThrow(refused);
  });

  it('is that of the named remotes, or of all that want one', () => {
    const remotes = [REMOTE, { name: 'host-c', url: 'http://c.example' }];
    expect(tunnelsOf(remotes).map(({ remote }) => remote)).toEqual(['host-b']);
    expect(tunnelsOf(remotes, ['host-b'])).toHaveLength(1);
    expect(() => tunnelsOf(remotes, ['host-c'])).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => tunnelsOf(remotes, ['host-z'])).toThrow(expect.objectContaining({ code: 'not_found' }));
  });
});

describe('the unit of a tunnel', () => {
  it('[WPL-19] is this one for systemd', () => {
    const remote = { ...REMOTE, ssh: 'me@b.example', ssh_flags: ['-i', '/home/me/a "key" $1 100%'] };
    expect(unitOf(remote)).toMatchInlineSnapshot(`
      "# Made by svc; a later install overwrites it.
      [Unit]
      Description=Fiber Dispatch: tunnel to host-b
      StartLimitIntervalSec=0

      [Service]
      Environment=PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
      UMask=0077
      ExecStartPre=/bin/mkdir -p -- /run/user/1000/fiber-dispatch/tunnels
      ExecStart=/usr/bin/ssh -o BatchMode=yes -o ControlMaster=no -o ExitOnForwardFailure=yes -o ConnectTimeout=15 -o ServerAliveInterval=15 -o ServerAliveCountMax=3 -o StreamLocalBindUnlink=yes -o StreamLocalBindMask=0177 -i "/home/me/a \\"key\\" $$1 100%%" -N -T -S none -L /run/user/1000/fiber-dispatch/tunnels/host-b.sock:127.0.0.1:4000 -- me@b.example
      Restart=always
      RestartSec=5

      [Install]
      WantedBy=default.target
      "
    `);
  });

  it('[WPL-19] is this one for launchd', () => {
    expect(plistOf({ ...REMOTE, ssh_flags: ['-i', '/Users/me/a <key> & "more"'] })).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <!-- Made by svc; a later install overwrites it. -->
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
        <key>Label</key><string>fiber-dispatch-tunnel-host-b</string>
        <key>ProgramArguments</key>
        <array>
          <string>/bin/sh</string>
          <string>-c</string>
          <string>mkdir -p -- "$0" &amp;&amp; exec "$@"</string>
          <string>/run/user/1000/fiber-dispatch/tunnels</string>
          <string>/usr/bin/ssh</string>
          <string>-o</string>
          <string>BatchMode=yes</string>
          <string>-o</string>
          <string>ControlMaster=no</string>
          <string>-o</string>
          <string>ExitOnForwardFailure=yes</string>
          <string>-o</string>
          <string>ConnectTimeout=15</string>
          <string>-o</string>
          <string>ServerAliveInterval=15</string>
          <string>-o</string>
          <string>ServerAliveCountMax=3</string>
          <string>-o</string>
          <string>StreamLocalBindUnlink=yes</string>
          <string>-o</string>
          <string>StreamLocalBindMask=0177</string>
          <string>-i</string>
          <string>/Users/me/a &lt;key&gt; &amp; "more"</string>
          <string>-N</string>
          <string>-T</string>
          <string>-S</string>
          <string>none</string>
          <string>-L</string>
          <string>/run/user/1000/fiber-dispatch/tunnels/host-b.sock:127.0.0.1:4000</string>
          <string>--</string>
          <string>host-b-login</string>
        </array>
        <key>EnvironmentVariables</key><dict><key>PATH</key><string>/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin</string></dict>
        <key>Umask</key><integer>63</integer>
        <key>RunAtLoad</key><true/>
        <key>KeepAlive</key><true/>
        <key>ThrottleInterval</key><integer>5</integer>
        <key>StandardErrorPath</key><string>/Users/me/b.log</string>
      </dict>
      </plist>
      "
    `);
  });

  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          '\n',
          '%',
          '"',
          "'",
          '\\',
          '$',
          '-',
          ';',
          ' ',
          '#',
          '<',
          '&',
          '[Service]',
          'ExecStart=',
          '</string>',
        ),
      )
      .map((parts) => parts.join('')),
  );

  it('[WPL-19] has the words of a hostile entry as words, or is refused', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (name, ssh, flag, socket) => {
        const entry = remoteSchema.safeParse({ name, ssh, ssh_flags: [flag], socket: `/${socket}` });
        const remote = entry.success
          ? entry.data
          : remoteSchema.safeParse({ ...REMOTE, ssh, ssh_flags: [flag] }).data;
        if (remote === undefined) return;
        let tunnel: ReturnType<typeof tunnelOf>;
        try {
          tunnel = tunnelOf(remote);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_config' });
          return;
        }
        const lines = unitOf(remote).split('\n');
        expect(lines.map((line) => line.split('=')[0])).toEqual(
          unitOf(REMOTE)
            .split('\n')
            .map((line) => line.split('=')[0]),
        );
        const line = lines.find((one) => one.startsWith('ExecStart='))!;
        expect(wordsOfSystemd(line.slice('ExecStart='.length))).toEqual([SSH, ...tunnel.args]);
        const strings = [...plistOf(remote).matchAll(/^ {4}<string>(.*)<\/string>$/gm)].map(([, text]) =>
          plain(text!),
        );
        expect(strings.slice(4)).toEqual([SSH, ...tunnel.args]);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** As systemd.service(5) reads a command line. */
function wordsOfSystemd(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) => {
    const word = quoted === undefined ? bare! : quoted.replaceAll(/\\(["\\])/g, '$1');
    expect(word.replaceAll('%%', '')).not.toContain('%');
    expect(word.replaceAll('$$', '')).not.toContain('$');
    return word.replaceAll('%%', '%').replaceAll('$$', '$');
  });
}

function plain(text: string): string {
  expect(text).not.toMatch(/<|>|&(?!lt;|gt;|amp;)/);
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

describe('what is there of the units', () => {
  const files = new Map<string, string>();
  const manager = {
    kind: 'systemd',
    answers: async () => true,
    unitOf: (job) => ({ name: job.name, path: `/u/${job.name}`, content: systemdUnit(job) }),
    installed: (name) => files.get(name) ?? null,
    named: (prefix) =>
      [...files].flatMap(([name, content]): ServiceUnit[] =>
        name.startsWith(prefix) ? [{ name, path: `/u/${name}`, content }] : [],
      ),
    state: async (): Promise<ServiceState> => 'restarting',
    install: async () => {},
    restart: async () => {},
    remove: async () => {},
  } satisfies ServiceManager;
  const stateOf = async () => (await tunnelUnits(manager, tunnelsOf([REMOTE]), SSH))[0]!.state;

  it('[WPL-19] is told for each, and of those whose remote is gone', async () => {
    files.clear();
    expect(await stateOf()).toBe('not_installed');
    files.set('fiber-dispatch-tunnel-host-b', 'an earlier text');
    expect(await stateOf()).toBe('outdated');
    files.set('fiber-dispatch-tunnel-host-b', unitOf(REMOTE));
    expect(await stateOf()).toBe('restarting');
    files.set('fiber-dispatch-tunnel-host-c', 'x');
    files.set('other', 'x');
    expect(leftUnits(manager, tunnelsOf([REMOTE]))).toMatchObject([{ remote: 'host-c', state: 'left_over' }]);
  });
});
