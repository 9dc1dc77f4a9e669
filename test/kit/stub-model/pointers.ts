import type { Turn } from './conversation.ts';

/** What a launch says that points to its message. */
const POINTER =
  /^You are a fiber worker: your task is the file (\/.*); read it before you do anything else\.$/;
/** A file that the program itself put in place of its name. */
const INSERTED = /^<file name="[^"]*\/prompt[^"]*">\n([\s\S]*)\n<\/file>\n?$/;

/** The file that the last turn points to, when it has not been read yet. */
export function unreadFile(turns: readonly Turn[]): string | null {
  const at = turns.findLastIndex((turn) => turn.from === 'user' && POINTER.test(turn.text));
  if (at === -1 || turns.slice(at + 1).some((turn) => turn.from === 'tool')) return null;
  return POINTER.exec(turns[at]?.text ?? '')?.[1] ?? null;
}

/** The same turns, with the message that a launch points to where its words would stand otherwise. */
export function withMessages(turns: readonly Turn[]): Turn[] {
  let pointed = false;
  return turns.map((turn) => {
    const inserted = turn.from === 'user' ? INSERTED.exec(turn.text)?.[1] : undefined;
    if (inserted !== undefined) return { from: 'user', text: inserted };
    if (turn.from === 'user') {
      pointed ||= POINTER.test(turn.text);
      return turn;
    }
    if (!pointed) return turn;
    pointed = false;
    // Codex tells how the command went before what it printed.
    return { from: 'user', text: turn.text.replace(/^[\s\S]*?\bOutput:\n/, '') };
  });
}
