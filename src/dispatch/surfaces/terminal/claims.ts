import { CodedError } from '../../../base/errors.ts';
import { Mutex } from '../../../base/mutex.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import type { Claimed, ClaimRequest } from '../../../contract/http/capture.ts';
import type { Rehearsal } from '../../../contract/http/rehearsal.ts';
import type { MuxServer, MuxSession } from '../../../mux/mux.ts';
import { isNeverWorker, parseWorkerSessionName } from '../../../mux/session-name.ts';
import {
  type ClaimPorts,
  claimableDocument,
  claimedReply,
  claimManifest,
  otherWorker,
  requireCurrent,
  showClaim,
} from '../../claims/claim-checks.ts';
import { markClaim, needsMark } from '../../edits/claim-markers.ts';
import type { Memory } from '../../holds/memory.ts';
import { cameAbout } from '../../holds/memory.ts';
import { moveRun, type Run } from '../../run/run.ts';
import { runOfManifest } from '../../run/runs.ts';
import { writeForeignRun } from '../../run-directory/capture-directory.ts';
import type { ClaimedPane } from '../../run-directory/claimed-panes.ts';
import type { AgentPid, RunManifest } from '../../run-directory/run-records.ts';
import { keyOf } from '../../world/documents.ts';
import type { World } from '../../world/world.ts';
import { perform, type Write } from '../../world/write.ts';
import type { Captures } from './captures.ts';
import { findSessionAgent } from './session-agent.ts';

/** The session of a claim: a capture of ours, or one that a person started and in which an agent runs. */
type Worker = {
  claim: 'capture' | 'person';
  launch_id: string;
  run_id: string;
  agent: string;
  harness: RunManifest['harness'];
  session_uuid: string | null;
  project_dir: string;
  /** The agent's process and its pane, where no run script of ours has written them down. */
  found: { process: AgentPid; pane: ClaimedPane | null } | null;
};

type ListedSession = { session: MuxSession; server: MuxServer | null };

type PlannedClaim = { document: FiberDocument; meeting: string | undefined } & (
  | { kind: 'again'; run: Run }
  | { kind: 'new'; worker: Worker; manifest: RunManifest }
);

/** Makes sessions that run already the workers of fibers; starts, resumes, names and interrupts nothing (WPL-5). */
export class Claims implements Write<ClaimRequest, PlannedClaim, Rehearsal, Claimed> {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #captures: Captures;
  readonly #ports: ClaimPorts;
  readonly #claiming = new Mutex();

  constructor(world: World, memory: Memory, captures: Captures, ports: ClaimPorts) {
    this.#world = world;
    this.#memory = memory;
    this.#captures = captures;
    this.#ports = ports;
  }

  /** `POST /claim` on the terminal surface. The same claim once more is success. */
  claim<Q extends ClaimRequest>(asked: Q) {
    return perform(this, asked);
  }

  inTurn<T>(_asked: ClaimRequest, run: () => Promise<T>): Promise<T> {
    return this.#claiming.run(run);
  }

  /** Who would be the worker. */
  async plan(request: ClaimRequest): Promise<PlannedClaim> {
    const mux_session = sessionNamedIn(request);
    await this.#ports.adopted();
    const { meeting } = request;
    const document = claimableDocument(this.#world, request.fiber_id, 'cli');
    const key = keyOf(document);
    await this.#ports.underWay(key);
    const running = this.#memory.runs.get(key);
    if (running !== undefined) {
      if (running.mux_session !== mux_session) throw otherWorker(document, running);
      return { kind: 'again', document, meeting, run: running };
    }
    const session = await this.#sessionOf(mux_session, document);
    const worker = await this.#workerIn(session, document, request.session_uuid);
    const manifest = this.#manifestOf(document, session.session, worker, meeting);
    return { kind: 'new', document, meeting, worker, manifest };
  }

  show(plan: PlannedClaim): Promise<Rehearsal> {
    const run = plan.kind === 'again' ? plan.run : runOfManifest(plan.manifest);
    return showClaim(this.#world, { ...plan, run, name: run.mux_session });
  }

  async apply(plan: PlannedClaim): Promise<Claimed> {
    const { document, meeting } = plan;
    if (plan.kind === 'again') return this.#again(document, plan.run, meeting);
    const { worker, manifest } = plan;
    const key = keyOf(document);
    const run: Run = { ...runOfManifest(manifest), state: { kind: 'starting' } };
    // Nothing is awaited between this look and the claim in memory, so that no start comes between.
    const start = this.#ports.underWay(key);
    if (start !== undefined || !this.#memory.runs.claim(run)) {
      await start;
      const other = this.#memory.runs.get(key);
      throw other === undefined
        ? new CodedError('conflict', `${document.id} was being started; claim it again`)
        : otherWorker(document, other);
    }
    try {
      await this.#write(document, run, worker, manifest, meeting);
    } catch (error) {
      this.#memory.runs.release(run);
      throw error;
    } finally {
      moveRun(run, { kind: 'start_over' });
      this.#ports.onMoved([key]);
    }
    return claimedReply(this.#world.host, run, false);
  }

  /** The claim on disk, the document's markers, the ledger line; taken back where the document is not written. */
  async #write(
    document: FiberDocument,
    run: Run,
    worker: Worker,
    manifest: RunManifest,
    meeting: string | undefined,
  ): Promise<void> {
    const world = this.#world;
    if (worker.found === null) this.#captures.bind(manifest);
    else writeForeignRun(world.settings.data_dir, manifest, worker.found);
    try {
      await this.#mark(document, run, meeting);
    } catch (error) {
      if (worker.found === null) this.#captures.unbind(run.launch_id);
      else world.runDirectories.update(run.launch_id, { state: 'ended', ended_at: world.clock.now() });
      throw error;
    }
    if (worker.found === null) this.#captures.take(run.launch_id);
    cameAbout(world, this.#memory, run);
    world.logger.info(
      { fiber: run.fiber_id, session: run.mux_session, run: run.run_id, agent: run.agent },
      'a session was claimed as a worker',
    );
  }

  /** A claim that was made before: what its document does not say is written now. */
  async #again(document: FiberDocument, run: Run, meeting: string | undefined): Promise<Claimed> {
    if (needsMark(document, run, meeting)) await this.#mark(document, run, meeting);
    this.#ports.onMoved([run.key]);
    return claimedReply(this.#world.host, run, true);
  }

  async #mark(document: FiberDocument, run: Run, meeting: string | undefined): Promise<void> {
    await this.#world.documents.change(document, (current) => {
      requireCurrent(this.#memory, run);
      return markClaim(this.#world, current, run, meeting);
    });
  }

  /** The living session of this name, when no other fiber has it. */
  async #sessionOf(mux_session: string, document: FiberDocument): Promise<ListedSession> {
    const owner = this.#memory.runs.all().find((run) => run.mux_session === mux_session);
    if (owner !== undefined)
      throw new CodedError('session_claimed', `${mux_session} is the worker of ${owner.fiber_id}`);
    if (isNeverWorker(mux_session))
      throw new CodedError(
        'not_a_worker_session',
        `${mux_session} cannot be a worker: sessions of that name are for past conversations, or keep the server open`,
      );
    const named = parseWorkerSessionName(mux_session);
    if (named !== null && named.uid !== document.uid)
      throw new CodedError('session_claimed', `${mux_session} is named for another fiber, ${named.leaf}`);
    const listing = await this.#world.mux.list();
    if (listing.kind === 'unknown')
      throw new CodedError(
        'mux_unavailable',
        `tmux did not list its sessions (${listing.detail}); try again`,
      );
    const session =
      listing.kind === 'alive' ? listing.sessions.find((one) => one.name === mux_session) : undefined;
    if (session === undefined)
      throw new CodedError(
        'session_not_found',
        `there is no session ${mux_session} on the tmux server of this daemon; \`svc doctor\` names its socket`,
      );
    return { session, server: listing.kind === 'alive' ? (listing.server ?? null) : null };
  }

  async #workerIn(
    { session, server }: ListedSession,
    document: FiberDocument,
    session_uuid: string | undefined,
  ): Promise<Worker> {
    const capture = this.#captures.bySession(session.name);
    if (capture !== undefined) {
      const { launch_id, run_id, agent, harness, project_dir } = capture;
      const known = session_uuid ?? capture.session_uuid;
      return {
        claim: 'capture',
        ...{ launch_id, run_id, agent, harness, project_dir },
        session_uuid: known,
        found: null,
      };
    }
    const found = await findSessionAgent(this.#world, session, document.svc?.agent);
    const launch_id = this.#world.newUlid();
    return {
      claim: 'person',
      launch_id,
      run_id: launch_id,
      agent: found.agent.id,
      harness: found.agent.harness,
      session_uuid: session_uuid ?? null,
      project_dir: found.cwd || document.project_dir || '/',
      found: {
        process: { pid: found.process.pid, start_time: found.process.start_time },
        pane: server === null ? null : { server: server.pid, pane: found.pane },
      },
    };
  }

  #manifestOf(
    document: FiberDocument,
    session: MuxSession,
    worker: Worker,
    meeting: string | undefined,
  ): RunManifest {
    const { claim, launch_id, run_id, agent, harness, session_uuid, project_dir } = worker;
    const run = {
      ...{ launch_id, run_id, agent, harness, session_uuid, project_dir, claim },
      mux_session: session.name,
      surface: 'cli' as const,
    };
    return claimManifest(this.#world, document, run, meeting);
  }
}

function sessionNamedIn({ mux_session }: ClaimRequest): string {
  if (mux_session !== undefined) return mux_session;
  throw new CodedError('invalid_request', 'mux_session is missing: name the terminal session of the worker');
}
