import { shellWord } from '../../base/shell-word.ts';
import type { Agent } from '../../contract/agent.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { APP_HARNESS, type HarnessName, parseHarnessName } from '../../contract/harness-name.ts';
import { DEFAULT_SURFACE, surfaceOfConversation } from '../../contract/surface.ts';
import type { TranscriptProbe } from '../../harness/adapter.ts';
import { paneOfLaunch } from '../../mux/mux-listing.ts';
import { resumeSessionName } from '../../mux/session-name.ts';
import type { Refusal } from '../holds/refusals.ts';
import { followSession } from '../run/follow-session.ts';
import { isOfStandingRole, type ResumeMode } from '../run/run-id.ts';
import { isInVain, probeTranscript } from '../run/run-session.ts';
import { isLaunchId } from '../run-directory/run-directory.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import type { World } from '../world/world.ts';
import { decideResume, type ResumeDecision, type ResumeFacts } from './resume.ts';

/** What a start asks of the fiber's conversation. */
export type ConversationRequest = {
  mode: ResumeMode | null;
  /** A running worker is cut for this start. */
  cuts: boolean;
  agent: Agent;
  project_dir: string;
};

/** The conversation that a start is in: a resumed one with the size of its transcript, or a fresh one. */
export type Conversation =
  | { kind: 'resume'; session_uuid: string; size: number | null }
  | Extract<ResumeDecision, { kind: 'fresh' }>;

/** Looks at the previous conversation of a fiber and decides whether the start goes on with it (RES-1). */
export async function decideConversation(
  world: World,
  document: FiberDocument,
  request: ConversationRequest,
): Promise<Decided> {
  const facts = await resumeFacts(world, document, request);
  const decision = decideResume(facts);
  if (decision.kind === 'refused') return { kind: 'refused', refusal: refusalOf(document, decision) };
  if (decision.kind === 'resume') {
    const { transcript } = facts;
    return { ...decision, size: transcript.kind === 'found' ? transcript.size : null };
  }
  if (decision.previous?.cut_off === true)
    world.logger.info(
      { fiber: document.id, session: decision.previous.session_uuid, why: decision.why },
      'a conversation that was cut off is not resumed',
    );
  return decision;
}

async function resumeFacts(
  world: World,
  document: FiberDocument,
  request: ConversationRequest,
): Promise<ResumeFacts> {
  const { agent, mode, cuts } = request;
  const run = lastRun(world, document);
  const known = sessionOf(world, document, run);
  const harness = harnessOf(document, run) ?? agent.harness;
  const { transcript, reachable } = await findPrevious(world, request, { run, known, harness });
  const session_uuid = known ?? (transcript.kind === 'found' ? transcript.session_uuid : null);
  return {
    document,
    previous:
      session_uuid === null ? null : { session_uuid, harness, host: run === undefined ? null : world.host },
    transcript,
    mode,
    host: world.host,
    harness: agent.harness,
    reachable:
      reachable && (run === undefined || (await isSameFolder(world, run.project_dir, request.project_dir))),
    end: endOf(run),
    seen_closed: run?.fiber_closed === true,
    cuts,
    resumed_in_vain: run?.resume?.session_uuid === session_uuid && isInVain(run.resume, transcript),
    open_in_resume: session_uuid !== null && (await isOpenInResume(world, session_uuid)),
    warm_window_ms: world.settings.resume_warm_window_ms,
    now: world.clock.now(),
  };
}

/** The start that the document's markers are of; its run directory may have been cleared since. */
function lastRun(world: Pick<World, 'runDirectories'>, document: FiberDocument): RunManifest | undefined {
  const run_id = document.svc?.runtime?.run_id;
  if (run_id === undefined) return undefined;
  const isIt = (manifest: RunManifest) => manifest.uid === document.uid && manifest.run_id === run_id;
  const { runDirectories } = world;
  if (isOfStandingRole(run_id)) return runDirectories.all().findLast(isIt);
  // The run id is the launch id, and that of a start which hundreds go before is found without reading theirs.
  const read = isLaunchId(run_id) ? runDirectories.manifest(run_id) : null;
  return read?.kind === 'found' && isIt(read.value) ? read.value : undefined;
}

/** What the hooks reported counts even when the daemon was down at that time (P7). */
function sessionOf(
  world: Pick<World, 'runDirectories'>,
  document: FiberDocument,
  run: RunManifest | undefined,
): string | null {
  const known = document.svc?.runtime?.session_uuid ?? run?.session_uuid ?? null;
  if (run === undefined) return known;
  const left = run.left_sessions ?? [];
  return followSession({ known, left }, world.runDirectories.sessionStarts(run.launch_id));
}

function endOf(run: RunManifest | undefined): ResumeFacts['end'] {
  if (run?.end_reason === undefined || run.ended_at === null) return null;
  return { at: run.ended_at, handed_off: run.end_reason === 'handoff' };
}

function harnessOf(document: FiberDocument, run: RunManifest | undefined): HarnessName | null {
  const named = document.svc?.runtime?.harness;
  return (named === undefined ? undefined : parseHarnessName(named)) ?? run?.harness ?? null;
}

/** The transcript where the agent of this start would go on with it, else where its own agent left it, in any folder. */
async function findPrevious(
  world: World,
  { agent, project_dir }: ConversationRequest,
  previous: { run: RunManifest | undefined; known: string | null; harness: HarnessName },
): Promise<{ transcript: TranscriptProbe; reachable: boolean }> {
  const { run, known, harness } = previous;
  const query = { harness, session_uuid: known, run };
  if (harness === agent.harness) {
    const here = await probeTranscript(world, { ...query, agent, project_dir });
    if (here.kind !== 'missing') return { transcript: here, reachable: true };
  }
  const its = agentOf(world, harness, agent, run);
  const left = await probeTranscript(world, {
    ...query,
    agent: its,
    project_dir: run?.project_dir ?? project_dir,
  });
  const transcript = left.kind === 'missing' && known !== null ? await findAnywhere(world, its, query) : left;
  return { transcript, reachable: transcript.kind === 'missing' };
}

/** The transcript by the id of its session alone: the folder may be another one since, or the run directory gone. */
async function findAnywhere(
  world: Pick<World, 'harness'>,
  agent: Agent,
  query: { harness: HarnessName; session_uuid: string | null; run: RunManifest | undefined },
): Promise<TranscriptProbe> {
  const past = await world.harness.findPastSession(agent, query.session_uuid ?? '');
  if (past.kind === 'unknown') return past;
  if (past.kind === 'missing' || past.cwd === null) return { kind: 'missing' };
  return probeTranscript(world, { ...query, agent, project_dir: past.cwd });
}

/** The agent that a conversation ran on, or one that looks where that harness keeps its transcripts by default. */
function agentOf(
  world: Pick<World, 'harness'>,
  harness: HarnessName,
  agent: Agent,
  run: RunManifest | undefined,
): Agent {
  if (run !== undefined) {
    try {
      const its = world.harness.agent(run.agent);
      if (its.harness === harness) return its;
    } catch {
      // It is no longer in the registry.
    }
  }
  return agent.harness === harness ? agent : { ...agent, harness, args: [], env: {} };
}

async function isSameFolder(
  world: Pick<World, 'lookAtDirectory'>,
  before: string,
  now: string,
): Promise<boolean> {
  if (before === now) return true;
  const [one, other] = await Promise.all([world.lookAtDirectory(before), world.lookAtDirectory(now)]);
  return one.kind === 'directory' && other.kind === 'directory' && one.real === other.real;
}

async function isOpenInResume(world: Pick<World, 'mux'>, session_uuid: string): Promise<boolean | null> {
  const listing = await world.mux.list();
  if (listing.kind === 'unknown') return null;
  return paneOfLaunch(listing, session_uuid)?.pane.dead === false;
}

function refusalOf(
  document: FiberDocument,
  { reason, session_uuid }: Extract<ResumeDecision, { kind: 'refused' }>,
): Refusal {
  return {
    reason,
    message:
      reason === 'session_open_in_resume'
        ? `the conversation ${session_uuid} of ${document.id} is open in the tmux session ${resumeSessionName(session_uuid)}; close it there, or start fresh with \`svc dispatch ${shellWord(document.id)} --resume-mode fresh\``
        : `tmux did not report whether the conversation ${session_uuid} of ${document.id} is open elsewhere; see \`svc doctor\``,
  };
}

type Decided = Conversation | { kind: 'refused'; refusal: Refusal };

/** A conversation is gone on with only on the surface that it was begun on; on the other one it is named (CAP-7). */
export function onSurface(document: FiberDocument, decided: Decided): Decided {
  if (decided.kind !== 'resume') return decided;
  const runtime = document.svc?.runtime;
  if (surfaceOfConversation(runtime ?? {}) === (document.svc?.surface ?? DEFAULT_SURFACE)) return decided;
  const { session_uuid } = decided;
  const harness = runtime?.harness ?? APP_HARNESS;
  const previous = { session_uuid, harness, cut_off: true, transcript: null };
  return { kind: 'fresh', why: 'out_of_reach', previous };
}
