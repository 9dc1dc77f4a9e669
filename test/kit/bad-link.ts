import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { callerEnvironment } from './caller-environment.ts';

const PROXY = fileURLToPath(new URL('./bad-link-proxy.ts', import.meta.url));

/** What happens to the bytes of all connections, both ways; each chunk goes by the rules of its time. */
export type LinkRules = {
  /** Milliseconds that a chunk is on its way; the next one begins its way after that. */
  delay_ms?: number;
  /** Nothing goes on until this ends; nobody is told, and new connections are taken. */
  stalls?: boolean;
  /** What comes is dropped. A connection that lost something passes nothing more, as TCP keeps the order. */
  loses?: boolean;
};
/** What the proxy is told; it says when that holds. */
export type LinkOrder = { rules: LinkRules } | { cut: true };

/** A TCP proxy in a process of its own, which passes connections on to one server as a bad network would. */
export class BadLink {
  readonly #child: ChildProcess;
  /** On 127.0.0.1. */
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** Starts one that does no harm yet; `under` is the program and its arguments that it is run by. */
  static async start(to: { host: string; port: number }, under: readonly string[] = []): Promise<BadLink> {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning'];
    const [file = '', ...args] = [...under, ...node, PROXY, to.host, String(to.port)];
    const child = spawn(file, args, {
      env: callerEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new BadLink(child, port);
  }

  /** From now on these rules hold, and no others. */
  set(rules: LinkRules): Promise<void> {
    return this.#tell({ rules });
  }

  /** Resets every connection that there is. */
  cut(): Promise<void> {
    return this.#tell({ cut: true });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }

  async #tell(order: LinkOrder): Promise<void> {
    const holds = once(this.#child, 'message');
    this.#child.send(order);
    await holds;
  }
}
