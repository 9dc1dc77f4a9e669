/** A longer first line is a paragraph, whose beginning is the title. */
const TITLE_CHARS = 120;

/** The title: the first line with words, without the marks of a heading or a list. */
export function titleOf(text: string): string {
  const line = firstLine(text).replace(/^(#{1,6}|[-*+])\s+/, '');
  const chars = [...line];
  if (chars.length <= TITLE_CHARS) return line;
  const cut = chars.slice(0, TITLE_CHARS).join('');
  const words = cut.slice(0, cut.lastIndexOf(' ')).trimEnd();
  return `${words === '' ? cut : words}…`;
}

/** The text of the document: what comes after the title, or all of it where the title is only its beginning. */
export function bodyOf(text: string): string {
  const all = text.trim();
  const line = firstLine(text);
  return titleOf(text).endsWith('…') && !line.endsWith('…') ? all : all.slice(line.length).trim();
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.trim() ?? '';
}
