import { join } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import type { Agent } from '../../contract/agent.ts';
import type { ResumedSession } from '../../contract/http/attach.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import { paneOfLaunch, requireListing } from '../../mux/mux-listing.ts';
import { isConversationId, resumeSessionName } from '../../mux/session-name.ts';
import { freeName } from '../../mux/set-aside.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { Memory } from '../holds/memory.ts';
import { requireMayStart } from '../holds/start-refusal.ts';
import { refuseByDirectory } from '../plan/preflight.ts';
import { RESUMED_FOLDER } from '../run-directory/past-session-retention.ts';
import { RUN_FILES } from '../run-directory/run-directory.ts';
import { buildRunScript, runScriptCommand, shownArgv } from '../run-directory/run-script.ts';
import type { OpenSurface } from '../surfaces/surface.ts';
import type { World } from '../world/world.ts';
import type { Write } from '../world/write.ts';

/** A past session; `lines` are what the sessions ledger of this host has of it. */
export type AskedPastSession = {
  session: string;
  lines: readonly SessionLine[];
  dry_run?: boolean | undefined;
};
type CapturesByConversation = Pick<OpenSurface['captures'], 'byConversation'>;
type PlannedStart = Pick<Parameters<typeof buildRunScript>[0], 'argv' | 'env'> & { cwd: string };
/** `start` is null where the session is open. */
type PlannedSession = { session: string; mux_session: string; start: PlannedStart | null };

/**
 * `POST /sessions/resume`: starts or finds the terminal session of a past conversation (WPL-22). It runs the harness's own
 * resume command, for the agent that the sessions ledger names, in the folder where the conversation began. Throws
 * `session_running` (409), `transcript_missing` or `working_directory_unknown` (422), and `stopped_all` (422) for a terminal
 * that would have to be started while the emergency brake is on.
 */
export class PastSessions implements Write<AskedPastSession, PlannedSession, Rehearsal, ResumedSession> {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #captures: CapturesByConversation;
  readonly #adopted: () => Promise<void>;

  /** `adopted` rejects while nobody can tell what runs. */
  constructor(world: World, memory: Memory, captures: CapturesByConversation, adopted: () => Promise<void>) {
    this.#world = world;
    this.#memory = memory;
    this.#captures = captures;
    this.#adopted = adopted;
  }

  async plan({ session, lines }: AskedPastSession): Promise<PlannedSession> {
    await this.#adopted();
    const world = this.#world;
    const mux_session = resumeSessionName(session);
    if (!isConversationId(session))
      throw new CodedError('invalid_request', `${JSON.stringify(session)} is not the id of a session`);
    refuseApp(session, lines);
    refuseRunning(session, this.#memory, this.#captures);
    const open = paneOfLaunch(await requireListing(world.mux), session);
    if (open?.pane.dead === false) return { session, mux_session: open.session.name, start: null };
    requireMayStart(this.#memory, null, { look: false });
    const agent = agentOf(world, session, lines);
    const cwd = await folderOf(world, agent, session);
    const argv = world.harness.adapter(agent.harness).resumeArgv(agent, session);
    const env = { ...world.workerEnv, ...agent.env, SVC_HARNESS: agent.harness };
    return { session, mux_session, start: { argv, cwd, env } };
  }

  show({ session, mux_session, start }: PlannedSession): Rehearsal {
    if (start === null) return rehearsal(`start nothing: ${mux_session} is open`);
    const { argv, cwd, env } = start;
    return rehearsal(`open the past session ${session} in ${cwd}`, {
      command: { argv: shownArgv(argv), cwd, env: Object.keys(env).sort(), mux_session },
    });
  }

  async apply({ session, mux_session, start }: PlannedSession): Promise<ResumedSession> {
    if (start === null) return { mux_session, created: false };
    const { cwd } = start;
    // The conversation may have become a worker's again while the transcript was looked for.
    refuseRunning(session, this.#memory, this.#captures);
    requireMayStart(this.#memory, null, { look: true });
    const command = runScriptCommand(writeStart(this.#world, session, start));
    await freeName(this.#world, mux_session);
    const created = await this.#world.mux.create({ name: mux_session, cwd, command });
    if (created.kind === 'failed') throw new CodedError(created.code, created.detail);
    return { mux_session, created: created.kind === 'created' };
  }
}

function refuseApp(session: string, lines: readonly SessionLine[]): void {
  if (lines.some((line) => line.thread_id !== null))
    throw new CodedError(
      'surface_unsupported',
      `${session} is an app conversation and has no terminal; open it in the app`,
    );
}

function refuseRunning(
  session: string,
  memory: Pick<Memory, 'runs'>,
  captures: CapturesByConversation,
): void {
  const run = memory.runs.all().find((one) => one.session_uuid === session);
  const capture = captures.byConversation(session);
  const running = run?.mux_session ?? capture?.mux_session;
  if (running === undefined) return;
  const whose = run === undefined ? 'a capture' : `the worker of ${run.fiber_id}`;
  throw new CodedError('session_running', `${session} is running as ${whose}; attach to ${running} instead`, {
    details: { mux_session: running },
  });
}

/** The agent of the newest line that names one; of older lines the harness tells which program it was. */
function agentOf(
  world: Pick<World, 'harness' | 'host'>,
  session: string,
  lines: readonly SessionLine[],
): Agent {
  const own = lines.filter((line) => line.host === world.host);
  const agents = world.harness.agents();
  const named = own.findLast((line) => line.agent !== undefined)?.agent;
  const harness = own.at(-1)?.harness;
  if (harness === undefined)
    throw new CodedError(
      'transcript_missing',
      `the sessions ledger of ${world.host} knows no session ${session}; name one that ran on this host`,
    );
  const found =
    agents.find((agent) => agent.id === named) ??
    agents.find((agent) => agent.harness === harness && agent.default) ??
    agents.find((agent) => agent.harness === harness);
  if (found === undefined)
    throw new CodedError('agent_unknown', `no agent of the registry runs ${harness}; see \`svc agents\``);
  return found;
}

async function folderOf(
  world: Pick<World, 'harness' | 'host' | 'lookAtDirectory'>,
  agent: Agent,
  session: string,
): Promise<string> {
  const past = await world.harness.findPastSession(agent, session);
  if (past.kind === 'unknown')
    throw new CodedError('store_unavailable', `the transcripts could not be searched: ${past.detail}`);
  if (past.kind === 'missing')
    throw new CodedError(
      'transcript_missing',
      `${world.host} has no transcript of the ${agent.harness} session ${session}`,
    );
  if (past.cwd === null)
    throw new CodedError(
      'working_directory_unknown',
      `${past.path} records no working directory, so it cannot be resumed`,
    );
  const look = await world.lookAtDirectory(past.cwd);
  const refused =
    look.kind === 'silent' || look.kind === 'unchecked' ? refuseByDirectory(past.cwd, look) : null;
  if (refused !== null) throw new CodedError(refused.reason, refused.message);
  if (look.kind !== 'directory')
    throw new CodedError(
      'project_dir_missing',
      `${past.cwd}, where the session ran, is no directory any more`,
    );
  return past.cwd;
}

/** A person goes on with the session by hand: it has the terminal, and no limit of a worker. */
const BY_HAND = { prompt_bytes: 0, prompt_on_stdin: false, memory: null, again: true };

/** The script that the session runs; the agent's variables are secrets and never part of a command line. */
function writeStart(
  world: Pick<World, 'settings'>,
  session: string,
  { argv, cwd, env }: PlannedStart,
): string {
  const folder = join(world.settings.data_dir, RESUMED_FOLDER, session);
  const script = buildRunScript({ run_dir: folder, project_dir: cwd, argv, ...BY_HAND, env });
  makeFolder(folder);
  writeFileAtomic(join(folder, RUN_FILES.prompt), '', { mode: 0o600 });
  writeFileAtomic(join(folder, RUN_FILES.script), script, { mode: 0o700 });
  return folder;
}
