/** Characters of a title, and of the part of it in a file name. */
const TITLE_CHARS = 120;
const SLUG_CHARS = 40;

/**
 * The first line of a note that says something, else `Meeting` (CAP-3). Signs before its first word are left out: a
 * recorder would take a hyphen there for an option.
 */
export function titleOf(note: string): string {
  const first = note.split(/\r?\n/).find((line) => /[\p{L}\p{N}]/u.test(line));
  // A control character would move the cursor of a terminal that shows the title.
  const clean = (first ?? '')
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .replace(/^[\s#>*+-]+/, '')
    .trim();
  return [...clean].slice(0, TITLE_CHARS).join('') || 'Meeting';
}

/**
 * The name of the files of a meeting: its day and time in this zone, its title, and the end of its launch id, which makes
 * it another one than every earlier name. Only letters, digits and hyphens of ASCII.
 */
export function nameOf(title: string, launch: string, started_at: number): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, '');
  return [dayAndTime(started_at), slug || 'meeting', launch.slice(-6).toLowerCase()].join('-');
}

/** `HH:MM:SS` in the zone of this machine. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

function dayAndTime(at: number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
