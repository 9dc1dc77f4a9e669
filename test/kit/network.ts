import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { callerEnvironment } from './caller-environment.ts';
import { findProgram } from './find-program.ts';

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const ENV = { ...callerEnvironment(), PATH };
const MAKE = 'ip link set lo up && ip link add here type veth peer name there';

/** Why this user can make no network here; null when they can. */
export function networkHindrance(): string | null {
  for (const [tool, of] of [
    ['ip', 'iproute2'],
    ['unshare', 'util-linux'],
  ] as const)
    if (findProgram(tool, PATH) === null) return `${tool} is not installed; on Debian: apt-get install ${of}`;
  try {
    execFileSync('unshare', ['--net', 'sh', '-c', MAKE], { env: ENV, stdio: 'ignore' });
    return null;
  } catch {
    return 'this user may not make network namespaces and links';
  }
}

/** A network namespace: what runs in it reaches itself and its links, and nothing else of this machine by TCP. */
export class NetworkHost {
  readonly #holder: ChildProcess;
  /** The program and its arguments that others are run by, to be in it; the process stays the same one. */
  readonly under: readonly string[];

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
    this.under = ['nsenter', `--net=/proc/${holder.pid}/ns/net`];
  }

  /**
   * Nothing of it has a name outside. It is there as long as one of its processes lives: the one that holds it ends with
   * the process of the test.
   */
  static async make(): Promise<NetworkHost> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'ip link set lo up && echo made && exec cat'], {
      env: ENV,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'close').then(() => Promise.reject(new Error('no network namespace was made'))),
    ]);
    return new NetworkHost(holder);
  }

  /** Runs `ip` in it. */
  ip(...args: string[]): void {
    const [file = '', ...before] = this.under;
    execFileSync(file, [...before, 'ip', ...args], { env: ENV });
  }

  /** Makes a link to another host; `nth` is its number in the network, from 0. */
  linkTo(other: NetworkHost, nth: number): Link {
    const [near, far] = [`near${nth}`, `far${nth}`];
    this.ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', String(other.#holder.pid));
    const link = new Link(this, near, `10.77.${nth}.2`);
    this.ip('address', 'add', `10.77.${nth}.1/30`, 'dev', near);
    other.ip('address', 'add', `${link.far}/30`, 'dev', far);
    other.ip('link', 'set', far, 'up');
    link.up();
    return link;
  }

  async remove(): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const gone = once(this.#holder, 'close');
    this.#holder.stdin?.end();
    await gone;
  }
}

/** A cable between two hosts, which a test pulls out. */
export class Link {
  readonly #host: NetworkHost;
  readonly #name: string;
  /** The address of the other host. */
  readonly far: string;

  constructor(host: NetworkHost, name: string, far: string) {
    this.#host = host;
    this.#name = name;
    this.far = far;
  }

  /** From now on no packet passes; connections are not told. */
  down(): void {
    this.#host.ip('link', 'set', this.#name, 'down');
  }

  up(): void {
    this.#host.ip('link', 'set', this.#name, 'up');
  }
}
