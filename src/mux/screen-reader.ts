import type { Clock } from '../base/clock.ts';
import { captureSince, paneFacts, type TmuxCommand } from './command.ts';
import type { MuxScreen, PaneAddress, ScreenMark } from './mux.ts';
import { parsePaneFacts, type ServerAnswer } from './server-answer.ts';

/** Cells that are read at one time; of a larger pane only its lowest lines, and less of its history. */
const MOST_CELLS = 200_000;
/** Seconds after which a screen is read again even if tmux tells of no change, as after a change of the clock. */
const OLDEST_S = 10;
/** A pane that is resized again and again is not read more often for one question. */
const MOST_READS = 4;

/** Asks tmux; `cheap` where no process was started for it. */
export type AskTmux = (
  ...commands: readonly TmuxCommand[]
) => Promise<{ answer: ServerAnswer; cheap: boolean }>;

/** Reads the screen of a pane, as `Mux.screen` says. */
export async function readScreen(
  ask: AskTmux,
  clock: Clock,
  { id, pid }: PaneAddress,
  { history, since }: { history: number; since: ScreenMark | null },
): Promise<MuxScreen> {
  let mark = since ?? { columns: 0, rows: 0, history: 0, read_at_s: 0 };
  let fresh = since === null;
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const now_s = Math.floor(clock.now() / 1_000);
    const is_old = fresh || Math.abs(now_s - mark.read_at_s) > OLDEST_S;
    const start = startOf(mark, history);
    const { answer, cheap } = await ask(
      paneFacts(id),
      captureSince(id, { ...mark, read_at_s: is_old ? 0 : mark.read_at_s }, start),
    );
    if (answer.kind === 'no_server' || answer.kind === 'refused') return { kind: 'gone' };
    if (answer.kind === 'unknown') return answer;
    const [head = '', ...lines] = answer.text.replace(/\n$/, '').split('\n');
    const facts = parsePaneFacts(head);
    if (facts === null || facts.pid !== pid || facts.dead) return { kind: 'gone' };
    const { columns, rows } = facts;
    const same_size = columns === mark.columns && rows === mark.rows;
    mark = { columns, rows, history: facts.history, read_at_s: now_s };
    if (lines.length > 0)
      return { kind: 'read', mark, first: Math.max(0, facts.history + start), lines, cheap };
    if (same_size) return { kind: 'same', cheap };
    fresh = true;
  }
  return { kind: 'unknown', detail: 'the terminal is resized again and again' };
}

/** The first line to read, as `capture-pane -S` counts: 0 is the top of the visible screen. */
function startOf({ columns, rows }: ScreenMark, history: number): number {
  const most = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, columns)));
  return Math.max(-history, rows - most);
}
