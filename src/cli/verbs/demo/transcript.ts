import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { claudeProjectFolder } from '../../../harness/claude/adapter.ts';
import { makeFolder } from '../../../platform/make-folder.ts';

/** The demo agent's transcript, in the form and the place of Claude Code’s, below its own config folder. */
export class DemoTranscript {
  readonly #path: string;
  readonly #session_id: string;
  readonly #cwd: string;
  readonly #clock: Clock;
  #parent: string | null = null;

  constructor(options: { env: NodeJS.ProcessEnv; cwd: string; session_id: string; clock: Clock }) {
    const config = options.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude');
    const folder = join(config, 'projects', claudeProjectFolder(options.cwd));
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
