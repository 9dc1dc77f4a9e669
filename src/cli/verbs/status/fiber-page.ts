import { shellWord } from '../../../base/shell-word.ts';
import type { FiberRow } from '../../../contract/fiber.ts';
import { KIND_WORDS, STATUS_WORDS, verdictWords } from '../../../lifecycle/fiber-words.ts';
import { formatClock, formatDue, formatDuration, formatMoment } from '../../command-line/output.ts';
import { holdWords, letGo, notOursWords, refusalWords, sharedWith } from '../../command-line/screen-words.ts';
import { asWritten } from '../../command-line/typed-command.ts';
import { contextText } from './context-text.ts';
import { screenLines } from './death.ts';

/** Where the text beside a label begins. */
const COLUMN = 12;

/** One fiber as a short page: what it is, what it is doing, and what holds it back; `verbose` adds its uid and session. */
export function fiberPage(fiber: FiberRow, now: number, verbose = false): string {
  const lines: [string, string | undefined][] = [
    ['name', asWritten(fiber.name)],
    ['uid', verbose ? (fiber.uid ?? 'none yet') : undefined],
    ['file', fiber.path],
    ['status', statusOf(fiber)],
    ['tags', fiber.tags.length === 0 ? undefined : fiber.tags.join(', ')],
    ['outcome', fiber.outcome === undefined ? undefined : asWritten(fiber.outcome)],
    ['due', fiber.due],
    ['starts', fiber.svc?.kind === undefined ? undefined : KIND_WORDS[fiber.svc.kind]],
    ['host', fiber.svc?.host],
    ['agent', agentOf(fiber)],
    ['folder', fiber.project_dir],
    ['schedule', scheduleOf(fiber)],
    ['next due', fiber.next_due_at === undefined ? undefined : formatDue(fiber.next_due_at, now)],
    ['worker', workerOf(fiber, now)],
    ['beside', sharedOf(fiber)],
    ['context', fiber.runtime?.context == null ? undefined : contextText(fiber.runtime.context)],
    ['session', verbose ? (fiber.runtime?.mux_session ?? undefined) : undefined],
    ['held', heldOf(fiber)],
    ['blocked', blockedOf(fiber, now)],
    ['not ours', fiber.not_ours?.map(notOursWords).join('; ')],
    ['died', diedOf(fiber, now)],
    ['fix', fiber.last_death?.mend],
    ['error', fiber.error],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== undefined);
  return [
    `${fiber.id}\n`,
    ...shown.map(([label, text]) => `${`  ${label}`.padEnd(COLUMN)}${text.replace(/\s*\n\s*/g, ' ')}\n`),
    fiber.last_death?.screen === undefined
      ? ''
      : `  last screen of the dead worker\n${screenLines(fiber.last_death.screen, '    ')}`,
  ].join('');
}

function statusOf(fiber: FiberRow): string {
  if (fiber.tempered === undefined)
    return fiber.status === 'closed'
      ? `closed, awaiting review; accept it with: svc accept ${shellWord(fiber.id)}`
      : fiber.runtime === undefined
        ? STATUS_WORDS[fiber.status]
        : 'its worker runs';
  return `${STATUS_WORDS[fiber.status]}, ${verdictWords(fiber.tempered)}`;
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
  const place = run.mux_session === null ? ', in the app' : '';
  const said = run.said === null ? '' : `; it said: ${asWritten(run.said).replace(/\s+/g, ' ')}`;
  return `${run.agent} ${run.state}, ${phaseOf(run, now)}, started ${formatMoment(run.started_at, now)}${place}${said}`;
}

function sharedOf({ shares_folder_with = [] }: FiberRow): string | undefined {
  return shares_folder_with.length === 0 ? undefined : sharedWith(shares_folder_with);
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
