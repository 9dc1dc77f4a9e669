import type { Agent } from '../contract/agent.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type {
  HarnessFinding,
  LaunchPlan,
  LaunchRequest,
  TranscriptProbe,
  TranscriptQuery,
} from './adapter.ts';
import type { AgentEnvironment, HarnessEnvironment } from './agent-environment.ts';
import type { HookState } from './hooks/hook-state.ts';
import type { JsonRecord, Said } from './transcripts/said.ts';
import type { TokenUsage } from './transcripts/token-usage.ts';
import type { TurnEnd } from './transcripts/turn-end.ts';
import type { UsageSign } from './transcripts/usage-limit.ts';

/** Everything that the service knows of one agent program; `harnesses.ts` lists them. */
export type Harness = {
  name: HarnessName;
  /** What its makers call it. */
  title: string;
  /** The command that installs it. */
  install: string;
  /** What an agent of it is unless its entry says otherwise; the arguments let it work with nobody at the keyboard. */
  defaults: { cli: string; args: string[]; effort_levels: string[] };
  session_id: SessionIdChoice;
  /** Variable in which it tells the commands it runs the id of their conversation; null where it tells none. */
  session_variable: string | null;
  /** The folder of its settings, skills and transcripts. */
  folder(environment: AgentEnvironment): string;
  account: {
    /** Variables that decide on whose account the program works. */
    variables: readonly string[];
    /** What else of an agent decides it. */
    ofAgent?(agent: Agent): string[];
  };
  planLaunch(request: LaunchRequest, chooses_session_id: boolean): HarnessLaunch;
  /** argv that continues a past session by hand. */
  resumeArgv(agent: Agent, session_uuid: string): string[];
  /** What would stop an unattended start, such as a first-run dialog that nobody has answered. */
  checkFirstRun(
    query: FirstRunQuery,
    environment: HarnessEnvironment,
    process: ProcessFacts,
  ): Promise<HarnessFinding[]>;
  transcripts: TranscriptFiles;
  records: TranscriptRecords;
  setup: HarnessSetup;
};

/** What a launch is besides the variables of its agent; `prompt_on_stdin` is false unless told. */
export type HarnessLaunch = Pick<LaunchPlan, 'argv' | 'session_uuid'> &
  Partial<Pick<LaunchPlan, 'prompt_on_stdin'>>;

/** Whether a launch may choose the id of its session; the answer of `probe` tells it where versions differ. */
export type SessionIdChoice =
  | 'chosen'
  | 'assigned'
  | { probe: { args: string[]; env: Record<string, string>; option: string } };

export type FirstRunQuery = { agent: Agent; project_dir: string | null };

/** The process that starts the agents: its environment and its user; `uid` is null where the system has none. */
export type ProcessFacts = { env: NodeJS.ProcessEnv; uid: number | null };

/** Where the program keeps its transcripts. What the disk refuses is thrown. */
export type TranscriptFiles = {
  /** The transcript of a launch; a null session id is learned from the marker. */
  find(query: TranscriptQuery, environment: HarnessEnvironment): Promise<TranscriptProbe>;
  /** Path of the transcript of a session in any folder; null where there is none. */
  findSession: SessionSearch;
  /** `findSession` for many sessions, in a pool thread. */
  searchMany?(): SessionSearch;
  /** Agents with the same text keep their transcripts in the same place; their folder unless told. */
  place?(agent: Agent, environment: HarnessEnvironment): string;
  /** Folder of the transcripts of the agents that a session started itself. */
  agentsFolder?(path: string): string;
  /** The last address of a page that shows the session, in the first `to` bytes; those before `seen` had none. */
  findLink?(path: string, seen: number, to: number): string | null;
};

export type SessionSearch = (
  agent: Agent,
  session: string,
  environment: HarnessEnvironment,
) => Promise<string | null>;

/** How the records of a transcript are read: functions of plain data. `newest`: records of its end, newest first. */
export type TranscriptRecords = {
  /** Milliseconds; null for a record without a time. */
  timeOf(record: JsonRecord): number | null;
  /** The working directory that a record names. */
  folderOf(record: JsonRecord): unknown;
  /** What is said in one record, in order: nothing for a record that only the program itself reads. */
  saidIn(record: JsonRecord): Said[];
  /** The end of a turn that no hook tells of; null while the turn goes on, and where hooks tell of every end. */
  turnEnd(newest: Iterable<JsonRecord>): TurnEnd | null;
  /** What the end says of the account. `zone`: where times without a zone were written. */
  usageSign(newest: Iterable<JsonRecord>, zone: string): UsageSign;
  /** Adds what one record tells of the tokens that were used. */
  addUsage(usage: TokenUsage, record: JsonRecord): void;
  /** Every line that `addUsage` counts contains one of these; other lines are not parsed. */
  usage_marks: readonly string[];
};

/** What `svc setup` puts into the program's own folder. */
export type HarnessSetup = {
  target(place: SetupPlace): Partial<SetupTarget> | Promise<SetupTarget>;
  /** How the hooks in its folder compare with those that this installation writes. */
  compareHooks(folder: string, env: NodeJS.ProcessEnv): HookState;
};

export type SetupPlace = {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Folder for scratch files. */
  temp: string;
  mode: 'install' | 'uninstall';
};

export type SetupTarget = {
  /** Files that are wholly ours, by path below the folder; the worker skills come on top. */
  files: ReadonlyMap<string, string>;
  shared: SharedFile[];
  /** What could not be set up, as a sentence that names the mend. */
  lacks: string | null;
};

/** A file of the user that gets a part of ours. */
export type SharedFile = {
  name: string;
  put: (before: string | null) => string;
  take: (text: string) => string;
};
