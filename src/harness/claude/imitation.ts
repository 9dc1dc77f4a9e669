import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import { hookArgv } from '../hooks/hook-command.ts';
import { asTable } from '../table.ts';
import { projectFolder } from './transcript.ts';

/** The harness and environment of an agent for a program that accepts Claude Code's options, with its own folder. */
export function imitationIn(folder: string): { harness: HarnessName; env: Record<string, string> } {
  return { harness: 'claude', env: { CLAUDE_CONFIG_DIR: folder } };
}

/**
 * The hooks that such a program calls, so that its phase, its acts and its commits are recorded as those of Claude Code are,
 * and what they print is added to its conversation. As for Claude Code, a hook that fails changes nothing.
 */
export class ImitatedHooks {
  readonly #around: { session_id: string; cwd: string };
  readonly #env: NodeJS.ProcessEnv;
  readonly #runner: Pick<ProcessRunner, 'run'>;
  readonly #transcript: ImitatedTranscript;

  constructor(options: {
    session_id: string;
    cwd: string;
    env: NodeJS.ProcessEnv;
    runner: Pick<ProcessRunner, 'run'>;
    transcript: ImitatedTranscript;
  }) {
    const { session_id, cwd } = options;
    this.#around = { session_id, cwd };
    this.#env = options.env;
    this.#runner = options.runner;
    this.#transcript = options.transcript;
  }

  /** The session begins with a prompt. */
  async begin(prompt: string): Promise<void> {
    await this.#tell({ hook_event_name: 'SessionStart', source: 'startup' });
    await this.prompt(prompt);
  }

  /** A text was given to the agent, which works on. */
  async prompt(prompt: string): Promise<void> {
    await this.#tell({ hook_event_name: 'UserPromptSubmit', prompt });
  }

  /** The agent asks something, and waits. */
  async ask(message: string): Promise<void> {
    await this.#tell({ hook_event_name: 'Notification', notification_type: 'permission_prompt', message });
  }

  /** The agent uses a tool, which does `work`. */
  async tool(
    tool_name: string,
    tool_input: Record<string, string>,
    work: () => Promise<void>,
  ): Promise<void> {
    await this.#tell({ hook_event_name: 'PreToolUse', tool_name, tool_input });
    await work();
    await this.#tell({ hook_event_name: 'PostToolUse', tool_name, tool_input });
  }

  async #tell(event: object): Promise<void> {
    const [file = '', ...args] = hookArgv('claude');
    const ran = await this.#runner.run({
      file,
      args,
      cwd: this.#around.cwd,
      env: this.#env,
      input: JSON.stringify({ ...this.#around, transcript_path: this.#transcript.path, ...event }),
      timeout_ms: 10_000,
      max_output_bytes: 64 * 1024,
    });
    const context = ran.kind === 'exited' ? contextIn(ran.stdout) : null;
    if (context !== null) this.#transcript.context(context);
  }
}

/** What a hook adds to the conversation; null if that is nothing. */
function contextIn(output: string): string | null {
  try {
    const { additionalContext } = asTable(asTable(JSON.parse(output)).hookSpecificOutput);
    return typeof additionalContext === 'string' ? additionalContext : null;
  } catch {
    return null;
  }
}

/** The transcript of such a program, in the format and location of Claude Code's. */
export class ImitatedTranscript {
  readonly path: string;
  readonly #session_id: string;
  readonly #cwd: string;
  readonly #clock: Clock;
  #parent: string | null = null;

  constructor(options: { env: NodeJS.ProcessEnv; cwd: string; session_id: string; clock: Clock }) {
    const config = options.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude');
    const folder = join(config, 'projects', projectFolder(options.cwd));
    this.path = join(folder, `${options.session_id}.jsonl`);
    this.#session_id = options.session_id;
    this.#cwd = options.cwd;
    this.#clock = options.clock;
    makeFolder(dirname(this.path));
  }

  user(text: string): void {
    this.#append('user', { message: { role: 'user', content: text } });
  }

  assistant(text: string): void {
    const content = [{ type: 'text', text }];
    this.#append('assistant', {
      message: { role: 'assistant', model: 'demo', content, stop_reason: 'end_turn' },
    });
  }

  /** A hook added this. */
  context(text: string): void {
    this.#append('attachment', { attachment: { type: 'hook_additional_context', content: [text] } });
  }

  #append(type: string, said: object): void {
    const uuid = randomUUID();
    const record = {
      parentUuid: this.#parent,
      type,
      ...said,
      uuid,
      timestamp: new Date(this.#clock.now()).toISOString(),
      cwd: this.#cwd,
      sessionId: this.#session_id,
    };
    this.#parent = uuid;
    appendFileSync(this.path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  }
}
