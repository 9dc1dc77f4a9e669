import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { type CutOffFiber, type Incident, incidentSchema } from '../../contract/http/incidents.ts';
import type { MuxListing } from '../../mux/mux.ts';
import { storageFault } from '../../platform/storage-error.ts';
import type { Run } from '../run/run.ts';
import type { World } from '../world/world.ts';
import { StateFile } from './state-file.ts';

/** Ends that are seen within this many milliseconds of each other, by causes that cannot be told apart, are one. */
const TOGETHER_MS = 60_000;
/** tmux tells the start of its server in whole seconds, and a claim is older than the session it becomes. */
const STARTUP_MS = 10_000;

const recordSchema = incidentSchema.extend({
  /** Which server or boot was lost. */
  group: z.string(),
});
type IncidentRecord = z.infer<typeof recordSchema>;
const fileSchema = z.object({ version: z.literal(1), incidents: z.array(recordSchema) });

export type Loss = { run: Run; cause: Incident['cause']; message?: string };

/**
 * Whether the server that this run lived on is gone, by what the multiplexer answers now: there is none, or there is
 * another one. A run that was never listed is only sure to be older than a server that began well after it.
 */
export function serverOf(
  run: Pick<Run, 'started_at' | 'server'>,
  listing: MuxListing,
): 'alive' | 'lost' | 'replaced' | 'unknown' {
  if (listing.kind === 'unknown') return 'unknown';
  if (listing.kind === 'absent') return 'lost';
  const { server } = listing;
  if (server === undefined) return 'alive';
  const other =
    run.server === undefined
      ? server.started_at > run.started_at + STARTUP_MS
      : run.server.pid !== server.pid || run.server.started_at !== server.started_at;
  return other ? 'replaced' : 'alive';
}

/** The incidents with these losses in them: one for each server or boot that was lost. */
function withLosses(
  incidents: readonly IncidentRecord[],
  losses: readonly Loss[],
  now: number,
  newId: () => string,
): IncidentRecord[] {
  const lost = new Set(losses.map(({ run }) => run.uid));
  // A fiber is in one incident at most, that of its latest loss.
  const next = without(incidents, (fiber) => lost.has(fiber.uid));
  for (const { run, cause, message } of losses) {
    const group = groupOf(run, cause);
    const known = next.find((one) => one.group === group && (isNamed(group) || now - one.at < TOGETHER_MS));
    const fiber: CutOffFiber = {
      fiber_id: run.fiber_id,
      uid: run.uid,
      store: run.store,
      run_id: run.run_id,
      mux_session: run.mux_session,
      session_uuid: run.session_uuid,
      lost_at: now,
      refused: null,
    };
    if (known !== undefined) known.fibers.push(fiber);
    else
      next.push({
        id: newId(),
        cause,
        at: now,
        group,
        fibers: [fiber],
        ...(message === undefined ? {} : { message }),
      });
  }
  return next;
}

function groupOf(run: Run, cause: Incident['cause']): string {
  if (cause === 'reboot') return `boot ${run.boot_id}`;
  if (cause === 'memory_limit') return `memory of ${run.launch_id}`;
  return run.server === undefined ? 'server' : `server ${run.server.pid} ${run.server.started_at}`;
}

function isNamed(group: string): boolean {
  return group !== 'server';
}

function without(
  incidents: readonly IncidentRecord[],
  drop: (fiber: CutOffFiber) => boolean,
): IncidentRecord[] {
  return incidents
    .map((one) => ({ ...one, fibers: one.fibers.filter((fiber) => !drop(fiber)) }))
    .filter((one) => one.fibers.length > 0);
}

/** The open incidents, kept in one file so that they outlast a restart (P2). */
export class IncidentBook {
  readonly #file: StateFile<z.infer<typeof fileSchema>>;
  #incidents: IncidentRecord[];
  #fault: string | null = null;

  /** Reads the file; logs one that cannot be read, and begins a new one. */
  constructor(options: { path: string; logger: Logger }) {
    const words = { what: 'the list of incidents', instead: 'a new one is begun' };
    this.#file = new StateFile({ ...options, schema: fileSchema, ...words });
    this.#incidents = this.#file.read()?.incidents ?? [];
  }

  /** Why the last change is forgotten when the daemon ends, a sentence with the fix; null where it lasts. */
  get fault(): string | null {
    return this.#fault;
  }

  all(): Incident[] {
    return this.#incidents.map(({ group: _, ...incident }) => incident);
  }

  fibers(id?: string): CutOffFiber[] {
    return this.#incidents.filter((one) => id === undefined || one.id === id).flatMap((one) => one.fibers);
  }

  record(losses: readonly Loss[], now: number, newId: () => string): void {
    if (losses.length > 0) this.#replace(withLosses(this.#incidents, losses, now, newId));
  }

  /** Removes these fibers from their incidents; an incident without fibers is over. */
  drop(test: (fiber: CutOffFiber) => boolean): void {
    if (this.#fault !== null || this.#incidents.some((one) => one.fibers.some(test)))
      this.#replace(without(this.#incidents, test));
  }

  /** Fibers that were moved have another id. */
  follow(find: (uid: string) => Pick<FiberDocument, 'id' | 'store'> | undefined): void {
    const placed = (fiber: CutOffFiber): CutOffFiber => {
      const { id: fiber_id, store } = find(fiber.uid) ?? { id: fiber.fiber_id, store: fiber.store };
      return fiber.fiber_id === fiber_id && fiber.store === store ? fiber : { ...fiber, fiber_id, store };
    };
    if (this.fibers().every((fiber) => placed(fiber) === fiber)) return;
    this.#replace(this.#incidents.map((one) => ({ ...one, fibers: one.fibers.map(placed) })));
  }

  refuse(uid: string, message: string): void {
    this.#replace(
      this.#incidents.map((one) => ({
        ...one,
        fibers: one.fibers.map((fiber) => (fiber.uid === uid ? { ...fiber, refused: message } : fiber)),
      })),
    );
  }

  #replace(incidents: IncidentRecord[]): void {
    this.#incidents = incidents;
    const failed = this.#file.write({ version: 1, incidents });
    this.#fault = failed === null ? null : lossOfChange(this.#file.path, failed.error);
  }
}

function lossOfChange(path: string, error: unknown): string {
  const { said, mend } = storageFault(path, error) ?? { said: messageOf(error), mend: 'see to it' };
  return `the change of the list of incidents is lost when the daemon restarts: ${said}; ${mend} and repeat the command`;
}

/** Whether nobody has decided on the fiber since: a oneshot is still armed, and a role has had no other run. */
export function isWaiting(world: Pick<World, 'documents' | 'host'>, fiber: CutOffFiber): boolean {
  const document = world.documents.byUid(fiber.uid);
  // A document that is not listed proves nothing: its store may not be listed either.
  if (document === undefined) return true;
  if (document.svc === undefined || document.svc.host !== world.host) return false;
  if (document.svc.kind === 'oneshot') return document.status === 'active';
  const run_id = document.svc.runtime?.run_id;
  return run_id === undefined || run_id === fiber.run_id;
}
