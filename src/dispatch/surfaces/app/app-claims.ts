import { CodedError } from '../../../base/errors.ts';
import { Mutex } from '../../../base/mutex.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { APP_HARNESS } from '../../../contract/harness-name.ts';
import type { Claimed, ClaimRequest } from '../../../contract/http/capture.ts';
import type { Rehearsal } from '../../../contract/http/rehearsal.ts';
import { APP_AGENT } from '../../../contract/surface.ts';
import { workerSessionName } from '../../../mux/session-name.ts';
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
import { isAppRun, recordOf } from '../../run/app-run.ts';
import { moveRun, type Run } from '../../run/run.ts';
import { runOfManifest } from '../../run/runs.ts';
import type { AppRecord, RunManifest } from '../../run-directory/run-records.ts';
import { keyOf } from '../../world/documents.ts';
import type { World } from '../../world/world.ts';
import { perform, type Write } from '../../world/write.ts';
import type { AppCaptures } from './app-captures.ts';
import { requireAppServer } from './app-preflight.ts';
import { missing } from './app-start.ts';

/** The conversation of a claim: a capture of ours, or one that a person began at the app. */
type Claimable = Pick<RunManifest, 'claim' | 'launch_id' | 'run_id' | 'agent' | 'project_dir'> & {
  app: AppRecord;
};

type PlannedClaim = { document: FiberDocument; meeting: string | undefined; thread_id: string } & (
  | { kind: 'again'; run: Run }
  | { kind: 'new'; found: Claimable }
);

/** Makes app conversations that exist already the workers of fibers; starts, resumes and interrupts nothing (WPL-5). */
export class AppClaims implements Write<ClaimRequest, PlannedClaim, Rehearsal, Claimed> {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #captures: AppCaptures;
  readonly #ports: ClaimPorts;
  readonly #claiming = new Mutex();

  constructor(world: World, memory: Memory, captures: AppCaptures, ports: ClaimPorts) {
    this.#world = world;
    this.#memory = memory;
    this.#captures = captures;
    this.#ports = ports;
  }

  /** `POST /claim` on the app surface. The same claim once more is success. */
  claim<Q extends ClaimRequest>(asked: Q) {
    return perform(this, asked);
  }

  inTurn<T>(_asked: ClaimRequest, run: () => Promise<T>): Promise<T> {
    return this.#claiming.run(run);
  }

  /** Who would be the worker. */
  async plan(request: ClaimRequest): Promise<PlannedClaim> {
    const thread_id = threadNamedIn(request);
    await this.#ports.adopted();
    const { meeting } = request;
    const document = claimableDocument(this.#world, request.fiber_id, 'app');
    const key = keyOf(document);
    await this.#ports.underWay(key);
    const running = this.#memory.runs.get(key);
    if (running !== undefined) {
      if (running.app?.thread_id !== thread_id) throw otherWorker(document, running);
      return { kind: 'again', document, meeting, thread_id, run: running };
    }
    const owner = this.#memory.runs.all().find((run) => run.app?.thread_id === thread_id);
    if (owner !== undefined)
      throw new CodedError(
        'session_claimed',
        `the app conversation ${thread_id} is the worker of ${owner.fiber_id}`,
      );
    const found = this.#captured(thread_id) ?? (await this.#verified(document, thread_id));
    return { kind: 'new', document, meeting, thread_id, found };
  }

  show(plan: PlannedClaim): Promise<Rehearsal> {
    const { document, meeting, thread_id } = plan;
    const run =
      plan.kind === 'again' ? plan.run : runOfManifest(this.#manifestOf(document, plan.found, meeting));
    return showClaim(this.#world, { ...plan, run, name: `conversation ${thread_id}` });
  }

  async apply(plan: PlannedClaim): Promise<Claimed> {
    const { document, meeting } = plan;
    if (plan.kind === 'new') return this.#bind(document, plan.found, meeting);
    const { run } = plan;
    if (needsMark(document, run, meeting)) await this.#mark(document, run, meeting);
    return claimedReply(this.#world.host, run, true);
  }

  async #bind(document: FiberDocument, found: Claimable, meeting: string | undefined): Promise<Claimed> {
    const world = this.#world;
    const manifest = this.#manifestOf(document, found, meeting);
    const run: Run = { ...runOfManifest(manifest), state: { kind: 'starting' } };
    if (this.#ports.underWay(run.key) !== undefined || !this.#memory.runs.claim(run))
      throw new CodedError('conflict', `${document.id} was being started; claim it again`);
    try {
      if (found.claim === 'capture') this.#captures.bind(manifest);
      else world.runDirectories.claim({ manifest, prompt: '', files: [] });
      await this.#mark(document, run, meeting);
    } catch (error) {
      if (found.claim === 'capture') this.#captures.giveBack(run.launch_id);
      else world.runDirectories.update(run.launch_id, { state: 'ended', ended_at: world.clock.now() });
      this.#memory.runs.release(run);
      throw error;
    } finally {
      moveRun(run, { kind: 'start_over' });
      this.#ports.onMoved([run.key]);
    }
    cameAbout(world, this.#memory, run);
    world.logger.info(
      { fiber: run.fiber_id, thread: run.app?.thread_id, run: run.run_id },
      'an app conversation was claimed as a worker',
    );
    return claimedReply(world.host, run, false);
  }

  /** A capture of ours is known by its own durable record. */
  #captured(thread_id: string): Claimable | undefined {
    const record = this.#captures.byConversation(thread_id);
    if (record?.app === undefined) return undefined;
    const { launch_id, run_id, agent, project_dir, app } = record;
    return { claim: 'capture', launch_id, run_id, agent, project_dir, app: { ...app, turn: 'confirmed' } };
  }

  /** Any other conversation only after the host's app server has told its exact id and that it is open. */
  async #verified(document: FiberDocument, thread_id: string): Promise<Claimable> {
    const look = await requireAppServer(this.#world).look(thread_id);
    if (look.kind === 'missing') throw missing(document.id, thread_id);
    const { conversation } = look;
    if (conversation.thread_id !== thread_id || !conversation.loaded)
      throw new CodedError(
        'session_not_found',
        `the app conversation ${thread_id} is stored and not open; open it in the app and claim it again`,
      );
    const { transcript_session_uuid, project_id, project_dir } = conversation;
    const launch_id = this.#world.newUlid();
    const agent = document.svc?.agent ?? APP_AGENT;
    return {
      ...{ claim: 'person', launch_id, run_id: launch_id, project_dir },
      agent: this.#world.harness.agent(agent).id,
      app: {
        ...{ thread_id, transcript_session_uuid, project_id },
        ...{ turn: 'confirmed', resumed: false, effort: null },
      },
    };
  }

  async #mark(document: FiberDocument, run: Run, meeting: string | undefined): Promise<void> {
    const { documents, runDirectories } = this.#world;
    await documents.change(document, (current) => {
      requireCurrent(this.#memory, run);
      return markClaim(this.#world, current, run, meeting);
    });
    if (isAppRun(run)) runDirectories.update(run.launch_id, { app: recordOf(run.app) });
  }

  #manifestOf(document: FiberDocument, found: Claimable, meeting: string | undefined): RunManifest {
    const run = {
      ...found,
      mux_session: workerSessionName(document.leaf, document.uid ?? ''),
      harness: APP_HARNESS,
      session_uuid: found.app.thread_id,
      surface: 'app' as const,
    };
    return claimManifest(this.#world, document, run, meeting);
  }
}

function threadNamedIn({ session_uuid }: ClaimRequest): string {
  if (session_uuid !== undefined) return session_uuid;
  throw new CodedError('invalid_request', 'session_uuid is missing: name the app conversation');
}
