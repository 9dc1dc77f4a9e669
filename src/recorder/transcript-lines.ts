/** Longest text of one line, in characters; the rest of it is cut off. */
const MOST_LINE_CHARS = 8_000;

/** `HH:MM:SS-HH:MM:SS S1 text`, in the time of day of this machine; times in milliseconds since the Unix epoch. */
export function spokenLine(from: number, to: number, speaker: string, text: string): string {
  return `${timeOfDay(from)}-${timeOfDay(Math.max(from, to))} ${speaker} ${oneLine(text)}`;
}

/** A line that nobody said: `# text`. */
export function commentLine(text: string): string {
  return `# ${oneLine(text)}`;
}

export function timeOfDay(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** No line of a transcript can be made to look like two. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, MOST_LINE_CHARS)
    .toWellFormed();
}
