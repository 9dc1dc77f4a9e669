import type { FiberRow } from '../../../contract/fiber.ts';
import { formatDuration, formatMoment } from '../../command-line/output.ts';
import { screenLines } from './death.ts';
import { describeHold, letGo } from './hold.ts';

/** One fiber as a short page: what it is, what it is doing, and what holds it back. */
export function fiberPage(fiber: FiberRow, now: number): string {
  const lines: [string, string | undefined][] = [
    ['name', fiber.name],
    ['uid', fiber.uid ?? 'none yet'],
    ['file', fiber.path],
    ['status', statusOf(fiber)],
    ['tags', fiber.tags.length === 0 ? undefined : fiber.tags.join(', ')],
    ['outcome', fiber.outcome],
    ['due', fiber.due],
    ['kind', fiber.svc?.kind],
    ['host', fiber.svc?.host],
    ['agent', agentOf(fiber)],
    ['folder', fiber.project_dir],
    ['schedule', scheduleOf(fiber)],
    ['next due', fiber.next_due_at === undefined ? undefined : formatMoment(fiber.next_due_at, now)],
    ['worker', workerOf(fiber, now)],
    ['held', heldOf(fiber)],
    ['blocked', blockedOf(fiber, now)],
    ['died', diedOf(fiber, now)],
    ['mend', fiber.last_death?.mend],
    ['error', fiber.error],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== undefined);
  return [
    `${fiber.id}\n`,
    ...shown.map(([label, text]) => `  ${label.padEnd(9)} ${text.replace(/\s*\n\s*/g, ' ')}\n`),
    fiber.last_death?.screen === undefined
      ? ''
      : `  last screen of the dead worker\n${screenLines(fiber.last_death.screen, '    ')}`,
  ].join('');
}

function statusOf(fiber: FiberRow): string {
  if (fiber.tempered === undefined)
    return fiber.status === 'closed'
      ? `closed, awaiting review; accept it with: svc accept ${fiber.id}`
      : fiber.status;
  return `${fiber.status}, ${fiber.tempered ? 'accepted' : 'composted'}`;
}

function agentOf(fiber: FiberRow): string | undefined {
  const agent = fiber.svc?.agent;
  return agent === undefined || fiber.svc?.effort === undefined ? agent : `${agent} (${fiber.svc.effort})`;
}

function scheduleOf(fiber: FiberRow): string | undefined {
  const schedule = fiber.svc?.schedule;
  return schedule === undefined || fiber.svc?.tz === undefined ? schedule : `${schedule} ${fiber.svc.tz}`;
}

function workerOf(fiber: FiberRow, now: number): string | undefined {
  const run = fiber.runtime;
  if (run === undefined) return undefined;
  const place = run.mux_session ?? run.surface;
  const said = run.said === null ? '' : `; it said: ${run.said.replace(/\s+/g, ' ')}`;
  return `${run.agent} ${run.state}, ${phaseOf(run, now)}, for ${formatDuration(now - run.started_at)}, in ${place}${said}`;
}

/** A phase with its age; an unknown phase has none. */
function phaseOf({ phase, phase_since }: NonNullable<FiberRow['runtime']>, now: number): string {
  return phase === 'unknown' || phase_since === null
    ? phase
    : `${phase} since ${formatMoment(phase_since, now)}`;
}

function diedOf({ last_death, runtime }: FiberRow, now: number): string | undefined {
  if (last_death === undefined) return undefined;
  const which = runtime === undefined ? '' : 'the worker before this one, ';
  return `${which}${formatMoment(last_death.at, now)}: ${last_death.message}`;
}

function heldOf({ id, held, held_note }: FiberRow): string | undefined {
  return held === undefined
    ? undefined
    : `${describeHold(held, held_note)}; let it start with: ${letGo(held, id)}`;
}

function blockedOf(fiber: FiberRow, now: number): string | undefined {
  const blocked = fiber.blocked;
  if (blocked === undefined) return undefined;
  const retry =
    blocked.retry_at === null
      ? 'no further try by itself'
      : `next try ${formatMoment(blocked.retry_at, now)}`;
  return `${blocked.reason}: ${blocked.message} (${blocked.attempts} tries, ${retry})`;
}
