import { readFileSync } from 'node:fs';
import type { ProcessRunner } from '../platform/process.ts';
import type { ProcessFacts, ProcessIdentity } from '../platform/process-facts.ts';
import { judgeLife } from '../platform/process-facts.ts';
import { commandArgv, type TmuxCommand } from './command.ts';
import { classifyAnswer, listensAt, type ServerAnswer } from './server-answer.ts';
import { clientEnvironment } from './server-start.ts';

const MAX_OUTPUT = 16 * 1024 * 1024;

export type TmuxClientOptions = {
  tmux: string;
  socket: string | null;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  facts: ProcessFacts;
  platform: NodeJS.Platform;
  deadline_ms: number;
};

/** Runs tmux once per call: slower than the control client, but it needs no session to attach to. */
export class TmuxClient {
  readonly #options: TmuxClientOptions;
  #server: ProcessIdentity | null = null;

  constructor(options: TmuxClientOptions) {
    this.#options = options;
  }

  /** argv before the command; `-N` keeps a client from starting a server, `-u` keeps names in UTF-8. */
  get prefix(): string[] {
    return ['-N', '-u', ...this.socketArgv];
  }

  get socketArgv(): string[] {
    return this.#options.socket === null ? [] : ['-S', this.#options.socket];
  }

  /** Runs one sequence. `no_server` is only answered when nothing shows that a server lives after all. */
  async run(...commands: readonly TmuxCommand[]): Promise<ServerAnswer> {
    return this.runArgv([...this.prefix, ...commandArgv(...commands)]);
  }

  async runArgv(args: readonly string[]): Promise<ServerAnswer> {
    const answer = classifyAnswer(
      await this.#options.runner.run({
        file: this.#options.tmux,
        args,
        env: clientEnvironment(this.#options.env),
        timeout_ms: this.#options.deadline_ms,
        max_output_bytes: MAX_OUTPUT,
      }),
    );
    return answer.kind === 'no_server' ? this.#doubt(answer) : answer;
  }

  /** Remembers which process the server is, so that a lost socket file is not taken for a lost server. */
  async sawServer(pid: number | null): Promise<void> {
    if (pid === null || this.#server?.pid === pid) return;
    const found = await this.#options.facts.lookUp(pid);
    if (found.kind === 'found') this.#server = found.row;
  }

  async #doubt(answer: { kind: 'no_server'; socket: string }): Promise<ServerAnswer> {
    if (this.#server !== null) {
      const life = judgeLife(this.#server, await this.#options.facts.lookUp(this.#server.pid));
      if (life !== 'gone') return unreachable(answer.socket, `process ${this.#server.pid}`);
      this.#server = null;
    }
    if (this.#options.platform === 'linux' && listensAt(readSockets(), answer.socket)) {
      return unreachable(answer.socket, 'a process');
    }
    return answer;
  }
}

function unreachable(socket: string, who: string): ServerAnswer {
  return {
    kind: 'unknown',
    detail: `the tmux server (${who}) still runs but its socket ${socket} is missing; SIGUSR1 makes the server create it again`,
  };
}

function readSockets(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}
