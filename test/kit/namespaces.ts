import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { loopbackEnvironment } from './caller-environment.ts';

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

function ip(inside: number, ...args: string[]): void {
  const argv = [`--net=/proc/${inside}/ns/net`, 'ip', ...args];
  execFileSync('nsenter', argv, { env: { ...loopbackEnvironment(), PATH }, stdio: 'pipe' });
}

/** A network of its own, which lives as long as a process that holds it. */
class Namespace {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async open(): Promise<Namespace> {
    // It ends when its stdin does, so that none is left behind a test that was killed.
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo; cat'], {
      env: { ...loopbackEnvironment(), PATH },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    ip(holder.pid!, 'link', 'set', 'lo', 'up');
    return new Namespace(holder);
  }

  get pid(): number {
    return this.#holder.pid!;
  }

  /** What a program is run by to be in this network. */
  under(): readonly string[] {
    return ['nsenter', `--net=/proc/${this.pid}/ns/net`];
  }

  async close(): Promise<void> {
    const ended = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await ended;
  }
}

/** Two networks with one link between them; the first end has the address `a`, the second one `b`. */
export async function linkedNamespaces(a: string, b: string): Promise<[Namespace, Namespace]> {
  const [one, two] = [await Namespace.open(), await Namespace.open()];
  try {
    ip(one.pid, 'link', 'add', 'ts0', 'type', 'veth', 'peer', 'name', 'ts0', 'netns', String(two.pid));
    for (const [{ pid }, address] of [
      [one, a],
      [two, b],
    ] as const) {
      ip(pid, 'address', 'add', `${address}/10`, 'dev', 'ts0');
      ip(pid, 'link', 'set', 'ts0', 'up');
    }
    return [one, two];
  } catch (error) {
    await Promise.all([one.close(), two.close()]);
    throw error;
  }
}

/** Why networks cannot be made here; null where they can. */
export function noNamespaces(): string | null {
  if (process.platform !== 'linux') return 'network namespaces are a part of Linux';
  if (process.geteuid?.() !== 0) return 'only root can make network namespaces';
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'add', 'ts0', 'type', 'veth'], {
      env: { ...loopbackEnvironment(), PATH },
      stdio: 'pipe',
    });
    return null;
  } catch {
    return 'this machine lets nobody make network namespaces and links';
  }
}
