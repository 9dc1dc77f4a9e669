import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { loopbackEnvironment } from './caller-environment.ts';
import { findProgram } from './find-program.ts';
import type { TestHome } from './test-home.ts';
import { until } from './until.ts';
import { unusedPort } from './unused-port.ts';

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
/**
 * Where sshd of root keeps a process without rights; the start script of its package makes it. It stays, since the server of
 * another test may need it.
 */
const PRIVILEGE_SEPARATION = '/run/sshd';

/** Where a server listens, and the program and its arguments that it is run by. */
export type SshPlace = { address: string; under: readonly string[] };

/**
 * A real SSH server of this user, on loopback unless told, with keys of its own below the home of a test. Its sessions
 * have the environment `session`, as a login shell of another machine would.
 */
export class SshServer {
  /** What `ssh` has to be called with to reach it, before the alias. */
  readonly flags: readonly string[];
  readonly alias = 'host-b-login';
  readonly #home: TestHome;
  readonly #place: SshPlace;
  /** What its sessions have in their environment; it counts from the next start. */
  session: Readonly<Record<string, string>>;
  #port = 0;
  #child: ChildProcess | null = null;
  log = '';

  constructor(
    home: TestHome,
    session: Readonly<Record<string, string>> = {},
    place: SshPlace = { address: '127.0.0.1', under: [] },
  ) {
    this.#home = home;
    this.session = session;
    this.#place = place;
    this.flags = ['-F', home.path('ssh/client')];
  }

  get port(): number {
    return this.#port;
  }

  /** How the client knows its host key. */
  get knownAs(): string {
    return `[${this.#place.address}]:${this.#port}`;
  }

  async start(): Promise<void> {
    mkdirSync(this.#home.path('ssh'), { recursive: true, mode: 0o700 });
    this.#port = await unusedPort();
    this.#newKey('user');
    this.newHostKey();
    this.trustHostKey();
    this.admit(true);
    this.#home.write(
      'ssh/client',
      [
        `Host ${this.alias}`,
        `  HostName ${this.#place.address}`,
        `  Port ${this.#port}`,
        `  User ${userInfo().username}`,
        `  IdentityFile ${this.#home.path('ssh/user')}`,
        '  IdentitiesOnly yes',
        '  IdentityAgent none',
        `  UserKnownHostsFile ${this.#home.path('ssh/known_hosts')}`,
        '  GlobalKnownHostsFile none',
        '  StrictHostKeyChecking yes',
        '',
      ].join('\n'),
    );
    await this.#run();
  }

  /** Makes another host key, as a machine that is set up again has; it counts from the next start. */
  newHostKey(): void {
    this.#newKey('host');
  }

  /** Writes the present host key, or none, into what the client knows. */
  trustHostKey(known = true): void {
    const [kind, key] = this.#publicKey('host').split(' ');
    this.#home.write('ssh/known_hosts', known ? `${this.knownAs} ${kind} ${key}\n` : '');
  }

  /** Whether the key of the user is taken. */
  admit(taken: boolean): void {
    this.#home.write('ssh/authorized_keys', taken ? `${this.#publicKey('user')}\n` : '');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#run();
  }

  async #run(): Promise<void> {
    const { root } = this.#home;
    const set = Object.entries(this.session).map(([name, value]) => `${name}="${value}"`);
    const config = this.#home.write(
      'ssh/server',
      [
        `ListenAddress ${this.#place.address}:${this.#port}`,
        `HostKey ${root}/ssh/host`,
        `AuthorizedKeysFile ${root}/ssh/authorized_keys`,
        'PidFile none',
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PermitRootLogin yes',
        'PrintMotd no',
        ...(set.length === 0 ? [] : [`SetEnv ${set.join(' ')}`]),
        '',
      ].join('\n'),
    );
    if (process.geteuid?.() === 0) mkdirSync(PRIVILEGE_SEPARATION, { recursive: true, mode: 0o755 });
    const file = findProgram('sshd', PATH);
    if (file === null) throw new Error('sshd is not installed; on Debian: apt-get install openssh-server');
    // A group of its own, so that the processes of its connections end with it.
    const [program = file, ...args] = [...this.#place.under, file, '-D', '-e', '-f', config];
    const said = this.log.length;
    const child = spawn(program, args, {
      env: { ...loopbackEnvironment(), TEST_HOME: root },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (text) => {
      this.log += text;
    });
    this.#child = child;
    await until('the SSH server', () => {
      if (child.exitCode !== null) throw new Error(`sshd ended:\n${this.log}`);
      return this.log.includes('Server listening on', said);
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await gone;
  }

  #newKey(name: string): void {
    const path = this.#home.path('ssh', name);
    rmSync(path, { force: true });
    rmSync(`${path}.pub`, { force: true });
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
  }

  #publicKey(name: string): string {
    return execFileSync('ssh-keygen', ['-y', '-f', this.#home.path('ssh', name)], {
      encoding: 'utf8',
    }).trim();
  }
}

/** The environment of the login shells of a host, where `svc` is on the PATH and finds the daemon of this home. */
export function loginSession(home: TestHome): Record<string, string> {
  const { env, launcher } = home;
  const svc = home.write('bin/svc', `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`);
  chmodSync(svc, 0o755);
  const settings = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[0].startsWith('SVC_') && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(settings), PATH: `${dirname(svc)}:${process.env.PATH}` };
}
