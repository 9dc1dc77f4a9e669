import type { Words } from '../../../contract/http/moment.ts';
import type { Screen } from '../../command-line/columns.ts';
import { cutEnd, wrapWords } from '../../command-line/fit-width.ts';
import { marksOf } from '../../command-line/glyphs.ts';
import { formatDate, formatTimeOfDay } from '../../command-line/output.ts';
import { asWritten } from '../../command-line/typed-command.ts';

/** What has been printed last, so that a day and a time are told once. */
export type Printed = { day: string; time: string };

export const NOTHING_PRINTED: Printed = { day: '', time: '' };

const TIME_COLUMNS = 'HH:MM'.length;
const GAP = '  ';
const LEAST_NAME_COLUMNS = 'person'.length;

/**
 * Messages as text, each below its day: the time, who spoke, and the words with their line breaks. A call of a tool and
 * its result are one line each, which ends where the terminal does.
 */
export function wordsPage(
  words: readonly Words[],
  { agent, printed, now, ...screen }: Screen & { agent: string; printed: Printed; now: number },
): { text: string; printed: Printed } {
  let last = printed;
  const lines: string[] = [];
  for (const one of words) {
    const [day, time] = [formatDate(one.at, now), formatTimeOfDay(one.at)];
    if (day !== last.day) lines.push(...(last.day === '' ? [] : ['']), day);
    const shown = day === last.day && time === last.time ? '' : time;
    lines.push(...messageLines(one, { ...screen, time: shown, agent }));
    last = { day, time };
  }
  return { text: lines.map((line) => `${line}\n`).join(''), printed: last };
}

function messageLines(
  { who, tool, text: said }: Words,
  { time, agent, width, unicode }: Screen & { time: string; agent: string },
): string[] {
  const text = asWritten(said);
  const columns = Math.max(LEAST_NAME_COLUMNS, agent.length);
  const isTool = who === 'tool' || tool !== null;
  const name = isTool ? '' : who === 'person' ? 'person' : agent;
  const head = `${time.padEnd(TIME_COLUMNS)}${GAP}${name.padEnd(columns)}${GAP}`;
  if (isTool) return [cutEnd(`${head}${toolLine(who, tool, text, unicode)}`, width, marksOf(unicode).cut)];
  const indent = ' '.repeat(head.length);
  const room = width - head.length;
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => (room === Number.POSITIVE_INFINITY ? [line] : wrapWords(line, room)))
    .map((line, at) => `${at === 0 ? head : indent}${line}`.trimEnd());
}

/** `Bash: npm test`, or `→ 12 passed (+40 lines)`. */
function toolLine(who: Words['who'], tool: string | null, text: string, unicode: boolean): string {
  const [first = '', ...rest] = text.split('\n').filter((line) => line.trim() !== '');
  const more = rest.length === 0 ? '' : ` (+${rest.length === 1 ? '1 line' : `${rest.length} lines`})`;
  const shown = first.trim().replace(/\s+/g, ' ');
  return who === 'tool' ? `${unicode ? '→' : '->'} ${shown}${more}` : `${tool}: ${shown}${more}`;
}
