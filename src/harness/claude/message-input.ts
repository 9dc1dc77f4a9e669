import type { InputScreen, MessageInput } from '../harness.ts';
import { isEmptyInput, linesOfScreen, linesWithText } from '../screen.ts';
import { asTable } from '../table.ts';
import { furthestStage, type MessageRecords } from '../transcripts/message-stage.ts';
import { parts, textOf } from '../transcripts/said.ts';

/** The composer stands between two rules; the upper one may show the name of the session. */
const RULE = /^─{20,}( .* ─+)?$/;
/** A message of the conversation has a normal space after this sign. */
const PROMPT = '❯\u00a0';
/** The line below the composer while it takes text: the permission mode, or what the keyboard offers. */
const MODE = /^ {2}(⏵⏵ |⏸ |\? for shortcuts|esc to interrupt)/;
const COMPLETION = /^(\/|[*+◇] )\S/;
const DIALOG =
  /\b(esc|enter|space|tab)(\/\S+)? to (cancel|close|exit|clear|select|confirm|continue|change|amend)\b|^ *❯ \d+\. |^ *search prompts:/i;
/** How many lines of text at the bottom of the screen may hold the hints of a dialog. */
const HINT_LINES = 4;

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
    const start = lines.findLastIndex(
      ({ text }, index) => text.startsWith(PROMPT) && RULE.test(lines[index - 1]?.text ?? ''),
    );
    const end = lines.findIndex(({ text }, index) => index > start && RULE.test(text));
    if (start === -1 || end === -1) {
      const bottom = linesWithText(lines).slice(-HINT_LINES);
      return bottom.some(({ text }) => DIALOG.test(text)) ? 'dialog' : 'unknown';
    }
    const below = linesWithText(lines, end + 1);
    if (below.some(({ text }) => COMPLETION.test(text) || DIALOG.test(text))) return 'dialog';
    const typed = lines.slice(start, end).flatMap(({ cells }, index) => cells.slice(index === 0 ? 2 : 0));
    if (!isEmptyInput(typed) || end > start + 1) return 'draft';
    return below.some(({ text }) => MODE.test(text)) ? 'ready' : 'unknown';
  },
  stageOf: (records, marker) => furthestStage(messages, records, marker),
  contextOf(record) {
    const { type, content } = asTable(record.attachment);
    if (record.isSidechain === true || type !== 'hook_additional_context' || !Array.isArray(content))
      return null;
    return content.filter((text) => typeof text === 'string').join('\n');
  },
};
