import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';

/** Stands in argv where the launch message goes, for an agent that takes it only so; the run script fills it in. */
export const PROMPT = Symbol('prompt');
export type LaunchArgument = string | typeof PROMPT;

/**
 * What a program is told that takes its first message by argument only: every user of the machine can read an
 * argument, so it says where the message is. The path holds the launch id, by which its transcript is
 * found, and it opens like the message itself, by which hooks know that nobody typed it.
 */
export function pointerTo(prompt_file: string): string {
  return `You are a fiber worker: your task is the file ${prompt_file}; read it before you do anything else.`;
}

export type LaunchRequest = {
  agent: Agent;
  effort: string | null;
  /** A fresh UUID that the harness uses as session id where it lets the caller choose. */
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
  /** The session has no fiber yet: it files one, arms it and claims it by itself (WPL-6). */
  capture?: boolean;
};

export type LaunchPlan = {
  /** argv[0] is the agent's `cli`. */
  argv: LaunchArgument[];
  /** The program reads the launch message from its standard input, and the keyboard from the terminal. */
  prompt_on_stdin: boolean;
  env: Record<string, string>;
  /** The session id the harness will use, or null where it assigns one that must be learned. */
  session_uuid: string | null;
  /** Files to write into the run directory before the start (mode 0600). */
  files: { name: string; text: string }[];
};

/** Where a transcript lies; `unknown` when the disk did not answer. */
export type TranscriptProbe =
  | { kind: 'found'; session_uuid: string; path: string; size: number; mtime_ms: number }
  | { kind: 'missing' }
  | { kind: 'unknown'; detail: string };

export type TranscriptQuery = {
  agent: Agent;
  project_dir: string;
  /** Null while the harness has not told its id; then `marker` finds it. */
  session_uuid: string | null;
  /** A text that only this launch's prompt contains (its run id). */
  marker: string;
  /** Launch time in milliseconds; older files are not looked at when the id must be learned. */
  launched_at: number;
};

/** A first-run dialog or missing piece that would eat a launch, and the mend. */
export type HarnessFinding = { severity: 'error' | 'warning'; what: string; mend: string };

/** What the dispatcher needs of a harness; the same conformance suite runs over all. */
export type HarnessAdapter = {
  name: HarnessName;
  planLaunch(request: LaunchRequest): LaunchPlan;
  findTranscript(query: TranscriptQuery): Promise<TranscriptProbe>;
  /** argv that continues a past session by hand. */
  resumeArgv(agent: Agent, session_uuid: string): string[];
  /** Reads the harness's own configuration and tells what would stop an unattended start in `project_dir`. */
  checkFirstRun(query: { agent: Agent; project_dir: string | null }): Promise<HarnessFinding[]>;
};
