import { messageOf } from '../../base/errors.ts';
import type { BrakePulled, BrakeReleased, PullBrake, ReleaseBrake } from '../../contract/http/brake.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { Memory } from '../memory.ts';
import { workerName } from '../run/runs.ts';
import type { World } from '../world.ts';

/** What of a poller the brake works on. */
export type BrakeParts = { world: World; memory: Memory; dispatcher: Dispatcher };

/** `POST /brake`: from the first line on nothing new is started; only then are workers ended, all at once. */
export async function pullBrake(parts: BrakeParts, request: PullBrake): Promise<BrakePulled> {
  const { world, memory, dispatcher } = parts;
  const changed = memory.brake.pulled === null;
  const { since, note } = memory.brake.pull(request.note ?? null, world.clock.now());
  world.logger.warn({ note, kill: request.kill === true }, 'the emergency brake was pulled');
  // Launches that were under way have their sessions by now, or were refused.
  await dispatcher.launchesSettled();
  const ended = request.kill === true ? await endAll(parts) : { killed: [], not_killed: [] };
  const running = memory.runs.all().map((run) => run.fiber_id);
  const { fault } = memory.brake;
  return { stopped: true, changed, since, note, ...(fault === null ? {} : { fault }), running, ...ended };
}

/** `POST /brake/release`. */
export function releaseBrake(
  { world, memory, dispatcher }: BrakeParts,
  request: ReleaseBrake,
): BrakeReleased {
  const changed = memory.brake.release();
  if (changed) world.logger.warn('the emergency brake was released');
  if (request.held === true) dispatcher.release();
  return { stopped: false, changed, held: heldFibers(dispatcher) };
}

/** What pulling the brake would do now. */
export function rehearsePull({ world, memory }: BrakeParts, request: PullBrake): Rehearsal {
  const running = memory.runs.all();
  return request.kill === true
    ? rehearsal(`start nothing new on ${world.host} and end its ${counted(running.length, 'worker')}`, {
        ends: running.map(workerName),
      })
    : rehearsal(`start nothing new on ${world.host}; ${counted(running.length, 'worker')} would go on`);
}

/** What letting it go would do now. */
export function rehearseBrakeRelease({ world, dispatcher }: BrakeParts, request: ReleaseBrake): Rehearsal {
  const held = counted(heldFibers(dispatcher).length, 'fiber');
  return rehearsal(
    request.held === true
      ? `let work start again on ${world.host}, and release ${held} that a hold keeps back`
      : `let work start again on ${world.host}; ${held} would stay held`,
  );
}

function heldFibers(dispatcher: Dispatcher): string[] {
  return dispatcher.rounds.pending().map(({ document }) => document.id);
}

async function endAll({
  memory,
  dispatcher,
}: BrakeParts): Promise<Pick<BrakePulled, 'killed' | 'not_killed'>> {
  const ended = await Promise.all(
    memory.runs.all().map(async ({ fiber_id }) => {
      try {
        await dispatcher.kills.kill(fiber_id);
        return { fiber_id, message: null };
      } catch (error) {
        return { fiber_id, message: messageOf(error) };
      }
    }),
  );
  return {
    killed: ended.flatMap(({ fiber_id, message }) => (message === null ? [fiber_id] : [])),
    not_killed: ended.flatMap(({ fiber_id, message }) => (message === null ? [] : [{ fiber_id, message }])),
  };
}

function counted(count: number, what: string): string {
  return `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;
}
