import { wordsOfPerson } from '../../../src/contract/launch-message.ts';
import { MINUTE_MS, type Stretch, sumOf } from './activity.ts';
import { isIn, type Late } from './day-book.ts';
import { type Fleet, filesOf, type Lane, linesOf } from './day-lanes.ts';
import { type Day, daysBetween } from './days.ts';
import { stateOf } from './states.ts';
import type { FiberRow, Words } from './wire.ts';
import { fullMoment, timeOfDay } from './wording.ts';

/** What a lane did at one time. */
export type Doing = 'worked' | 'waited' | 'idle' | 'unknown';

/** A worker that does something every few minutes is at work between them too. */
const AROUND_MS = 2 * MINUTE_MS;

/** What a lane did in the minute that begins at a time; null if nothing of it ran then. Now it does what the Desk shows. */
export function doingAt(lane: Lane, at: number, now: number): Doing | null {
  if (at + MINUTE_MS >= now && lane.row !== null) return doingNow(lane.row);
  if (lane.unknown.some((stretch) => isIn(at, stretch)) && spanAt(lane, at)) return 'unknown';
  if (lane.trace.work.some(({ m }) => Math.abs(m - at) <= AROUND_MS)) return 'worked';
  if (lane.waits.some((stretch) => isIn(at, stretch))) return 'waited';
  return spanAt(lane, at) ? 'idle' : null;
}

function doingNow(row: FiberRow): Doing | null {
  if (row.runtime === undefined) return null;
  const state = stateOf(row);
  if (state === 'waiting') return 'waited';
  if (state === 'working' || state === 'unknown') return state === 'working' ? 'worked' : 'unknown';
  return 'idle';
}

function spanAt({ spans }: Lane, at: number): boolean {
  return spans.some(({ from, to }) => at + MINUTE_MS > from && at <= to);
}

/** The session of a lane at a time: the one that did something nearest to it, else the one that ran. */
export function sessionAt(lane: Lane, at: number): string | null {
  let best: { session: string; apart: number } | null = null;
  for (const [session, { work, words }] of lane.sessions)
    for (const { m } of [...work, ...words]) {
      const apart = Math.abs(m - at);
      if (best === null || apart < best.apart) best = { session, apart };
    }
  if (best !== null && best.apart <= 10 * MINUTE_MS) return best.session;
  return (
    lane.spans.find(({ from, to }) => at + MINUTE_MS > from && at < to)?.session ?? best?.session ?? null
  );
}

export type Doer = { lane: Lane; doing: Doing };

/** Who ran at a time: those at work first. */
export function doersAt(lanes: readonly Lane[], at: number, now: number): Doer[] {
  const order: readonly Doing[] = ['worked', 'waited', 'unknown', 'idle'];
  return lanes
    .flatMap((lane) => {
      const doing = doingAt(lane, at, now);
      return doing === null ? [] : [{ lane, doing }];
    })
    .sort((a, b) => order.indexOf(a.doing) - order.indexOf(b.doing));
}

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** `three agents working, one waiting for you` */
export function countWords(doers: readonly Doer[], known: boolean): string {
  const many = (doing: Doing) => doers.filter((one) => one.doing === doing).length;
  const number = (n: number) => NUMBERS[n] ?? String(n);
  const working = many('worked');
  const said = [`${number(working)} ${working === 1 ? 'agent' : 'agents'} working`];
  if (many('waited') > 0) said.push(`${number(many('waited'))} waiting for you`);
  if (many('idle') > 0) said.push(`${number(many('idle'))} idle`);
  if (!known) return working === 0 ? 'not known' : `${said.join(', ')}, as far as is known`;
  return said.join(', ');
}

/** What is said of a time in one line. */
export function lineAt(doers: readonly Doer[], at: number, known: boolean): string {
  const titles = doers.filter(({ doing }) => doing === 'worked').map(({ lane }) => lane.title);
  const named = titles.length === 0 ? '' : `: ${titles.slice(0, 3).join(', ')}`;
  const more = titles.length > 3 ? ` and ${titles.length - 3} more` : '';
  return `At ${timeOfDay(at)} ${countWords(doers, known)}${named}${more}.`;
}

/** `5 h 59`, `47 min` */
export function workText(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`;
}

/** `+612 −88`; empty for no commit. */
export function changeText({
  n,
  insertions,
  deletions,
}: {
  n: number;
  insertions: number;
  deletions: number;
}): string {
  return n === 0 ? '' : `+${count(insertions)} −${count(deletions)}`;
}

function count(n: number): string {
  return n.toLocaleString('en-GB');
}

/** A row of the table, in the order of `COLUMNS`. */
export const COLUMNS = [
  'Fiber',
  'Host',
  'Worked',
  'From',
  'To',
  'You spoke',
  'Turns ended',
  'Waited for you',
  'Commits',
  'Files sent',
  'Ends',
] as const;

/** What the chart shows of a lane, as texts; an empty one for nothing. */
export function cellsOf(lane: Lane): string[] {
  const { title, host, trace, seen, replies, waits, ends, commits, unknown } = lane;
  const lines = linesOf(commits);
  const waited = waits.reduce((sum, { from, to }) => sum + (to - from), 0);
  const files = filesOf(lane).length;
  const some = (n: number) => (n === 0 ? '' : String(n));
  return [
    title,
    host,
    `${workText(trace.work.length)}${unknown.length === 0 ? '' : `, not known ${stretches(unknown)}`}`,
    timeOfDay(seen.from),
    lane.live ? 'runs' : timeOfDay(seen.to),
    some(sumOf(trace.words)),
    some(replies),
    waited === 0 ? '' : workText(Math.round(waited / MINUTE_MS)),
    lines.n === 0 ? '' : `${lines.n}, ${changeText(lines)}`,
    some(files),
    ends.map(({ at, words }) => `${words} ${timeOfDay(at)}`).join(', '),
  ];
}

function stretches(all: readonly Stretch[]): string {
  return all.map(({ from, to }) => `${timeOfDay(from)} to ${timeOfDay(to)}`).join(', ');
}

/** What the drawing of all lanes together says to those who cannot see it. */
export function fleetLabel({ minutes, most }: Fleet, window: Stretch, unknown: readonly Stretch[]): string {
  const said = [`All agents from ${timeOfDay(window.from)} to ${timeOfDay(window.to)}`];
  said.push(`${workText(minutes)} of work on the whole day`);
  if (most !== null) said.push(`most at once ${most.n} at ${timeOfDay(most.at)}`);
  if (unknown.length > 0) said.push(`not known ${stretches(unknown)}`);
  return said.join(', ');
}

/** What the drawing of a lane says to those who cannot see it. */
export function laneLabel(lane: Lane): string {
  const said = [`${lane.title} worked ${workText(lane.trace.work.length)}`];
  const words = sumOf(lane.trace.words);
  if (words > 0) said.push(`you spoke ${times(words)}`);
  if (lane.commits.length > 0) said.push(several(lane.commits.length, 'commit'));
  const files = filesOf(lane).length;
  if (files > 0) said.push(`${several(files, 'file')} sent`);
  for (const { words: how, at } of lane.ends) said.push(`${how} at ${timeOfDay(at)}`);
  if (lane.unknown.length > 0) said.push(`not known ${stretches(lane.unknown)}`);
  return said.join(', ');
}

function several(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`;
}

/** The chip of a host that is not fresh. */
export function lateText({ host, state, as_of, fault }: Late, today: Day): string {
  if (state === 'no_answer' && as_of === null)
    return fault === null ? `${host}: no answer` : `${host}: ${fault}`;
  if (as_of === null) return `${host} is out of date`;
  return `${host} as of ${fullMoment(as_of, today)}`;
}

/** `Friday 21 November`, with the year where it is another one; in `short`, `Fri 21 November`. */
export function dayHeading(day: Day, today: Day, weekday: 'long' | 'short' = 'long'): string {
  const year = day.slice(0, 4) === today.slice(0, 4) ? undefined : 'numeric';
  const date = new Intl.DateTimeFormat('en-GB', {
    ...{ weekday, day: 'numeric', month: 'long', year, timeZone: 'UTC' },
  });
  return date.format(new Date(`${day}T00:00:00Z`)).replace(',', '');
}

/** What stands in the place of the lanes of a day without any. */
export function emptyWords(day: Day, today: Day, known: boolean): string {
  const distance = daysBetween(today, day);
  if (distance > 0) return 'This day has not come yet.';
  if (!known) return 'What happened on this day is not known: no host told all of it.';
  return distance === 0
    ? 'No agent has worked today, and nobody spoke to one.'
    : 'No agent worked on this day, and nobody spoke to one.';
}

/** Of what was said around a time: the last words of the person before it, and the last of the agent, if any. */
export function heardAt(said: readonly Words[], at: number): Words[] {
  const words = said.flatMap((one) => {
    const text = one.who === 'person' ? wordsOfPerson(one.text) : one.text;
    return text === null ? [] : [{ ...one, text }];
  });
  const before = words.filter((one) => one.at < at + MINUTE_MS);
  const of = before.length > 0 ? before : words.slice(0, 1);
  const person = of.findLast(({ who }) => who === 'person');
  const agent =
    of.findLast(({ who, tool }) => who === 'agent' && tool === null) ??
    of.findLast(({ who }) => who === 'agent');
  return [person, agent].filter((one) => one !== undefined).sort((a, b) => a.at - b.at);
}
