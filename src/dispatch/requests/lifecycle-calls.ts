import { CodedError, isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { Turns } from '../../base/turns.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type {
  LifecycleAnswer,
  LifecycleRequest,
  TransitionAnswer,
  TransitionRefused,
  TransitionRequest,
} from '../../contract/http/lifecycle.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { SURFACE_RULES } from '../../contract/surface.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import type { PlannedWrite } from '../../fibers/store.ts';
import { undoOf } from '../../fibers/undo.ts';
import { describeFiber, describeUnchanged, isArming, planAction } from '../../lifecycle/actions.ts';
import type { KnownAgents } from '../../lifecycle/agent-verbs.ts';
import { deedWords } from '../../lifecycle/fiber-words.ts';
import type { PlannedEdit } from '../../lifecycle/planned-edit.ts';
import type { VerbFacts } from '../../lifecycle/rearm.ts';
import { planTransition, type TransitionPlan } from '../../lifecycle/transition.ts';
import type { PollRounds } from '../due/poll-rounds.ts';
import { concludedBy } from '../end/worker-end.ts';
import type { Memory } from '../holds/memory.ts';
import { refuseByDirectory } from '../plan/preflight.ts';
import type { Run } from '../run/run.ts';
import { workerName } from '../run/runs.ts';
import { type DocumentChange, keyOf } from '../world/documents.ts';
import type { ExternalCli } from '../world/external-cli.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import { afterwards, asConcluded } from './concluded-first.ts';
import type { Dispatches } from './dispatches.ts';
import { givenUpWorktree, removeGivenUp, type WorktreeOf, wordsOfLeftWorktree } from './given-up-worktree.ts';
import type { Kills } from './kills.ts';

/** What the calls need of the poller. */
export type LifecyclePorts = {
  world: World;
  memory: Memory;
  dispatcher: Pick<Dispatches, 'dispatch'> & {
    rounds: Pick<PollRounds, 'startMoved'>;
    kills: Pick<Kills, 'kill'>;
    /** The fiber's running worker; throws `mux_unavailable` where one must be `sure` and nobody can tell. */
    workerOf(key: string, options: { sure: boolean }): Promise<Run | undefined>;
    /** Whether a person has the terminal of this worker open. */
    isWatched(run: Run): Promise<boolean>;
  };
  /** A document by canonical id, uid or leaf, even one that no listing has shown yet. */
  look(reference: string, store?: string): FiberDocument;
  agents(): KnownAgents;
  /** Runs the verbs in place of the bundled ones (`SVC_CLI`); null without one. */
  cli: Pick<ExternalCli, 'run'> | null;
  /** Rows of these fibers may have moved. */
  onMoved(keys: Iterable<string>): void;
};

/** A verb on a document; `run` is its worker, which is ended first where `kill` asks for that. */
type PlannedVerb = {
  request: LifecycleRequest;
  document: FiberDocument;
  run: Run | undefined;
  kill: boolean;
  /** Why a person is asked before the worker is ended; null where the verb ends none, or one that has done its work. */
  cut_off: string | null;
  /** Null where another program runs the verb. */
  written: PlannedWrite | null;
  /** The git worktree that is removed once the document is written. */
  drops: WorktreeOf | null;
};
type PlannedMove = {
  request: TransitionRequest;
  document: FiberDocument;
  run: Run | undefined;
  plan: TransitionPlan;
  /** Null for a start, which plans its own writes. */
  written: PlannedWrite | null;
};

/**
 * `POST /lifecycle` and `POST /transition` on the poller: the verbs of the command, in turn with everything else that
 * moves the fiber. A document is written in one step, so that no reader sees half of a verb.
 */
export class LifecycleCalls {
  readonly #ports: LifecyclePorts;
  readonly #turns = new Turns();

  constructor(ports: LifecyclePorts) {
    this.#ports = ports;
  }

  /** Runs one verb; a refusal is an answer with its status, sentence and code, as the command has them (WPL-3). */
  async lifecycle<Q extends LifecycleRequest>(asked: Q) {
    try {
      return await perform(this.#verbs, asked);
    } catch (error) {
      return refusedAnswer(error);
    }
  }

  /** Moves one fiber to a column (WPL-2). */
  transition<Q extends TransitionRequest>(asked: Q) {
    return perform(this.#moves, asked);
  }

  readonly #verbs: Write<LifecycleRequest, PlannedVerb, Rehearsal, LifecycleAnswer> = {
    inTurn: ({ fiber, store }, run) => this.#turns.run(keyOf(this.#ports.look(fiber, store)), run),
    plan: async (request) => {
      if (request.dry_run === true && this.#ports.cli !== null)
        throw new CodedError(
          'invalid_request',
          'the program in SVC_CLI does not support dry_run; leave it out, and add --yes where svc asks first',
        );
      const { world, memory } = this.#ports;
      const document = this.#reread(this.#ports.look(request.fiber, request.store));
      await this.#requireDirectory(document, request);
      const kill = endsWorker(request);
      const run = await this.#ports.dispatcher.workerOf(keyOf(document), { sure: kill });
      const drops = await givenUpWorktree(world, memory, document, request);
      const cut_off =
        request.dry_run === true && kill && run !== undefined ? await this.#cutOff(document, run) : null;
      if (this.#ports.cli !== null) return { request, document, run, kill, cut_off, written: null, drops };
      const facts = this.#facts(run !== undefined && !kill);
      const written = await this.#planWrite(document, kill ? run : undefined, (current) =>
        this.#planAction(current, request, facts),
      );
      return { request, document, run, kill, cut_off, written, drops };
    },
    show: ({ request, run, kill, cut_off, written, drops }) => {
      const shown = showWrite(deedWords(request.action), written, kill ? run : undefined, cut_off);
      return drops === null
        ? shown
        : { ...shown, would: `${shown.would}, then remove the git worktree ${drops.path}` };
    },
    apply: (planned) => this.#applyVerb(planned),
  };

  readonly #moves: Write<TransitionRequest, PlannedMove, Rehearsal | TransitionRefused, TransitionAnswer> = {
    inTurn: ({ fiber_id }, run) => this.#turns.run(keyOf(this.#ports.look(fiber_id)), run),
    plan: async (request) => {
      const document = this.#reread(this.#ports.look(request.fiber_id));
      const { expected_digest = document.digest } = request;
      if (document.digest !== expected_digest)
        throw new CodedError(
          'conflict',
          `"${document.id}" was changed in the meantime; read it again first`,
          {
            details: { conflict: true, digest: document.digest },
          },
        );
      const run = await this.#ports.dispatcher.workerOf(keyOf(document), { sure: true });
      const facts = this.#facts(run !== undefined);
      const plan = planTransition(document, request.target, facts, this.#ports.world.clock.now());
      const move = { request, document, run, plan };
      const written = plan.dispatch
        ? null
        : await this.#planWrite(document, plan.end_worker ? run : undefined, this.#editOf(move));
      return { ...move, written };
    },
    show: async (planned) => {
      const { document, run, plan, written } = planned;
      if (plan.dispatch) {
        const shown = await this.#ports.dispatcher.dispatch({ ...startOf(document), dry_run: true });
        return 'dry_run' in shown ? shown : { ...this.#moved(planned), ...shown, invoked: false };
      }
      return showWrite('write', written, plan.end_worker ? run : undefined);
    },
    apply: async (planned) => {
      const { document, plan } = planned;
      const moved = this.#moved(planned);
      if (plan.dispatch) {
        const reply = await this.#ports.dispatcher.dispatch(startOf(document));
        return reply.dispatched ? { ...moved, invoked: true } : { ...moved, ...reply, invoked: false };
      }
      if (plan.end_worker) await this.#end(document);
      const planEdit = this.#editOf(planned);
      let on = '';
      const written = await this.#write(document, (current) => {
        on = current.digest;
        return planEdit(current);
      });
      const key = keyOf(document);
      const was_held = this.#ports.memory.quarantine.namedHoldOf(key) !== null;
      const armed = written.status === 'active';
      this.#settle(written, key, {
        asks: armed,
        unholds: armed && plan.action === 'resume',
        ended: plan.end_worker || document.status === 'closed',
      });
      const undo =
        planned.written === null || plan.end_worker ? undefined : undoOf(planned.written, on, written.digest);
      if (undo === undefined) return { ...moved, invoked: true };
      // The hold is lifted, so that armed again it would start what waited for a person.
      if (was_held && undo.set.status === 'active') undo.set.status = 'open';
      return { ...moved, invoked: true, undo };
    },
  };

  async #cutOff(document: FiberDocument, run: Run): Promise<string | null> {
    const reasons = [
      ...(document.status === 'closed' ? [] : ['has not closed the fiber']),
      ...((await this.#ports.dispatcher.isWatched(run)) ? ['is open in a terminal'] : []),
    ];
    return reasons.length === 0 ? null : reasons.join(' and ');
  }

  #moved({ request, document, plan }: PlannedMove) {
    const { target, origin = this.#ports.world.host } = request;
    return { fiber_id: document.id, target, origin, action: plan.action };
  }

  /** Planned again on what the end of the worker wrote into the document: a role that was at work is closed by then. */
  #editOf({
    request,
    run,
    plan,
  }: Omit<PlannedMove, 'written'>): (current: FiberDocument) => PlannedEdit | null {
    const facts = this.#facts(run !== undefined && !plan.end_worker);
    return (current) => planTransition(current, request.target, facts, this.#ports.world.clock.now()).edit;
  }

  #planAction(current: FiberDocument, request: LifecycleRequest, facts: VerbFacts): PlannedEdit | null {
    const agents = this.#agentsOf(current, request);
    return planAction(current, request, facts, agents, this.#ports.world.clock.now());
  }

  /**
   * The write, on top of what the end of the worker writes itself where one is ended first. Planned before anything is
   * ended, so that a request that is refused leaves the worker alone.
   */
  #planWrite(
    document: FiberDocument,
    ended: Run | undefined,
    plan: (current: FiberDocument) => PlannedEdit | null,
  ): Promise<PlannedWrite> {
    const { documents, clock } = this.#ports.world;
    return documents.planChange(document, (current) => {
      if (ended === undefined) return plan(current) ?? NOTHING;
      const end = concludedBy(current, ended, clock.now());
      return afterwards(end, plan(asConcluded(current, end)) ?? NOTHING);
    });
  }

  async #applyVerb({ request, document: known, run, kill, drops }: PlannedVerb): Promise<LifecycleAnswer> {
    const { world, cli } = this.#ports;
    const key = keyOf(known);
    if (kill) await this.#end(known);
    const running = run !== undefined && !kill;
    const before = world.documents.reread(known) ?? known;
    let document = before;
    let text: string | null = null;
    if (cli === null) {
      const facts = this.#facts(running);
      document = await this.#write(before, (current) => this.#planAction(current, request, facts));
    } else {
      const answer = await cli.run(request);
      document = world.documents.reread(before) ?? before;
      if (answer.status !== 0) return answer;
      text = answer.text;
    }
    // What it was refused for is what a person has just changed.
    if (request.action === 'reshape') this.#ports.memory.refusals.clear(key, 'worktree_unavailable');
    this.#settle(document, key, {
      asks: isArming(request.action, document.digest !== before.digest),
      unholds: request.action === 'resume',
      ended: kill || before.status === 'closed',
    });
    return {
      status: 0,
      text:
        (text ?? describeFiber(document, running) + describeUnchanged(request.action, document)) +
        noteOf(document, request, run, kill) +
        (request.action === 'uninstall' ? wordsOfLeftWorktree(before) : '') +
        (drops === null ? '' : await removeGivenUp(world, drops)),
      error: null,
    };
  }

  /** Writes what is planned on the document as it is under its lock. */
  #write(known: FiberDocument, plan: (current: FiberDocument) => PlannedEdit | null): Promise<FiberDocument> {
    return this.#ports.world.documents.change(known, (current) => plan(current) ?? NOTHING);
  }

  /**
   * The document has moved by a person's order, and it may be due now. What was refused is over where the order `asks`
   * for a run. Only `resume` lifts a hold from a fiber that is armed or parked; `ended`: it was closed before, or this
   * very order has ended its worker, so that the hold was no other word of a person.
   */
  #settle(
    document: FiberDocument,
    key: string,
    { asks, unholds, ended }: { asks: boolean; unholds: boolean; ended: boolean },
  ): void {
    const { memory, world, dispatcher, onMoved } = this.#ports;
    if (asks || document.status !== 'active') memory.refusals.clear(key);
    if (unholds) memory.quarantine.allow(key);
    else if (ended || document.status === 'closed' || document.svc === undefined)
      memory.quarantine.forget(key);
    if (unholds || (asks && ended)) memory.breaker.clear(key);
    onMoved([key, keyOf(document)]);
    dispatcher.rounds
      .startMoved(new Set([document.path]))
      .catch((error) => world.logger.error({ err: error, fiber: document.id }, 'a poll step failed'));
  }

  #facts(running: boolean): VerbFacts {
    const { world } = this.#ports;
    return { this_host: world.host, this_zone: world.zone, new_uid: world.newUlid(), running };
  }

  /** The agents to judge by: only those of this host are known here. */
  #agentsOf(document: FiberDocument, request: LifecycleRequest): KnownAgents | null {
    const { world, agents } = this.#ports;
    const host = ('host' in request ? request.host : undefined) ?? document.svc?.host ?? world.host;
    return host === world.host ? agents() : null;
  }

  async #end(document: FiberDocument): Promise<void> {
    try {
      await this.#ports.dispatcher.kills.kill(document.uid ?? document.id);
    } catch (error) {
      if (!isCoded(error, 'no_worker')) throw error;
    }
  }

  /** A folder on this host must be one, as for the command. */
  async #requireDirectory(document: FiberDocument, request: LifecycleRequest): Promise<void> {
    const { world } = this.#ports;
    if (!('project_dir' in request) || request.project_dir === undefined) return;
    const host = request.host ?? document.svc?.host ?? world.host;
    if (host !== world.host || !request.project_dir.startsWith('/')) return;
    const look = await world.lookAtDirectory(request.project_dir);
    if (look.kind === 'missing' || look.kind === 'not_directory')
      throw new CodedError(
        'project_dir_missing',
        `not a directory: ${request.project_dir}; make it or name another with --project-dir`,
      );
    const refused = refuseByDirectory(request.project_dir, look);
    if (refused === null) return;
    const code = look.kind === 'unreadable' ? 'project_dir_unreachable' : refused.reason;
    throw new CodedError(code, refused.message);
  }

  #reread(known: FiberDocument): FiberDocument {
    const document = this.#ports.world.documents.reread(known);
    if (document !== undefined) return document;
    throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
  }
}

/** What says nothing of the verb: the caller asks again (503, 504). */
const NOT_A_REFUSAL = ['cli_unavailable', 'cli_timed_out', 'internal'];
const NOTHING: DocumentChange = { set: {}, unset: [] };

function startOf(document: FiberDocument): { fiber_id: string; force: true } {
  return { fiber_id: document.uid ?? document.id, force: true };
}

/** True for a request that ends a running worker: `accept` does unless it is told otherwise, other verbs if asked to. */
function endsWorker(request: LifecycleRequest): boolean {
  if (request.action === 'accept') return request.keep_worker !== true;
  return 'kill' in request && request.kill === true;
}

function showWrite(
  deed: string,
  written: PlannedWrite | null,
  ended: Run | undefined,
  cut_off: string | null = null,
): Rehearsal {
  const shown = written === null ? rehearsal('') : rehearsedWrite(deed, written);
  if (ended === undefined) return shown;
  const ends = [workerName(ended)];
  const worker = cut_off === null ? 'its worker' : `its worker, which ${cut_off},`;
  const interrupts = cut_off === null ? {} : { interrupts: ends };
  return { ...shown, would: `end ${worker} and ${shown.would}`, ends, ...interrupts };
}

function refusedAnswer(error: unknown): LifecycleAnswer {
  if (!isCoded(error) || NOT_A_REFUSAL.includes(error.code)) throw error;
  return { status: 1, text: error.message, error: error.code };
}

/** What a person should know of the worker that a verb ended or left alone. */
function noteOf(
  document: FiberDocument,
  request: LifecycleRequest,
  run: Run | undefined,
  ended: boolean,
): string {
  if (run === undefined) return '';
  if (ended)
    return SURFACE_RULES[run.surface].in_terminal
      ? 'Its worker was ended.\n'
      : 'Its conversation was let go.\n';
  switch (request.action) {
    case 'pause':
    case 'close':
    case 'uninstall':
    case 'accept':
      return `Its worker goes on until it ends by itself; stop it with: svc kill ${shellWord(document.id)}\n`;
    case 'reshape':
    case 'set-agent':
    case 'set-model':
    case 'pin':
    case 'repeat':
    case 'install':
      return 'The worker that runs keeps what it was started with.\n';
    default:
      return '';
  }
}
