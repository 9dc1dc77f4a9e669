import { messageOf } from '../../base/errors.ts';
import type { BrakePulled, BrakeReleased, PullBrake, ReleaseBrake } from '../../contract/http/brake.ts';
import type { Released, ReleaseRequest } from '../../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { Memory } from '../memory.ts';
import { workerName } from '../run/runs.ts';
import type { World } from '../world.ts';
import { perform, type Write } from '../write.ts';

/** What of a poller the brake works on. */
export type BrakeParts = { world: World; memory: Memory; dispatcher: Dispatcher };

/** `POST /brake`: from the first line on nothing new is started; only then are workers ended, all at once. */
export function pullBrake<Q extends PullBrake>(parts: BrakeParts, asked: Q) {
  const { world, memory, dispatcher } = parts;
  const write: Write<PullBrake, PullBrake, Rehearsal, BrakePulled> = {
    plan: (request) => request,
    show({ kill }) {
      const workers = memory.runs.all().map(workerName);
      const count = counted(workers.length, 'worker');
      return kill === true
        ? rehearsal(`start nothing new on ${world.host} and end its ${count}`, { ends: workers })
        : rehearsal(`start nothing new on ${world.host}; ${count} would go on`);
    },
    async apply({ kill, note: given = null }) {
      const changed = memory.brake.pulled === null;
      const { since, note } = memory.brake.pull(given, world.clock.now());
      world.logger.warn({ note, kill: kill === true }, 'the emergency brake was pulled');
      // What was being started has its session by then, or was refused.
      await dispatcher.startsSettled();
      const ended = kill === true ? await endAll(parts) : { killed: [], not_killed: [] };
      const running = memory.runs.all().map((run) => run.fiber_id);
      const { fault } = memory.brake;
      return { stopped: true, changed, since, note, ...(fault === null ? {} : { fault }), running, ...ended };
    },
  };
  return perform(write, asked);
}

/** `POST /brake/release`. */
export function releaseBrake<Q extends ReleaseBrake>({ world, memory, dispatcher }: BrakeParts, asked: Q) {
  const write: Write<ReleaseBrake, ReleaseBrake, Rehearsal, BrakeReleased> = {
    plan: (request) => request,
    show(request) {
      const held = counted(heldFibers(dispatcher).length, 'fiber');
      return rehearsal(
        request.held === true
          ? `let work start again on ${world.host}, and release ${held} that a hold keeps back`
          : `let work start again on ${world.host}; ${held} would stay held`,
      );
    },
    apply(request) {
      const changed = memory.brake.release();
      if (changed) world.logger.warn('the emergency brake was released');
      if (request.held === true) dispatcher.release();
      return { stopped: false, changed, held: heldFibers(dispatcher) };
    },
  };
  return perform(write, asked);
}

/** `POST /quarantine/release`. */
export function releaseHeld<Q extends ReleaseRequest>(dispatcher: Dispatcher, asked: Q) {
  const write: Write<ReleaseRequest, string[], Rehearsal, Released> = {
    plan: () => heldFibers(dispatcher),
    show: (fibers) =>
      fibers.length === 0
        ? rehearsal('release nothing: no fiber is held')
        : rehearsal(`release ${counted(fibers.length, 'held fiber')}: ${fibers.join(', ')}`),
    apply: () => dispatcher.release(),
  };
  return perform(write, asked);
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
