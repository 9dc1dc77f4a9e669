import { z } from 'zod';
import { CodedError, isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Dispatched, Refused } from '../../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { surfaceOfConversation } from '../../contract/surface.ts';
import type { StartRequest } from '../../contract/threads/poller.ts';
import type { Memory } from '../holds/memory.ts';
import { owedStart } from '../holds/owed-starts.ts';
import type { Refusal } from '../holds/refusals.ts';
import { describeLimit, limitOf, successorOf } from '../holds/usage-limits.ts';
import type { StartResult } from '../plan/planned-run.ts';
import { requestedDirectory } from '../plan/preflight.ts';
import { isReserved } from '../run/app-run.ts';
import type { Run } from '../run/run.ts';
import type { Authority } from '../run/run-id.ts';
import { isStarted } from '../run/run-state.ts';
import { runOfManifest, workerIdentity, workerName } from '../run/runs.ts';
import type { Starter } from '../start/starter.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';

type DispatchPorts = {
  /** Rejects while nobody can tell what runs. */
  adopted(): Promise<void>;
  /** The document as it is on disk. */
  fresh(fiber_id: string): FiberDocument;
  starter: Pick<Starter, 'start' | 'show' | 'underWay'>;
  /** A worker of this fiber was started. */
  started(key: string): void;
};

/** The start that is asked for. The starter makes its own plan of it, once it has claimed the fiber. */
type AskedStart = {
  request: StartRequest;
  document: FiberDocument;
  directory: string | undefined;
  /** The directory was not resolved. */
  refusal: Refusal | null;
  authority: Extract<Authority, { kind: 'request' }>;
};

/** `POST /dispatch`: all checks before any effect; a refusal is a value (WPL-1). */
export class Dispatches
  implements Write<StartRequest, AskedStart, Rehearsal | Refused, Dispatched | Refused>
{
  readonly #world: World;
  readonly #memory: Memory;
  readonly #ports: DispatchPorts;

  constructor(world: World, memory: Memory, ports: DispatchPorts) {
    this.#world = world;
    this.#memory = memory;
    this.#ports = ports;
  }

  dispatch<Q extends StartRequest>(asked: Q) {
    return perform(this, asked);
  }

  async plan(request: StartRequest): Promise<AskedStart> {
    await this.#ports.adopted();
    const resolved = await this.#resolve(request.project_dir);
    const document = this.#ports.fresh(request.fiber_id);
    const { directory } = resolved;
    const taken = this.#takeover(request, document);
    const refusal = resolved.refusal ?? taken.refusal;
    // What a start in vain was to say is said by the next one, whatever else that is told.
    const said = [owedStart(this.#memory, document)?.user_message, request.user_message].filter((one) =>
      one?.trim(),
    );
    const authority = {
      kind: 'request' as const,
      force: request.force === true || request.because_limit === true,
      message_id: request.message_id,
      user_message: said.length === 0 ? null : said.join('\n\n'),
      resume_mode: request.resume_mode ?? null,
      despite_brake: request.despite_brake === true,
      agent: taken.agent,
    };
    return { request, document, directory, refusal, authority };
  }

  async show(asked: AskedStart): Promise<Rehearsal | Refused> {
    const { document, authority, directory, refusal } = asked;
    if (refusal !== null) return refusedReply(this.#world.host, document, refusal);
    const { underWay, running } = this.#present(asked);
    const nothing = asked.request.user_message?.trim()
      ? 'start nothing, and send it the message'
      : 'start nothing';
    if (underWay !== undefined)
      return rehearsal(`${nothing}: a worker of ${document.id} is being started already`);
    if (running !== undefined)
      return rehearsal(`${nothing}: the worker ${workerName(running)} of ${document.id} runs already`);
    const shown = await this.#ports.starter.show(document, authority, directory);
    return 'dry_run' in shown ? shown : refusedReply(this.#world.host, document, shown.refusal);
  }

  /** Nothing is awaited between the look at what is present and the claim of the starter. */
  async apply(asked: AskedStart): Promise<Dispatched | Refused> {
    const { request, document, authority, directory, refusal } = asked;
    if (refusal !== null) return refusedReply(this.#world.host, document, refusal);
    const told = request.is_repeat === true ? this.#toldBefore(request, document) : undefined;
    if (told !== undefined) return dispatchedReply(this.#world.host, runOfManifest(told), false);
    const { underWay, running } = this.#present(asked);
    if (underWay !== undefined) {
      const result = await underWay;
      // A start by the poller came to nothing, or waits for a git worktree: this one is asked for all the same.
      if (result.kind === 'moot')
        return this.apply({ ...asked, document: this.#ports.fresh(request.fiber_id) });
      const joined = result.kind !== 'started' || !isToldBy(result.run, request);
      return withUntold(this.#reply(document, result, joined), request);
    }
    if (running !== undefined && isToldBy(running, request) && !isStarted(running.state))
      throw new CodedError(
        'outcome_unknown',
        `the daemon ended while it started a worker of ${document.id} with this text, and whether that came up is not known yet; send the same request again in a moment`,
      );
    if (running !== undefined)
      return withUntold(dispatchedReply(this.#world.host, running, !isToldBy(running, request)), request);
    const earlier = this.#memory.runs.get(keyOf(document));
    const result = await this.#ports.starter.start(document, authority, directory);
    if (result.kind !== 'started') return this.#reply(document, result, false);
    this.#ports.started(keyOf(document));
    const limit = limitOf(this.#world, this.#memory, result.run.agent);
    // A conversation that is gone on with is not told again by its start.
    const goes_on = earlier !== undefined && earlier.run_id === result.run.run_id;
    const untold = goes_on && authority.user_message !== null && !isToldBy(earlier, request);
    const reply = dispatchedReply(this.#world.host, result.run, untold);
    const isCut =
      earlier !== undefined && earlier.app?.missing !== true && earlier.run_id !== result.run.run_id;
    const notes = [
      ...(isCut && request.force !== true ? ['the worker that ran before was ended'] : []),
      ...(limit === null ? [] : [`${describeLimit(limit)}; started all the same`]),
    ];
    return notes.length === 0 ? reply : { ...reply, notes };
  }

  /** The run that was started with the text of this request, which may be over; throws where that is not known. */
  #toldBefore({ message_id }: StartRequest, { id, uid }: FiberDocument) {
    const { runDirectories } = this.#world;
    const asked = runDirectories
      .all()
      .filter((one) => one.uid === uid && one.state !== 'claimed' && one.message_id === message_id);
    // One that was cut off before it came up is over as well, and has told nobody.
    const told = asked.find(({ state, app, launch_id }) =>
      app === undefined
        ? state === 'spawned' || runDirectories.agent(launch_id).kind === 'found'
        : app.turn === 'confirmed',
    );
    if (told === undefined && asked.some(({ app }) => app?.turn === 'asked'))
      throw new CodedError(
        'outcome_unknown',
        `whether the app conversation of ${id} that was to begin with this text has it was never confirmed; look into the app before you send it under another id`,
      );
    return told;
  }

  /** The agent that the fiber is given: that of the request, or the next one of its chain where its own is over its limit. */
  #takeover(
    { agent: asked, because_limit }: StartRequest,
    { id, svc }: FiberDocument,
  ): { agent: string | null; refusal: Refusal | null } {
    if (because_limit !== true) return { agent: asked ?? null, refusal: null };
    const limitOfAgent = (name: string | null) => limitOf(this.#world, this.#memory, name);
    const limit = limitOfAgent(svc?.agent ?? null);
    const refused = (message: string) => ({ agent: null, refusal: { reason: 'arm_refused', message } });
    if (limit === null)
      return refused(
        `the agent of ${id} is over no usage limit; to give it another one all the same, leave --because-limit out`,
      );
    const next = asked ?? successorOf(this.#world, this.#memory, svc);
    if (next === null)
      return refused(
        `${describeLimit(limit)}, and no agent of svc.on_limit of ${id} is free; name one with --agent, see: svc agents`,
      );
    const over = limitOfAgent(next);
    return over === null ? { agent: next, refusal: null } : refused(describeLimit(over));
  }

  /** The directory that a person confirmed, made absolute by the resolve-dir verb (WPL-1). */
  async #resolve(text: string | undefined): Promise<Pick<AskedStart, 'directory' | 'refusal'>> {
    const { cli } = this.#world;
    const directory = requestedDirectory(text);
    if (cli === null || directory === undefined) return { directory, refusal: null };
    try {
      const args = ['resolve-dir', '--json', '--', text ?? ''];
      const { path } = await cli.ask(args, z.object({ path: z.string() }), 'project_dir_missing');
      return { directory: path, refusal: null };
    } catch (error) {
      if (!isCoded(error, 'project_dir_missing')) throw error;
      const { message } = error;
      return { directory, refusal: { reason: 'project_dir_missing', message, needs: 'project_dir' } };
    }
  }

  /** The start of the fiber that is under way, or the worker that makes another start needless. */
  #present({ request, document }: AskedStart): {
    underWay?: Promise<StartResult> | undefined;
    running?: Run;
  } {
    const key = keyOf(document);
    const underWay = this.#ports.starter.underWay(key);
    if (underWay !== undefined) return { underWay };
    const running = this.#memory.runs.get(key);
    if (running === undefined || needsStart(running, document, request)) return {};
    return { running };
  }

  #reply(document: FiberDocument, result: StartResult, joined: boolean): Dispatched | Refused {
    if (result.kind === 'started') return dispatchedReply(this.#world.host, result.run, joined);
    const refusal =
      result.kind === 'refused'
        ? result.refusal
        : { reason: 'conflict', message: `${document.id} was changed while it was being started; try again` };
    return refusedReply(this.#world.host, document, refusal);
  }
}

/**
 * A request that starts something although the fiber has a run: to cut it, to finish its start, to replace what is gone, or
 * because the fiber was closed or parked over its worker and is armed by a start (LIF-3, LIF-4).
 */
function needsStart(running: Run, document: FiberDocument, request: StartRequest): boolean {
  if (isReserved(running) || running.app?.missing === true) return true;
  if (request.ends_only !== undefined) return running.run_id === request.ends_only;
  return document.status !== 'active' || request.force === true || request.because_limit === true;
}

/** The worker was started with the very text of this request, which comes again. */
function isToldBy({ message_id }: Run, request: StartRequest): boolean {
  return message_id !== undefined && message_id === request.message_id;
}

/** What the dispatch API answers for a worker that was started, or runs already. */
function dispatchedReply(host: string, run: Run, already_running: boolean): Dispatched {
  return {
    dispatched: true,
    already_running,
    ...workerIdentity(host, run),
    ...(run.resume === undefined && run.app?.resumed !== true ? {} : { resumed: true }),
  };
}

/** The same answer, saying what of the request a worker that runs already was not given; its message is sent to it. */
function withUntold<R extends Dispatched | Refused>(reply: R, request: StartRequest): R {
  if (!reply.dispatched || !reply.already_running) return reply;
  const folder = request.project_dir?.trim() ?? '';
  const agent = request.agent?.trim() ?? '';
  const untold = [
    ...(folder === '' ? [] : ['stays in its folder']),
    ...(agent === '' ? [] : ['keeps its agent']),
  ];
  if (untold.length === 0) return reply;
  const fiber = shellWord(reply.fiber_id);
  const anew = [
    `svc dispatch ${shellWord(fiber)}`,
    ...(folder === '' ? [] : [`--project-dir ${shellWord(folder)}`]),
    ...(agent === '' ? [] : [`--agent ${shellWord(agent)}`]),
    '--force',
  ].join(' ');
  const note = `the worker that runs ${untold.join(' and ')}; to end it and start a fresh one: \`${anew}\``;
  return { ...reply, notes: [note] };
}

/**
 * What the dispatch API answers for a refusal (WPL-1, ERR-17). One that a person fixes by resending with a
 * directory is an `arm_refused`.
 */
function refusedReply(host: string, document: FiberDocument, refusal: Refusal): Refused {
  return {
    dispatched: false,
    reason: refusal.needs === undefined ? refusal.reason : 'arm_refused',
    fiber_id: document.id,
    host,
    message: refusal.message,
    ...(refusal.thread_id === undefined
      ? {}
      : {
          surface: surfaceOfConversation(refusal),
          thread_id: refusal.thread_id,
          session_uuid: refusal.thread_id,
          mux_session: null,
        }),
    ...(refusal.needs === undefined ? {} : { needs: refusal.needs }),
  };
}
