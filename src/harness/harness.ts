import type { Agent } from '../contract/agent.ts';
import type { ContextUse } from '../contract/fiber.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import type { SignIn } from '../contract/http/doctor.ts';
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

/** Everything that the service knows about one agent program; `harnesses.ts` lists them. */
export type Harness = {
  name: HarnessName;
  /** Its product name. */
  title: string;
  /** The command that installs it. */
  install: string;
  /** The default settings of its agents; the arguments let it work unattended. */
  defaults: { cli: string; args: string[]; effort_levels: string[] };
  session_id: SessionIdChoice;
  /** The variable that gives the commands it runs the id of their conversation; null if there is none. */
  session_variable: string | null;
  /** The folder of its settings, skills and transcripts. */
  folder(environment: AgentEnvironment): string;
  /** The variable that names another one. */
  folder_variable: string;
  account: {
    /** Variables that determine the account the program uses. */
    variables: readonly string[];
    /** Fields of an agent that also determine the account. */
    ofAgent?(agent: Agent): string[];
  };
  planLaunch(request: LaunchRequest, chooses_session_id: boolean): HarnessLaunch;
  /** argv that resumes a past session by hand. */
  resumeArgv(agent: Agent, session_uuid: string): string[];
  /** What would block an unattended start, such as an unanswered first-run dialog. */
  checkFirstRun(
    query: FirstRunQuery,
    environment: HarnessEnvironment,
    process: ProcessFacts,
  ): Promise<HarnessFinding[]>;
  /** Whether it has an account, from its own files and its environment; reads no secret out. */
  signIn(agent: Agent, environment: HarnessEnvironment, process: ProcessFacts): Promise<SignIn>;
  transcripts: TranscriptFiles;
  records: TranscriptRecords;
  messages: MessageInput;
  /** A way for messages that presses no keys, where the program has one. */
  message_way?: MessageWay;
  setup: HarnessSetup;
};

/** A launch without the agent's variables; `prompt_on_stdin` defaults to false. */
type HarnessLaunch = Pick<LaunchPlan, 'argv' | 'session_uuid'> & Partial<Pick<LaunchPlan, 'prompt_on_stdin'>>;

/** Whether a launch may choose its session id; `probe` decides where versions differ. */
type SessionIdChoice =
  | 'chosen'
  | 'assigned'
  | { probe: { args: string[]; env: Record<string, string>; option: string } };

export type FirstRunQuery = { agent: Agent; project_dir: string | null };

/** Environment and user of the process that starts the agents; `uid` is null if the system has none. */
export type ProcessFacts = { env: NodeJS.ProcessEnv; uid: number | null };

/** Where the program keeps its transcripts. Methods throw the system's errors. */
type TranscriptFiles = {
  /** The transcript of a launch; if its session id is null, the marker finds it. */
  find(query: TranscriptQuery, environment: HarnessEnvironment): Promise<TranscriptProbe>;
  /** Path of the transcript of a session in any folder; null if there is none. */
  findSession: SessionSearch;
  /** `findSession` for many sessions, in a pool thread. */
  searchMany?(): SessionSearch;
  /** Agents with the same value keep their transcripts in the same place; default: the harness folder. */
  place?(agent: Agent, environment: HarnessEnvironment): string;
  /** Folder of the transcripts of the sub-agents of a session. */
  agentsFolder?(path: string): string;
  /**
   * The last address of a page that shows the session, in the first `to` bytes; the bytes before `seen` contain none.
   */
  findLink?(path: string, seen: number, to: number): string | null;
};

type SessionSearch = (
  agent: Agent,
  session: string,
  environment: HarnessEnvironment,
) => Promise<string | null>;

/** How to read the records of a transcript, as pure functions. `newest`: the records at its end, newest first. */
export type TranscriptRecords = {
  /** In milliseconds; null for a record without a time. */
  timeOf(record: JsonRecord): number | null;
  /** The working directory in a record. */
  folderOf(record: JsonRecord): unknown;
  /** What was said in one record, in order; empty for records that are internal to the program. */
  saidIn(record: JsonRecord): Said[];
  /** The end of a turn that no hook reports; null while the turn runs, and if hooks report every end. */
  turnEnd(newest: Iterable<JsonRecord>): TurnEnd | null;
  /** What the end of a transcript says about usage limits. `zone`: the time zone of times without one. */
  usageSign(newest: Iterable<JsonRecord>, zone: string): UsageSign;
  /** How full the context is after the last answer; null until there is one, also after the context was compacted. */
  contextUse(newest: Iterable<JsonRecord>): ContextUse | null;
  /** Adds the token counts of one record. */
  addUsage(usage: TokenUsage, record: JsonRecord): void;
  /** Every line that `addUsage` counts contains one of these; other lines are not parsed. */
  usage_marks: readonly string[];
};

/** What the terminal of a session shows: whether typed text would start or join a turn as a message of its own. */
export type InputScreen = 'ready' | 'draft' | 'dialog' | 'unknown';

/** The furthest stage that the transcript proves. */
export type MessageStage = 'queued' | 'submitted' | 'accepted';

/** How a message gets into a running session, as pure functions. */
export type MessageInput = {
  /** `screen`: the visible pane with its attributes (`tmux capture-pane -p -e`). Everything not recognised is `unknown`. */
  readScreen(screen: string): InputScreen;
  /**
   * Whether the composer on this screen holds the text and nothing else. Only for a program that may keep a text whose
   * Enter came with it; the text was typed into an empty composer.
   */
  holdsText?(screen: string, text: string): boolean;
  /**
   * The stage of the message whose text contains `marker`; null if no record holds it. `records`: oldest first, from an
   * offset saved before it was sent.
   */
  stageOf(records: readonly JsonRecord[], marker: string): MessageStage | null;
  /** The text that a hook added to the main conversation as context; null for every other record. */
  contextOf(record: JsonRecord): string | null;
};

/** A way for messages into a running session beside its terminal. */
export type MessageWay = {
  /** Null if the program does not answer there; it was given nothing then, and its terminal is the way. */
  open(session: WaySession): Promise<OpenWay | null>;
};

type WaySession = {
  /** The folder of the sockets on which sessions take messages. */
  folder: string;
  /** The id of the conversation. */
  session: string;
  /** The stable id of its tmux session (`$7`). */
  terminal: string;
};

export type OpenWay = {
  /** Its name in receipts. */
  transport: string;
  /** Gives a text as one message, once. */
  give(text: string): Promise<GivenMessage>;
  close(): void;
};

/** What became of a text. `queued`: behind the running turn; `not_given`: the program may take it later. */
export type GivenMessage =
  | { kind: 'given' | 'queued' }
  | { kind: 'not_given'; detail: string }
  | { kind: 'unknown'; detail: string };

/** What `svc setup` installs in the program's folder. */
type HarnessSetup = {
  target(place: SetupPlace): Partial<SetupTarget> | Promise<SetupTarget>;
  /** Compares the hooks in its folder with those that this installation writes. */
  compareHooks(folder: string, env: NodeJS.ProcessEnv): Promise<HookState>;
};

export type SetupPlace = {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Folder for temporary files. */
  temp: string;
  mode: 'install' | 'uninstall';
};

export type SetupTarget = {
  /** Files that are entirely ours, by path below the folder, in addition to the worker skills. */
  files: ReadonlyMap<string, string>;
  shared: SharedFile[];
  /** What could not be set up, with the fix. */
  lacks: string | null;
};

/** A file of the user that contains a section of ours. */
export type SharedFile = {
  name: string;
  put: (before: string | null) => string;
  take: (text: string) => string;
};
