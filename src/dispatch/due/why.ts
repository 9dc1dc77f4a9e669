import { shellWord } from '../../base/shell-word.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { LAUNCH_CHECKS, type LaunchCheck } from '../../contract/gates.ts';
import type { GateView, Why } from '../../contract/http/why.ts';
import type { Memory } from '../holds/memory.ts';
import { viewNotOurs } from '../holds/not-ours.ts';
import type { Refusal } from '../holds/refusals.ts';
import { limitOf } from '../holds/usage-limits.ts';
import { viewRun } from '../run/runs.ts';
import { checkStart, refusalOf } from '../start/check-start.ts';
import { SURFACES } from '../surfaces/surfaces.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { askGates } from './eligibility.ts';
import { eligibilityFacts, placesOf } from './fiber-facts.ts';
import { nextOccurrences } from './standing.ts';
import { explainGate } from './why-sentences.ts';

/**
 * Why the poller does not start this fiber now: the gates that the poller goes by, then the checks of a start.
 * The checks reach outside the daemon, so they are asked only when `look` is wanted and every gate is open, as
 * the poller itself asks them (DSP-4); a first refusal leaves those after it unasked. Writes nothing.
 */
export async function explainFiber(
  world: World,
  memory: Memory,
  document: FiberDocument,
  options: { look: boolean; mux_detail: string | null; waits_since: number | null },
): Promise<Why> {
  const key = keyOf(document);
  const run = memory.runs.get(key);
  const facts = {
    ...eligibilityFacts(world, memory, document),
    refusal: memory.refusals.get(key),
    hold: memory.quarantine.namedHoldOf(key),
    tripped: memory.breaker.tripped(key, world.clock.now()),
    brake: memory.brake.pulled,
    lease: memory.leases.of(document.store),
    limit: limitOf(world, memory, document.svc?.agent ?? null),
    mux_detail: options.mux_detail,
    run,
    unserved: run !== undefined && options.look ? await SURFACES[run.surface].unserved(world) : null,
  };
  const gates: GateView[] = askGates(document, facts).map(({ gate, open }) =>
    open
      ? { gate, state: 'open' }
      : { gate, state: 'shut', reason: gate, ...explainGate(gate, document, facts) },
  );
  const last_death = memory.deaths.of(document, world.host, memory.runs);
  const passed = gates.every((gate) => gate.state === 'open');
  const checks = passed && options.look ? await askChecks(world, document) : LAUNCH_CHECKS.map(notAsked);
  const not_ours = viewNotOurs(world, memory, document);
  const next_occurrences = nextOccurrences(document, facts.now, world.zone);
  const all = [...gates, ...checks];
  const first = all.find((gate) => gate.state === 'shut') ?? null;
  return {
    fiber_id: document.id,
    uid: document.uid,
    ...(document.twins === undefined ? {} : { twins: document.twins }),
    host: world.host,
    at: facts.now,
    verdict: facts.occupied ? 'running' : first === null ? 'launches' : 'waits',
    first,
    gates: all,
    project_dir:
      document.project_dir === undefined
        ? null
        : {
            path: document.project_dir,
            looked_at: checks.some(({ gate, state }) => gate === 'project_dir' && state !== 'not_asked'),
          },
    workers: placesOf(memory, facts.now),
    waits_since: options.waits_since,
    ...(next_occurrences === null ? {} : { next_occurrences }),
    ...(run === undefined ? {} : { runtime: viewRun(run, facts.now) }),
    ...(facts.refusal === undefined ? {} : { blocked: facts.refusal }),
    ...(last_death === undefined ? {} : { last_death }),
    ...(not_ours === undefined ? {} : { not_ours }),
  };
}

/** Asks the start's own checks; the last one that was begun is the one that refused. */
async function askChecks(world: World, document: FiberDocument): Promise<GateView[]> {
  let last: LaunchCheck = LAUNCH_CHECKS[0];
  const refusal = await checkStart(world, document, document.project_dir, {
    asking: (check) => {
      last = check;
    },
  }).then(
    (checked) => (checked.kind === 'refused' ? checked.refusal : null),
    (error: unknown) => refusalOf(world, document, error),
  );
  if (refusal === null) return LAUNCH_CHECKS.map((gate) => ({ gate, state: 'open' }));
  const at = LAUNCH_CHECKS.indexOf(last);
  return LAUNCH_CHECKS.map((gate, place) =>
    place < at ? { gate, state: 'open' } : place > at ? notAsked(gate) : shutCheck(gate, document, refusal),
  );
}

function shutCheck(gate: LaunchCheck, document: FiberDocument, refusal: Refusal): GateView {
  return {
    gate,
    state: 'shut',
    reason: refusal.reason,
    message: refusal.message,
    mend:
      refusal.needs === 'project_dir'
        ? `name its folder with \`svc dispatch ${shellWord(document.id)} --project-dir DIR\``
        : `fix that, then start it at once with \`svc dispatch ${shellWord(document.id)}\``,
  };
}

function notAsked(gate: LaunchCheck): GateView {
  return { gate, state: 'not_asked' };
}
