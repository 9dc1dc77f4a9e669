import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { SignIn } from '../contract/http/doctor.ts';
import { LAUNCH_PREAMBLE } from '../contract/launch-message.ts';

/**
 * Placeholder in argv for the launch message, for a program that accepts it only as an argument; the run script
 * replaces it.
 */
export const PROMPT = Symbol('prompt');
export type LaunchArgument = string | typeof PROMPT;

/**
 * The first message for a program that accepts it only as an argument. Every user of the machine can read arguments, so
 * it names the file of the launch message instead. The path contains the launch id, by which the transcript is found.
 * It begins like the launch message itself, so that hooks recognise that no person typed it.
 */
export function pointerTo(prompt_file: string): string {
  return `${LAUNCH_PREAMBLE} your task is the file ${prompt_file}; read it before you do anything else.`;
}

export type LaunchRequest = {
  agent: Agent;
  effort: string | null;
  /** A new UUID; the harness uses it as session id if the caller may choose. */
  session_uuid: string;
  /** Session to continue, or null for a fresh start. */
  resume: string | null;
  project_dir: string;
  /** Name shown inside the harness; the mux session name. */
  session_name: string;
  /** The launch's run directory; an adapter may ask for files of its own in it. */
  run_dir: string;
  /** Absolute path of the launch message, a file that only its owner can read. */
  prompt_file: string;
  /** The session has no fiber yet: it files, arms and claims one itself (WPL-6). */
  capture?: boolean;
};

export type LaunchPlan = {
  /** argv[0] is the agent's `cli`. */
  argv: LaunchArgument[];
  /** The program reads the launch message from its standard input, and the keyboard from the terminal. */
  prompt_on_stdin: boolean;
  env: Record<string, string>;
  /** The session id that the harness will use; null if it assigns one, which must be learned. */
  session_uuid: string | null;
  /** Files to write into the run directory before the start (mode 0600). */
  files: { name: string; text: string }[];
};

/** Where a transcript is; `unknown` if the disk did not answer. */
export type TranscriptProbe =
  | { kind: 'found'; session_uuid: string; path: string; size: number; mtime_ms: number }
  | { kind: 'missing' }
  | { kind: 'unknown'; detail: string };

export type TranscriptQuery = {
  agent: Agent;
  project_dir: string;
  /** Null until the harness has reported its id; then `marker` finds it. */
  session_uuid: string | null;
  /** A text that only the prompt of this launch contains (its run id). */
  marker: string;
  /** Launch time in milliseconds; when the id must be learned, older files are skipped. */
  launched_at: number;
};

/** A first-run dialog or a missing requirement that would make a launch fail, and the fix. */
export type HarnessFinding = { severity: 'error' | 'warning'; what: string; mend: string };

/** What the dispatcher needs of a harness; one conformance suite runs over all of them. */
export type HarnessAdapter = {
  name: HarnessName;
  planLaunch(request: LaunchRequest): LaunchPlan;
  findTranscript(query: TranscriptQuery): Promise<TranscriptProbe>;
  /** argv that resumes a past session by hand. */
  resumeArgv(agent: Agent, session_uuid: string): string[];
  /** Reads the harness's own configuration and reports what would block an unattended start in `project_dir`. */
  checkFirstRun(query: { agent: Agent; project_dir: string | null }): Promise<HarnessFinding[]>;
  /** Whether the agent's program has an account, as far as its own files and its environment tell. */
  signIn(agent: Agent): Promise<SignIn>;
};
