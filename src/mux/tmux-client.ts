import { readFileSync } from 'node:fs';
import { type Clock, sleep } from '../base/clock.ts';
import type { ProcessRunner } from '../platform/process.ts';
import type { ProcessFacts, ProcessIdentity } from '../platform/process-facts.ts';
import { judgeLife } from '../platform/process-facts.ts';
import { socketArgv } from '../platform/tmux-command.ts';
import { commandArgv, type TmuxCommand } from './command.ts';
import { classifyAnswer, listensAt, type ServerAnswer } from './server-answer.ts';
import { clientEnvironment } from './server-start.ts';

const MAX_OUTPUT = 16 * 1024 * 1024;
const SECOND_TRY_MS = 100;

export type TmuxClientOptions = {
  tmux: string;
  socket: string | null;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  clock: Clock;
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
    return socketArgv(this.#options.socket);
  }

  /** Runs one sequence. Answers `no_server` only when no other sign shows a living server. */
  async run(...commands: readonly TmuxCommand[]): Promise<ServerAnswer> {
    return this.runArgv([...this.prefix, ...commandArgv(...commands)]);
  }

  /** `run` with a text that the first command reads from `-`. */
  async runWithInput(input: string, ...commands: readonly TmuxCommand[]): Promise<ServerAnswer> {
    return this.runArgv([...this.prefix, ...commandArgv(...commands)], input);
  }

  async runArgv(args: readonly string[], input?: string): Promise<ServerAnswer> {
    const answer = await this.#once(args, input);
    if (answer.kind !== 'no_server' || !(await this.#seemsAlive(answer.socket))) return answer;
    // A server that is starting listens a moment before its socket file exists.
    await sleep(this.#options.clock, SECOND_TRY_MS);
    const again = await this.#once(args, input);
    if (again.kind !== 'no_server' || !(await this.#seemsAlive(again.socket))) return again;
    return {
      kind: 'unknown',
      detail: `the tmux server still runs but its socket ${again.socket} is missing; SIGUSR1 makes the server create it again`,
    };
  }

  async #once(args: readonly string[], input: string | undefined): Promise<ServerAnswer> {
    return classifyAnswer(
      await this.#options.runner.run({
        file: this.#options.tmux,
        args,
        env: clientEnvironment(this.#options.env),
        ...(input === undefined ? {} : { input }),
        timeout_ms: this.#options.deadline_ms,
        max_output_bytes: MAX_OUTPUT,
      }),
    );
  }

  /** Records the server's process, so that a deleted socket file is not mistaken for a dead server. */
  async sawServer(pid: number | null): Promise<void> {
    if (pid === null || this.#server?.pid === pid) return;
    const found = await this.#options.facts.lookUp(pid);
    if (found.kind === 'found') this.#server = found.row;
  }

  async #seemsAlive(socket: string): Promise<boolean> {
    if (this.#server !== null) {
      const life = judgeLife(this.#server, await this.#options.facts.lookUp(this.#server.pid));
      if (life !== 'gone') return true;
      this.#server = null;
    }
    return this.#options.platform === 'linux' && listensAt(readSockets(), socket);
  }
}

function readSockets(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}
