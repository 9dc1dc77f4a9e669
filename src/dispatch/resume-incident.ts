import { CodedError, isCoded } from '../base/errors.ts';
import type { CutOffFiber, IncidentReply } from '../contract/http/incidents.ts';
import type { Dispatcher } from './dispatcher.ts';
import { keyOf, type Memory } from './memory.ts';
import type { World } from './world.ts';

type Outcome = IncidentReply['fibers'][number];

/**
 * Starts the fibers of one incident, or of all, as if a person had dispatched each (P2). What was started, runs
 * already, or is no longer armed leaves its incident; what is refused stays there with the reason.
 */
export async function resumeIncident(
  parts: { world: World; memory: Memory; dispatcher: Pick<Dispatcher, 'dispatch'> },
  id: string | undefined,
): Promise<IncidentReply> {
  const { incidents } = parts.memory;
  const fibers: Outcome[] = [];
  for (const fiber of chosen(parts.memory, id)) {
    const outcome = await startOne(parts, fiber);
    if (outcome.outcome === 'refused') incidents.refuse(fiber.uid, outcome.message ?? '');
    else incidents.drop((one) => one.uid === fiber.uid);
    fibers.push(outcome);
  }
  return { fibers, incidents: incidents.all() };
}

/** Takes the fibers off the list; what holds them back stays. */
export function dismissIncident(memory: Memory, id: string | undefined): IncidentReply {
  const fibers = chosen(memory, id);
  const uids = new Set(fibers.map(({ uid }) => uid));
  memory.incidents.drop(({ uid }) => uids.has(uid));
  return {
    fibers: fibers.map(({ fiber_id }) => ({ fiber_id, outcome: 'dismissed', message: null })),
    incidents: memory.incidents.all(),
  };
}

function chosen(memory: Memory, id: string | undefined): CutOffFiber[] {
  const fibers = memory.incidents.fibers(id);
  if (fibers.length === 0 && id !== undefined)
    throw new CodedError('not_found', `there is no incident ${id}; \`svc incident\` lists them`);
  return fibers;
}

async function startOne(
  { world, memory, dispatcher }: { world: World; memory: Memory; dispatcher: Pick<Dispatcher, 'dispatch'> },
  fiber: CutOffFiber,
): Promise<Outcome> {
  const told = (outcome: Outcome['outcome'], message: string | null = null): Outcome => ({
    fiber_id: fiber.fiber_id,
    outcome,
    message,
  });
  if (!isWaiting(world, fiber)) return told('not_armed');
  const document = world.documents.byUid(fiber.uid);
  if (document !== undefined && memory.runs.get(keyOf(document)) !== undefined) return told('running');
  try {
    const reply = await dispatcher.dispatch({ fiber_id: fiber.uid });
    return reply.dispatched ? told('started') : told('refused', reply.message);
  } catch (error) {
    if (isCoded(error)) return told('refused', error.message);
    throw error;
  }
}

/** Whether nobody has decided on the fiber since: a oneshot is still armed, a role has had no other run. */
export function isWaiting(world: World, fiber: CutOffFiber): boolean {
  const document = world.documents.byUid(fiber.uid);
  // A document that is not listed says nothing: its store may not be.
  if (document === undefined) return true;
  if (document.svc === undefined || document.svc.host !== world.host) return false;
  if (document.svc.kind === 'oneshot') return document.status === 'active';
  const run_id = document.svc.runtime?.run_id;
  return run_id === undefined || run_id === fiber.run_id;
}
