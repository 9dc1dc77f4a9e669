import { messageOf } from '../../base/errors.ts';
import type { BrakePulled, BrakeReleased, PullBrake, ReleaseBrake } from '../../contract/http/brake.ts';
import type { Released, ReleaseRequest } from '../../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { PollRounds } from '../due/poll-rounds.ts';
import type { Memory } from '../holds/memory.ts';
import type { Run } from '../run/run.ts';
import { workerName } from '../run/runs.ts';
import type { OpenSurface } from '../surfaces/surface.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import type { Kills } from './kills.ts';

/** What of a poller the brake works on. */
export type BrakeParts = {
  world: Pick<World, 'clock' | 'host' | 'logger'>;
  memory: Pick<Memory, 'brake' | 'runs'>;
  dispatcher: Pick<Holds, 'rounds'> & {
    surfaces: Readonly<Record<string, Pick<OpenSurface, 'captures' | 'endCaptures'>>>;
    startsSettled(): Promise<void>;
    kills: Pick<Kills, 'kill'>;
  };
};
type Holds = {
  rounds: Pick<PollRounds, 'pending'>;
  /** Rejects while nobody can tell what runs. */
  requireAdopted(): Promise<void>;
  release(): Released;
};

/** `POST /brake`: from the first line on nothing new is started; only then are workers ended, all at once. */
export function pullBrake<Q extends PullBrake>(parts: BrakeParts, asked: Q) {
  const { world, memory, dispatcher } = parts;
  const write: Write<PullBrake, PullBrake, Rehearsal, BrakePulled> = {
    plan: (request) => request,
    show({ kill }) {
      const workers = [...memory.runs.all().map(workerName), ...capturesOf(dispatcher)];
      const count = counted(workers.length, 'worker');
      return kill === true
        ? rehearsal(`start nothing new on ${world.host} and end its ${count}`, { ends: workers })
        : rehearsal(`start nothing new on ${world.host}; ${count} would go on`);
    },
    async apply({ kill, note: given = null }) {
      const changed = memory.brake.pulled === null;
      const { since, note } = memory.brake.pull(given, world.clock.now());
      world.logger.warn({ note, kill: kill === true }, 'the emergency brake was pulled');
      // Starts that were under way have their sessions by now, or were refused.
      await dispatcher.startsSettled();
      const ended = kill === true ? await endAll(parts) : { killed: [], not_killed: [], ended_captures: [] };
      const running = memory.runs.all().map((run) => run.fiber_id);
      const captures = capturesOf(dispatcher);
      const { fault } = memory.brake;
      const told = { ...(fault === null ? {} : { fault }), running, captures };
      return { stopped: true, changed, since, note, ...told, ...ended };
    },
  };
  return perform(write, asked);
}

/** `POST /brake/release`. */
export function releaseBrake<Q extends ReleaseBrake>({ world, memory, dispatcher }: BrakeParts, asked: Q) {
  const write: Write<ReleaseBrake, ReleaseBrake, Rehearsal, BrakeReleased> = {
    plan: (request) => request,
    show() {
      const held = counted(heldFibers(dispatcher).length, 'fiber');
      return rehearsal(`let work start again on ${world.host}; ${held} would stay held`);
    },
    apply() {
      const changed = memory.brake.release();
      if (changed) world.logger.warn('the emergency brake was released');
      return { stopped: false, changed, held: heldFibers(dispatcher) };
    },
  };
  return perform(write, asked);
}

/** `POST /quarantine/release`. What would start by it has to be known: who releases has read its names. */
export function releaseHeld<Q extends ReleaseRequest>(dispatcher: Holds, asked: Q) {
  const write: Write<ReleaseRequest, string[], Rehearsal, Released> = {
    async plan() {
      await dispatcher.requireAdopted();
      return heldByStart(dispatcher);
    },
    show: (fibers) =>
      fibers.length === 0
        ? rehearsal('release nothing: the start of the daemon holds no fiber')
        : rehearsal(`release ${counted(fibers.length, 'held fiber')}: ${fibers.join(', ')}`),
    apply: () => dispatcher.release(),
  };
  return perform(write, asked);
}

function heldByStart({ rounds }: Pick<Holds, 'rounds'>): string[] {
  return rounds
    .pending()
    .filter(({ reason }) => reason === 'boot_quarantine')
    .map(({ document }) => document.id);
}

function heldFibers({ rounds }: Pick<Holds, 'rounds'>): string[] {
  return rounds.pending().map(({ document }) => document.id);
}

type Ended = Pick<BrakePulled, 'killed' | 'not_killed'>;

async function endAll(parts: BrakeParts): Promise<Ended & Pick<BrakePulled, 'ended_captures'>> {
  const { memory, dispatcher } = parts;
  const running = memory.runs.all();
  const [first, ...captures] = await Promise.all([
    endRuns(parts, running),
    ...Object.values(dispatcher.surfaces).map((surface) => surface.endCaptures()),
  ]);
  // A capture that was claimed meanwhile is the worker of a fiber, which is to be held.
  const asked = new Set(running.map(({ launch_id }) => launch_id));
  const late = await endRuns(
    parts,
    memory.runs.all().filter(({ launch_id }) => !asked.has(launch_id)),
  );
  return {
    killed: [...first.killed, ...late.killed],
    not_killed: [...first.not_killed, ...late.not_killed],
    ended_captures: captures.flat(),
  };
}

async function endRuns({ memory, dispatcher }: BrakeParts, runs: readonly Run[]): Promise<Ended> {
  const ended = await Promise.all(
    runs.map(async ({ fiber_id }) => {
      try {
        await dispatcher.kills.kill(fiber_id, memory.brake.pulled?.note);
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

function capturesOf({ surfaces }: BrakeParts['dispatcher']): string[] {
  return Object.values(surfaces)
    .flatMap(({ captures }) => captures.view())
    .flatMap(({ state, mux_session }) => (state === 'ended' || mux_session === null ? [] : [mux_session]));
}

function counted(count: number, what: string): string {
  return `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;
}
