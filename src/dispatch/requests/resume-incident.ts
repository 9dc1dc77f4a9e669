import { within } from '../../base/clock.ts';
import { CodedError, isCoded } from '../../base/errors.ts';
import type { CutOffFiber, IncidentReply, IncidentRequest } from '../../contract/http/incidents.ts';
import { type Rehearsal, type RehearsedStep, rehearsal, stepOf } from '../../contract/http/rehearsal.ts';
import { isWaiting } from '../holds/incidents.ts';
import type { Memory } from '../holds/memory.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import type { Dispatches } from './dispatches.ts';

/** How long the starts are waited for, in milliseconds: of hundreds the last comes later than anybody waits. */
const ANSWER_MS = 20_000;

type Outcome = IncidentReply['fibers'][number];

type Parts = {
  world: World;
  memory: Memory;
  dispatcher: Pick<Dispatches, 'dispatch'> & { readonly stopped: boolean };
};
type IncidentWrite = Write<IncidentRequest, CutOffFiber[], Rehearsal, IncidentReply>;

/**
 * Starts the fibers of one incident, or of all, as if a person had dispatched each (P2). What was started, runs
 * already, or is no longer armed leaves its incident; what is refused stays there with the reason. Of many fibers the last
 * are started after the answer.
 */
export function resumeIncident<Q extends IncidentRequest>(parts: Parts, asked: Q) {
  const { world, memory } = parts;
  const write: IncidentWrite = {
    plan: ({ id }) => chosen(memory, id),
    async show(fibers) {
      if (fibers.length === 0) return rehearsal('start nothing: there is no incident');
      const steps: RehearsedStep[] = [];
      for (const fiber of fibers) steps.push(stepOf(await showOne(parts, fiber)));
      return rehearsal(`start ${fibersOf(fibers)}`, { steps });
    },
    async apply(fibers) {
      const outcomes: Outcome[] = [];
      const starts = startEach(parts, fibers, outcomes);
      if (await within(world.clock, ANSWER_MS, starts)) await starts;
      else
        starts.catch((err) => world.logger.error({ err }, 'the other fibers of an incident are not started'));
      const queued = fibers
        .slice(outcomes.length)
        .map(({ fiber_id }): Outcome => ({ fiber_id, outcome: 'queued', message: null }));
      return replyOf(memory, [...outcomes, ...queued]);
    },
  };
  return perform(write, asked);
}

/** Adds each outcome when it is known. What a stop of the daemon leaves out stays in its incident. */
async function startEach(parts: Parts, fibers: readonly CutOffFiber[], outcomes: Outcome[]): Promise<void> {
  const { incidents } = parts.memory;
  for (const fiber of fibers) {
    if (parts.dispatcher.stopped) return;
    const outcome = await startOne(parts, fiber);
    if (outcome.outcome === 'refused') incidents.refuse(fiber.uid, outcome.message ?? '');
    else incidents.drop((one) => one.uid === fiber.uid);
    outcomes.push(outcome);
  }
}

/** Takes the fibers off the list; what holds them back stays. */
export function dismissIncident<Q extends IncidentRequest>(memory: Memory, asked: Q) {
  const write: IncidentWrite = {
    plan: ({ id }) => chosen(memory, id),
    show: (fibers) =>
      fibers.length === 0
        ? rehearsal('take nothing off the list: there is no incident')
        : rehearsal(`take ${fibersOf(fibers)} off the list; what holds them back stays`),
    apply(fibers) {
      const uids = new Set(fibers.map(({ uid }) => uid));
      memory.incidents.drop(({ uid }) => uids.has(uid));
      return replyOf(
        memory,
        fibers.map(({ fiber_id }) => ({ fiber_id, outcome: 'dismissed', message: null })),
      );
    },
  };
  return perform(write, asked);
}

/** Takes a lost capture off the list, which has its run id; its text stays on the disk. */
export function dismissCapture<Q extends IncidentRequest>(
  memory: Memory,
  captures: { dismiss(run_id: string): void },
  asked: Q,
) {
  const write: Write<IncidentRequest, string, Rehearsal, IncidentReply> = {
    plan: ({ id = '' }) => id,
    show: (id) => rehearsal(`take the capture ${id} off the list; its text stays where it is`),
    apply(id) {
      captures.dismiss(id);
      return replyOf(memory, []);
    },
  };
  return perform(write, asked);
}

function replyOf({ incidents }: Memory, fibers: Outcome[]): IncidentReply {
  const { fault } = incidents;
  return { fibers, incidents: incidents.all(), ...(fault === null ? {} : { fault }) };
}

function chosen(memory: Pick<Memory, 'incidents'>, id: string | undefined): CutOffFiber[] {
  const fibers = memory.incidents.fibers(id);
  if (fibers.length === 0 && id !== undefined)
    throw new CodedError('not_found', `there is no incident ${id}; \`svc incident\` lists them`);
  return fibers;
}

async function showOne({ world, memory, dispatcher }: Parts, fiber: CutOffFiber): Promise<Rehearsal> {
  const settled = settledBefore({ world, memory }, fiber);
  if (settled === 'not_armed') return rehearsal(`drop ${fiber.fiber_id}: it is not armed any more`);
  if (settled === 'running') return rehearsal(`drop ${fiber.fiber_id}: its worker runs already`);
  const kept = (why: string) => rehearsal(`keep ${fiber.fiber_id} on the list: ${why}`);
  try {
    const shown = await dispatcher.dispatch({ fiber_id: fiber.uid, dry_run: true });
    return 'dry_run' in shown ? shown : kept(shown.message);
  } catch (error) {
    if (isCoded(error)) return kept(error.message);
    throw error;
  }
}

async function startOne({ world, memory, dispatcher }: Parts, fiber: CutOffFiber): Promise<Outcome> {
  const told = (outcome: Outcome['outcome'], message: string | null = null): Outcome => ({
    fiber_id: fiber.fiber_id,
    outcome,
    message,
  });
  const settled = settledBefore({ world, memory }, fiber);
  if (settled !== null) return told(settled);
  // A person may have taken it off the list while the fibers before it were started.
  if (!memory.incidents.fibers().some(({ uid }) => uid === fiber.uid)) return told('dismissed');
  try {
    const reply = await dispatcher.dispatch({ fiber_id: fiber.uid });
    return reply.dispatched ? told('started') : told('refused', reply.message);
  } catch (error) {
    if (isCoded(error)) return told('refused', error.message);
    throw error;
  }
}

/** What makes a start needless; null where it is to be started. */
function settledBefore(
  { world, memory }: { world: World; memory: Memory },
  fiber: CutOffFiber,
): 'not_armed' | 'running' | null {
  if (!isWaiting(world, fiber)) return 'not_armed';
  const document = world.documents.byUid(fiber.uid);
  return document !== undefined && memory.runs.get(keyOf(document)) !== undefined ? 'running' : null;
}

function fibersOf(fibers: readonly CutOffFiber[]): string {
  const names = fibers.map(({ fiber_id }) => fiber_id).join(', ');
  return `the ${fibers.length === 1 ? 'fiber' : `${fibers.length} fibers`} ${names}`;
}
