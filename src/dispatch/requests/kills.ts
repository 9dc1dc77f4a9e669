import { CodedError, isCoded } from '../../base/errors.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Killed, KillRequest } from '../../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import { concludedBy } from '../end/worker-end.ts';
import type { Memory } from '../holds/memory.ts';
import { appIdentity } from '../run/app-run.ts';
import type { Run } from '../run/run.ts';
import { muxSessionOf, workerName } from '../run/runs.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import type { Write } from '../world/write.ts';

type KillPorts = {
  /** Rejects while nobody can tell what runs. */
  adopted(): Promise<void>;
  /** The launch of the fiber that is under way; never rejects. */
  underWay(key: string): Promise<unknown> | undefined;
  /** Ends the worker; what to tell where it was not seen to end, else null. */
  cut(run: Run): Promise<string | null>;
  /** Whether a capture that no fiber was claimed for runs in this session. */
  isCapture(mux_session: string): boolean;
  /** Ends that capture; false where it was not seen to end. */
  endCapture(mux_session: string): Promise<boolean>;
  /** Told whose rows may be others now. */
  moved(keys: Iterable<string>): void;
};

type PlannedKill =
  | { kind: 'end'; id: string; run: Run; note: string | null }
  /** It was ended here before; `holds`: somebody has armed the fiber since, so it is held once more. */
  | {
      kind: 'again';
      id: string;
      key: string;
      store: string | null;
      killed: EndedWorker;
      holds: boolean;
      note: string | null;
    }
  /** No fiber is held, since nothing starts a capture again. */
  | { kind: 'capture'; mux_session: string }
  /** What there is to end is known only after the launch. */
  | { kind: 'launching'; id: string; request: KillRequest; launch: Promise<unknown> };
type EndedWorker = Omit<Killed, 'killed' | 'fiber_id'>;

/** `POST /kill`: ends a worker and keeps the poller from starting it again; once more is success (P5). */
export class Kills implements Write<KillRequest, PlannedKill, Rehearsal, Killed> {
  readonly #world: Pick<World, 'clock' | 'documents' | 'host'>;
  readonly #memory: Pick<Memory, 'quarantine' | 'runs'>;
  readonly #ports: KillPorts;
  /** Workers that were ended here, by fiber key. */
  readonly #killed = new Map<string, EndedWorker>();

  constructor(
    world: Pick<World, 'clock' | 'documents' | 'host'>,
    memory: Pick<Memory, 'quarantine' | 'runs'>,
    ports: KillPorts,
  ) {
    this.#world = world;
    this.#memory = memory;
    this.#ports = ports;
  }

  async kill(fiber_id: string, note?: string | null): Promise<Killed> {
    return this.apply(await this.plan({ fiber_id, ...(note ? { note } : {}) }));
  }

  /** Rejects with `no_worker` where nothing runs and nothing was ended here. */
  async plan(request: KillRequest): Promise<PlannedKill> {
    await this.#ports.adopted();
    const { note = null } = request;
    if (this.#ports.isCapture(request.fiber_id)) return { kind: 'capture', mux_session: request.fiber_id };
    const { key, id, document } = this.#killable(request.fiber_id);
    const launch = this.#ports.underWay(key);
    if (launch !== undefined) return { kind: 'launching', id, request, launch };
    const run = this.#memory.runs.get(key);
    if (run !== undefined) return { kind: 'end', id, run, note };
    const killed = this.#killed.get(key);
    if (killed !== undefined)
      return {
        kind: 'again',
        id,
        key,
        store: document?.store ?? null,
        killed,
        holds: document !== null && this.#isArmedAgain(document),
        note,
      };
    throw new CodedError('no_worker', `nothing runs for ${id}`, { details: { fiber_id: id } });
  }

  async show(plan: PlannedKill): Promise<Rehearsal> {
    if (plan.kind === 'capture')
      return rehearsal(`end ${plan.mux_session}, a capture without a fiber, whose text is kept`, {
        ends: [plan.mux_session],
      });
    const { id } = plan;
    if (plan.kind === 'launching')
      return rehearsal(`wait for the launch of ${id} that is under way, end its worker and hold the fiber`);
    if (plan.kind === 'again') {
      const what = `end nothing: the worker of ${id} was ended already`;
      return rehearsal(plan.holds ? `${what}; hold the fiber, which was armed again since` : what);
    }
    const { documents, clock } = this.#world;
    const { run } = plan;
    const worker = workerName(run);
    const document = documents.of(run);
    const { documents: written, minted } =
      document === undefined
        ? rehearsal('')
        : rehearsedWrite(
            'conclude',
            await documents.planChange(document, (current) => concludedBy(current, run, clock.now())),
          );
    const ends = { documents: written, minted, ends: [worker] };
    return rehearsal(`end the worker of ${id} and hold the fiber`, ends);
  }

  async apply(plan: PlannedKill): Promise<Killed> {
    if (plan.kind === 'capture') {
      const { mux_session } = plan;
      if (await this.#ports.endCapture(mux_session))
        return { killed: true, fiber_id: mux_session, mux_session };
      throw new CodedError(
        'mux_unavailable',
        `whether ${mux_session} has ended is not known; do the same again once tmux answers, see \`svc doctor\``,
      );
    }
    const { id } = plan;
    if (plan.kind === 'launching') {
      await plan.launch;
      return this.apply(await this.plan(plan.request));
    }
    if (plan.kind === 'again') {
      const fault = plan.holds ? this.#hold(plan, null, plan.note) : {};
      if (plan.holds) this.#ports.moved([plan.key]);
      return { killed: true, already_killed: true, fiber_id: id, ...plan.killed, ...fault };
    }
    const { run } = plan;
    // From here on nobody starts it again by itself, whatever becomes of the worker and of this daemon.
    const fault = this.#hold(run, run.launch_id, plan.note);
    const unended = await this.#ports.cut(run);
    if (unended !== null)
      throw new CodedError('mux_unavailable', `${unended}; its fiber is held`, { details: { fiber_id: id } });
    const killed = { mux_session: muxSessionOf(run), ...appIdentity(run) };
    this.#killed.set(run.key, killed);
    return { killed: true, fiber_id: id, ...killed, ...fault };
  }

  #hold(
    { key, store }: { key: string; store: string | null },
    launch_id: string | null,
    note: string | null,
  ): { fault?: string } {
    const at = this.#world.clock.now();
    const fault = this.#memory.quarantine.hold(key, { reason: 'killed', at, launch_id, note, store });
    return fault === null ? {} : { fault };
  }

  /** The fiber was started again: what was ended before is over. */
  forget(key: string): void {
    this.#killed.delete(key);
  }

  /** Somebody has armed it since it was killed: who asks for that once more does not want it to run either. */
  #isArmedAgain(document: FiberDocument): boolean {
    if (this.#memory.quarantine.namedHoldOf(keyOf(document))?.reason === 'killed') return false;
    const now = this.#present(document);
    return now?.status === 'active' && now.svc?.host === this.#world.host;
  }

  /** The document as it is; as it was last seen where the store does not answer, for a kill must not wait for that. */
  #present(document: FiberDocument): FiberDocument | undefined {
    try {
      return this.#world.documents.reread(document);
    } catch (error) {
      if (isCoded(error, 'store_unavailable')) return document;
      throw error;
    }
  }

  /** A worker can be ended although its document is gone. */
  #killable(reference: string): { key: string; id: string; document: FiberDocument | null } {
    try {
      const document = this.#world.documents.find(reference);
      return { key: keyOf(document), id: document.id, document };
    } catch (error) {
      const run = this.#memory.runs
        .all()
        .find((one) => one.fiber_id === reference || one.uid === reference.toUpperCase());
      if (run === undefined || !isCoded(error, 'fiber_not_found')) throw error;
      return { key: run.key, id: run.fiber_id, document: null };
    }
  }
}
