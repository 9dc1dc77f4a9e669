import { sep } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../contract/agent.ts';
import type { ContextUse } from '../../contract/fiber.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import type { DueMessage } from '../../contract/threads/host.ts';
import { FIBERS_FOLDER } from '../../fibers/fiber-id.ts';
import type { HarnessAdapter } from '../../harness/adapter.ts';
import type { AppServer } from '../../harness/app-server/app-server.ts';
import type { HookState } from '../../harness/hooks/hook-state.ts';
import type { PastSession } from '../../harness/transcripts/past-session.ts';
import type { TurnEnd } from '../../harness/transcripts/turn-end.ts';
import type { UsageSign } from '../../harness/transcripts/usage-limit.ts';
import type { Mux } from '../../mux/mux.ts';
import type { Disks, PathCheck } from '../../platform/disks.ts';
import type { GitWorktrees } from '../../platform/git-worktrees.ts';
import type { ProcessCommand } from '../../platform/process-commands.ts';
import type { ProcessIdentity, ProcessLife } from '../../platform/process-facts.ts';
import type { TerminalLaunch, TerminalLaunched } from '../../platform/terminal-kitty.ts';
import type { RunDirectories } from '../run-directory/run-directories.ts';
import type { WorkerMemory } from '../run-directory/worker-memory.ts';
import type { Documents } from './documents.ts';
import type { ExternalCli } from './external-cli.ts';

/** Everything outside the dispatcher's own memory; tests put their own in. */
export type World = {
  /** The frozen host id (DSP-3). */
  host: string;
  /** Tells this daemon from others of its host id. */
  daemonId: string;
  /** Zone of roles without `svc.tz`. */
  zone: string;
  settings: Settings;
  clock: Clock;
  logger: Logger;
  documents: Documents;
  mux: Mux;
  runDirectories: RunDirectories;
  /** The memory groups of workers. */
  workerMemory: WorkerMemory;
  /** The operator's running app server; null where none is configured (CAP-7). */
  app: AppServer | null;
  harness: {
    /** The agent of an id, or the default one for null; throws `agent_unknown`. */
    agent(id: string | null): Agent;
    /** Every agent of the registry. */
    agents(): readonly Agent[];
    adapter(name: HarnessName): HarnessAdapter;
    /** Finds the transcript of a session by its id alone. */
    findPastSession(agent: Agent, session: string): Promise<PastSession>;
    /** Compares the hooks in the home of an agent with those that this installation writes. */
    hooks(agent: Agent): Promise<HookState['state']>;
    /** The command that installs them there. */
    setupCommand(agent: Agent): string;
    /** Asks the agent's program what it can do; answers from memory when it was asked before. */
    probe(agent: Agent): Promise<void>;
    /** Names the account that an agent works on; agents that share one have the same name. */
    account(agent: Agent): string;
    /** What the end of a transcript says of a usage limit (P10). */
    usage(name: HarnessName, transcript: string): Promise<UsageSign>;
    /** Whether the turn at the end of a transcript is over, where no hook tells. */
    turnEnd(name: HarnessName, transcript: string): Promise<TurnEnd | null>;
    /** How full the context is, by the end of its transcript; null if that does not tell. */
    contextUse(name: HarnessName, transcript: string): Promise<ContextUse | null>;
    /** What the agent said last, by the end of its transcript. */
    lastSaid(name: HarnessName, transcript: string): Promise<string | null>;
  };
  processes: {
    look(process: ProcessIdentity): Promise<ProcessLife>;
    /** Ends the process and what it started; resolves when they are gone or the grace is over. */
    end(process: ProcessIdentity): Promise<void>;
    /** Who has this pid now; null when nobody has, or the kernel does not tell. */
    identify(pid: number): Promise<ProcessIdentity | null>;
    /** The process and all below it with their command lines, nearest first; null when the kernel does not tell. */
    commands(pid: number): Promise<ProcessCommand[] | null>;
  };
  /** Looks whether a `project_dir` is a directory (DSP-4); the one way of the dispatcher to touch one. */
  lookAtDirectory(path: string): Promise<DirectoryLook>;
  /** Git worktrees for single fibers; asked only of folders whose disk has just answered. */
  worktrees: GitWorktrees;
  /** Which disks may be touched; see `platform/disks.ts`. */
  disks: Pick<Disks, 'prove' | 'isSilent' | 'reportsChanges' | 'onAnswer'>;
  /** Starts a program in the user's terminal emulator. */
  openTerminal(launch: TerminalLaunch): Promise<TerminalLaunched>;
  /** Has a message sent to a session, once for each id; nobody waits for it, and what comes of it is logged. */
  sendMessage(message: DueMessage): void;
  /** Appends to the sessions ledger; a failure is logged, never fatal to a start. */
  recordSession(line: SessionLine): void;
  /** Environment that every worker gets on top of its own. */
  workerEnv: Record<string, string>;
  /** Absolute path of the folder that holds the worker skills (PRM-8). */
  skillsDir: string;
  /** The program of `SVC_CLI`; null where the bundled verbs are used. */
  cli: ExternalCli | null;
  /** Folder with the descriptions of roles, by `host.json`; null where each store has its own (PRM-6). */
  role_store: string | null;
  /** Kernel boot id; null where it cannot be told. */
  bootId: string | null;
  newUuid(): string;
  newUlid(): string;
};

/**
 * What the disk says of a directory; `real` is its path with links resolved, `tree` the nearest folder at or above it with a
 * `.git`, absent where there is none.
 */
export type DirectoryLook =
  | { kind: 'directory'; real: string; tree?: string }
  /** It is the folder of the documents of a store, or lies in it. */
  | { kind: 'in_store' }
  | { kind: 'not_directory' }
  | { kind: 'missing' }
  | { kind: 'unreadable'; detail: string }
  /** Its own disk did not answer; `place` is what did not: a mount, or this one path. */
  | { kind: 'silent'; after_ms: number; place: string }
  /** Other looks had every turn: no answer about this directory. */
  | { kind: 'unchecked' };

/** What a look at a path says of a directory; `documents` are the real paths of the stores' folders of documents. */
export function directoryLook(look: PathCheck, documents: readonly string[]): DirectoryLook {
  if (look.kind === 'file' || look.kind === 'other') return { kind: 'not_directory' };
  if (!('real' in look)) return look;
  const { real, tree } = look;
  const inStore =
    real.split(sep).includes(FIBERS_FOLDER) ||
    documents.some((folder) => real === folder || real.startsWith(`${folder}${sep}`));
  if (inStore) return { kind: 'in_store' };
  return { kind: 'directory', real, ...(tree === undefined ? {} : { tree }) };
}
