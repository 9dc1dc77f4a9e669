import { type Day, dayOf, daysBetween } from './days.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const LOCALE = 'en-GB';
const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', timeZone: 'UTC' });
const longWeekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'long', timeZone: 'UTC' });
const dayAndMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat(LOCALE, { month: 'long', timeZone: 'UTC' });
const monthAndYear = new Intl.DateTimeFormat(LOCALE, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hour12: false });

/** How long something has lasted: `6 s`, `48 min`, `3 h 20 min`, `2 days`. */
export function lasting(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    return minutes === 0 ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / HOUR)} h ${minutes} min`;
  }
  const days = Math.floor(ms / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/** How full a context is: `61 % of 258 k tokens`, or `122 k tokens` where the size of its window is not known. */
export function contextText({ tokens, most }: { tokens: number; most: number | null }): string {
  const thousands = (count: number) => `${Math.round(count / 1_000)} k tokens`;
  return most === null ? thousands(tokens) : `${Math.round((100 * tokens) / most)} % of ${thousands(most)}`;
}

/** A moment as briefly as it is clear: the time today, the weekday within six days, else the date. */
export function moment(ms: number, today: Day): string {
  const distance = daysBetween(today, dayOf(ms));
  return distance === 0 ? timeOfDay(ms) : shortDay(dayOf(ms), today);
}

/** A moment with its time: `14:19`, `Mon 24 14:19`, `12 Nov 14:19`. */
export function fullMoment(ms: number, today: Day): string {
  const day = dayOf(ms);
  return day === today ? timeOfDay(ms) : `${shortDay(day, today)} ${timeOfDay(ms)}`;
}

/** The moment that a frontmatter value names, in milliseconds since the Unix epoch; null if it names none. */
export function timeIn(text: string | undefined): number | null {
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** The size of a file: `88 kB`, `1.1 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A count of tokens: `840`, `12 k`, `3.4 M`. */
export function countText(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${Math.round(count / 1_000)} k`;
  return `${(count / 1_000_000).toFixed(1)} M`;
}

/** A moment to come, with its time within the next day. */
export function comingMoment(ms: number, today: Day): string {
  const distance = daysBetween(today, dayOf(ms));
  return distance === 0
    ? timeOfDay(ms)
    : `${shortDay(dayOf(ms), today)}${distance === 1 ? ` ${timeOfDay(ms)}` : ''}`;
}

export function timeOfDay(ms: number): string {
  return clock.format(ms);
}

/** A day as briefly as it is clear: `today`, `Mon 24`, `12 Nov`, with the year where it is another one. */
export function shortDay(day: Day, today: Day): string {
  const distance = daysBetween(today, day);
  if (distance === 0) return 'today';
  if (Math.abs(distance) < 7) return `${weekday.format(dateOf(day))} ${Number(day.slice(8))}`;
  const date = dayAndMonth.format(dateOf(day));
  return day.slice(0, 4) === today.slice(0, 4) ? date : `${date} ${day.slice(0, 4)}`;
}

/** How a due day stands to today, and what is said of it. */
export function dueWords(day: Day, today: Day): { when: 'ahead' | 'today' | 'overdue'; text: string } {
  const when = day < today ? 'overdue' : day === today ? 'today' : 'ahead';
  return { when, text: `${when === 'overdue' ? 'overdue since' : 'due'} ${shortDay(day, today)}` };
}

/** The heading of the fibers that come back on a day: a day in the next week, else its month. */
export function returnHeading(day: Day | null, today: Day): string {
  if (day === null) return 'No date';
  const distance = daysBetween(today, day);
  if (distance === 1) return `Tomorrow, ${shortDay(day, today)}`;
  if (distance < 7) return `${longWeekday.format(dateOf(day))} ${Number(day.slice(8))}`;
  return (day.slice(0, 4) === today.slice(0, 4) ? month : monthAndYear).format(dateOf(day));
}

/** `December` */
export function monthName(day: Day): string {
  return month.format(dateOf(day));
}

function dateOf(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}

/**
 * The daemon writes its reasons as parts of sentences, with times as in ISO 8601. One that begins with a name or a path
 * keeps it as it is; its times become those of this page's clock.
 */
export function sentence(phrase: string, now = Date.now()): string {
  const text = phrase.trim();
  if (text === '') return '';
  const begun = /^[a-z]+[ ,;’]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
  const told = begun.replace(INSTANT, (at) => fullMoment(Date.parse(at), dayOf(now)));
  return /[.!?:…]$/.test(told) ? told : `${told}.`;
}

const INSTANT = /(?<![‘“'"`\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Texts with commands between backticks, as the daemon writes them, in parts. */
export function commandParts(text: string): { code: boolean; text: string }[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => ({ code: index % 2 === 1, text: part }))
    .filter((part) => part.text !== '');
}
