import { shellWord } from '../../../base/shell-word.ts';
import type { FiberRow } from '../../../contract/fiber.ts';
import { wrapSentence } from '../../command-line/fit-width.ts';
import { formatClock, formatDuration, formatMoment } from '../../command-line/output.ts';
import { holdWords, KIND_WORDS, letGo, refusalWords } from '../../command-line/screen-words.ts';
import { contextText } from './context-text.ts';
import { screenLines } from './death.ts';

/** Where the text beside a label begins. */
const COLUMN = 12;

/** One fiber as a short page: what it is, what it is doing, and what holds it back; `verbose` adds its uid and session. */
export function fiberPage(
  fiber: FiberRow,
  now: number,
  verbose = false,
  width = Number.POSITIVE_INFINITY,
): string {
  const lines: [string, string | undefined][] = [
    ['name', fiber.name],
    ['uid', verbose ? (fiber.uid ?? 'none yet') : undefined],
    ['file', fiber.path],
    ['status', statusOf(fiber)],
    ['tags', fiber.tags.length === 0 ? undefined : fiber.tags.join(', ')],
    ['outcome', fiber.outcome],
    ['due', fiber.due],
    ['starts', fiber.svc?.kind === undefined ? undefined : KIND_WORDS[fiber.svc.kind]],
    ['host', fiber.svc?.host],
    ['agent', agentOf(fiber)],
    ['folder', fiber.project_dir],
    ['schedule', scheduleOf(fiber)],
    ['next due', fiber.next_due_at === undefined ? undefined : formatMoment(fiber.next_due_at, now)],
    ['worker', workerOf(fiber, now)],
    ['context', fiber.runtime?.context == null ? undefined : contextText(fiber.runtime.context)],
    ['session', verbose ? (fiber.runtime?.mux_session ?? undefined) : undefined],
    ['held', heldOf(fiber)],
    ['blocked', blockedOf(fiber, now)],
    ['died', diedOf(fiber, now)],
    ['mend', fiber.last_death?.mend],
    ['error', fiber.error],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== undefined);
  return [
    `${fiber.id}\n`,
    ...shown.flatMap(([label, text]) => {
      const lines = wrapSentence(text.replace(/\s*\n\s*/g, ' '), width - COLUMN);
      return lines.map((line, at) => `${(at === 0 ? `  ${label}` : '').padEnd(COLUMN)}${line}\n`);
    }),
    fiber.last_death?.screen === undefined
      ? ''
      : `  last screen of the dead worker\n${screenLines(fiber.last_death.screen, '    ')}`,
  ].join('');
}

function statusOf(fiber: FiberRow): string {
  if (fiber.tempered === undefined)
    return fiber.status === 'closed'
      ? `closed, awaiting review; accept it with: svc accept ${fiber.id}`
      : STATUS_WORDS[fiber.status];
  return `${fiber.status}, ${fiber.tempered ? 'accepted' : 'set aside'}`;
}

const STATUS_WORDS = { open: 'draft', active: 'ready to start', closed: 'closed' } as const;

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
  const place = run.mux_session === null ? ', in the app' : '';
  const said = run.said === null ? '' : `; it said: ${run.said.replace(/\s+/g, ' ')}`;
  return `${run.agent} ${run.state}, ${phaseOf(run, now)}, started ${formatMoment(run.started_at, now)}${place}${said}`;
}

/** A phase with its age; an unknown phase has none. */
function phaseOf({ phase, phase_since }: NonNullable<FiberRow['runtime']>, now: number): string {
  return phase === 'unknown' || phase_since === null
    ? phase
    : `${phase} for ${formatDuration(now - phase_since)}`;
}

function diedOf({ last_death, runtime }: FiberRow, now: number): string | undefined {
  if (last_death === undefined) return undefined;
  const which = runtime === undefined ? '' : 'the worker before this one, ';
  return `${which}${formatMoment(last_death.at, now)}: ${last_death.message}`;
}

function heldOf({ id, held, held_note }: FiberRow): string | undefined {
  return held === undefined
    ? undefined
    : `${holdWords(held, held_note)}; let it start with: ${letGo(held, id)}`;
}

function blockedOf(fiber: FiberRow, now: number): string | undefined {
  const { id, blocked, project_dir } = fiber;
  if (blocked === undefined) return undefined;
  const mend = blocked.reason.startsWith('project_dir_')
    ? `; give it another with: svc reshape ${shellWord(id)} --project-dir <folder>`
    : '';
  return `${refusalWords(blocked, project_dir, now)}; ${triesWords(blocked, now)}${mend}`;
}

/** How often a start was tried, and when it is tried again. */
export function triesWords({ attempts, retry_at }: NonNullable<FiberRow['blocked']>, now: number): string {
  const tried = attempts === 1 ? 'tried once' : `tried ${attempts} times`;
  return `${tried}, ${retry_at === null ? 'not again by itself' : `next at ${formatClock(retry_at, now)}`}`;
}
