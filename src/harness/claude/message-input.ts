import type { InputScreen, MessageInput } from '../harness.ts';
import { type Cell, isEmptyInput, linesOfScreen, linesWithText, type ScreenLine } from '../screen.ts';
import { asTable } from '../table.ts';
import { furthestStage, type MessageRecords } from '../transcripts/message-stage.ts';
import { parts, textOf } from '../transcripts/said.ts';

/** The composer stands between two rules; the upper one may show the name of the session. */
const RULE = /^─{20,}( .* ─+)?$/;
/** A message of the conversation has a normal space after this sign. */
const PROMPT = '❯\u00a0';
/** The line below the composer while it takes text: the permission mode, or what the keyboard offers. */
const MODE = /^ {2}(⏵⏵ |⏸ |\? for shortcuts|esc to interrupt)/;
/** An entry of the list of commands, files or agents, which stands below the composer or, in later versions, above it. */
const COMPLETION = /^(\/|[*+◇] )\S/;
const COMPLETION_ABOVE = /^ {2}[❯ ] (\/|[*+◇] )\S/;
const DIALOG =
  /\b(esc|enter|space|tab)(\/\S+)? to (cancel|close|exit|clear|select|confirm|continue|change|amend)\b|^ *❯ \d+\. |^ *search prompts:/i;
/** How many lines of text at the bottom of the screen may hold the hints of a dialog. */
const HINT_LINES = 4;

/** How the composer shows a long paste: with the number of its line feeds. */
const FOLDED = /^\[Pasted text #\d+(?: \+(\d+) lines?)?\]$/;

const messages: MessageRecords = {
  messageIn(record) {
    if (record.isSidechain === true || record.isMeta === true || record.isCompactSummary === true)
      return null;
    if (record.type === 'queue-operation') {
      const { operation, content } = record;
      return operation === 'enqueue' && typeof content === 'string'
        ? { stage: 'queued', text: content }
        : null;
    }
    if (record.type === 'attachment') {
      const { type, prompt } = asTable(record.attachment);
      return type === 'queued_command' ? { stage: 'submitted', text: textOf(prompt) } : null;
    }
    const { content } = asTable(record.message);
    if (record.type !== 'user' || parts(content).some(({ type }) => type === 'tool_result')) return null;
    return { stage: 'submitted', text: textOf(content) };
  },
  isAnswer(record) {
    const { model, content } = asTable(record.message);
    const is_real = record.isApiErrorMessage !== true && model !== '<synthetic>';
    return record.type === 'assistant' && record.isSidechain !== true && is_real && parts(content).length > 0;
  },
  linkOf: ({ uuid, parentUuid, logicalParentUuid }) => ({
    id: uuid,
    parent: parentUuid ?? logicalParentUuid,
  }),
};

/** How text gets into Claude Code, and what its transcript says of it. */
export const messageInput: MessageInput = {
  readScreen(screen): InputScreen {
    const lines = linesOfScreen(screen);
    const composer = composerIn(lines);
    if (composer === null) {
      const bottom = linesWithText(lines).slice(-HINT_LINES);
      return bottom.some(({ text }) => DIALOG.test(text)) ? 'dialog' : 'unknown';
    }
    const { start, end } = composer;
    const below = linesWithText(lines, end + 1);
    if (below.some(({ text }) => COMPLETION.test(text) || DIALOG.test(text))) return 'dialog';
    const typed = lines.slice(start, end).flatMap(({ cells }, index) => cells.slice(index === 0 ? 2 : 0));
    if (!(isEmptyInput(typed) || isQueueHint(typed)) || end > start + 1)
      return COMPLETION_ABOVE.test(lines[start - 2]?.text ?? '') ? 'dialog' : 'draft';
    return below.some(({ text }) => MODE.test(text)) ? 'ready' : 'unknown';
  },
  holdsText(screen, text) {
    const lines = linesOfScreen(screen);
    const composer = composerIn(lines);
    if (composer === null) return false;
    const shown = lines
      .slice(composer.start, composer.end)
      .map((line) => line.text.slice(2))
      .join('');
    const folded = FOLDED.exec(shown.trim());
    if (folded !== null) return Number(folded[1] ?? 0) === text.split('\n').length - 1;
    return withoutSpace(shown) === withoutSpace(text);
  },
  stageOf: (records, marker) => furthestStage(messages, records, marker),
  contextOf(record) {
    const { type, content } = asTable(record.attachment);
    if (record.isSidechain === true || type !== 'hook_additional_context' || !Array.isArray(content))
      return null;
    return content.filter((text) => typeof text === 'string').join('\n');
  },
};

/** What an empty composer says while messages are queued; dim only where the terminal has enough colours. */
const QUEUE_HINT = 'Press up to edit queued messages';

/** Whether the composer shows the hint, with the cursor on its first character: what is typed stands before it. */
function isQueueHint(typed: readonly Cell[]): boolean {
  const text = typed.map(({ char }) => char).join('');
  return text.trim() === QUEUE_HINT && typed[0]?.reverse === true;
}

/** The lines of the composer, from its first one up to the rule below it; null if the screen shows none. */
function composerIn(lines: readonly ScreenLine[]): { start: number; end: number } | null {
  const start = lines.findLastIndex(
    ({ text }, index) => text.startsWith(PROMPT) && RULE.test(lines[index - 1]?.text ?? ''),
  );
  const end = lines.findIndex(({ text }, index) => index > start && RULE.test(text));
  return start === -1 || end === -1 ? null : { start, end };
}

/** The composer wraps lines, indents them and ends with the line feed that a kept Enter became. */
function withoutSpace(text: string): string {
  return text.replace(/\s/g, '');
}
