import { slugFromName } from '../../../fibers/fiber-id.ts';

/** Lengths in characters of what is made of the text of a task. */
const MOST_NAME = 80;
const MOST_SLUG = 20;

/** The name of a task: its first line, ended between two words where it is long. */
export function nameOfTask(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.replace(/\s+/g, ' ').trim();
  const letters = [...line];
  if (letters.length <= MOST_NAME) return line;
  const cut = letters.slice(0, MOST_NAME).join('');
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MOST_NAME / 2)).trimEnd()}…`;
}

/** The leaf for the id of a task: the first words of its name, as many as are quickly typed; empty where it has none. */
export function slugOfTask(name: string): string {
  const [first = '', ...words] = slugFromName(name).split('-');
  let slug = first;
  for (const word of words) {
    if (slug.length + 1 + word.length > MOST_SLUG) break;
    slug += `-${word}`;
  }
  return slug;
}
