import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { projectFolder } from './transcript.ts';

/** The harness and environment of an agent for a program that accepts Claude Code's options, with its own folder. */
export function imitationIn(folder: string): { harness: HarnessName; env: Record<string, string> } {
  return { harness: 'claude', env: { CLAUDE_CONFIG_DIR: folder } };
}

/** The transcript of such a program, in the format and location of Claude Code's. */
export class ImitatedTranscript {
  readonly #path: string;
  readonly #session_id: string;
  readonly #cwd: string;
  readonly #clock: Clock;
  #parent: string | null = null;

  constructor(options: { env: NodeJS.ProcessEnv; cwd: string; session_id: string; clock: Clock }) {
    const config = options.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude');
    const folder = join(config, 'projects', projectFolder(options.cwd));
    this.#path = join(folder, `${options.session_id}.jsonl`);
    this.#session_id = options.session_id;
    this.#cwd = options.cwd;
    this.#clock = options.clock;
    makeFolder(dirname(this.#path));
  }

  user(text: string): void {
    this.#append('user', { role: 'user', content: text });
  }

  assistant(text: string): void {
    this.#append('assistant', {
      role: 'assistant',
      model: 'demo',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
    });
  }

  #append(type: string, message: object): void {
    const uuid = randomUUID();
    const record = {
      parentUuid: this.#parent,
      type,
      message,
      uuid,
      timestamp: new Date(this.#clock.now()).toISOString(),
      cwd: this.#cwd,
      sessionId: this.#session_id,
    };
    this.#parent = uuid;
    appendFileSync(this.#path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  }
}
