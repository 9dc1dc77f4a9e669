import type { InputScreen, MessageInput } from '../harness.ts';
import { isEmptyInput, linesOfScreen, linesWithText } from '../screen.ts';
import { asTable } from '../table.ts';
import { furthestStage, type MessageRecords } from '../transcripts/message-stage.ts';
import { parts, textOf } from '../transcripts/said.ts';
import { CONTEXT_TYPE } from './context-part.ts';

/** The editor stands between two rules; the upper one shows a turn that runs. */
const RULE = /^──.*─{20,}$/;
const WHOLE_RULE = /^─{20,}$/;
/** The two lines below the editor: the working directory, then the use of the context window. */
const FOLDER = /^[/~]/;
const CONTEXT = /\d%\/\d|\?\/\d/;
const COMPLETION = /^→ |^ {2}\(\d+\/\d+\)$/;
const DIALOG =
  /\b(esc(ape)?|enter)\S*( to)? (cancel|select|submit|confirm|change)\b|^> |^[^\S\n]*(tab|ctrl\+s) (scope|sort)/i;

const messages: MessageRecords = {
  messageIn(record) {
    const { role, content } = asTable(record.message);
    const is_message = record.type === 'message' && role === 'user';
    return is_message ? { stage: 'submitted', text: textOf(content) } : null;
  },
  isAnswer(record) {
    const { role, stopReason, content } = asTable(record.message);
    if (record.type !== 'message' || role !== 'assistant') return false;
    return stopReason !== 'error' && stopReason !== 'aborted' && parts(content).length > 0;
  },
  linkOf: ({ id, parentId }) => ({ id, parent: parentId }),
};

/** How text gets into Pi, and what its transcript says of it. It records no message that it only queues. */
export const messageInput: MessageInput = {
  readScreen(screen): InputScreen {
    const lines = linesOfScreen(screen);
    const end = lines.findLastIndex(({ text }) => WHOLE_RULE.test(text));
    const start = lines.findLastIndex(({ text }, index) => index < end && RULE.test(text));
    if (start === -1) return 'unknown';
    const body = lines.slice(start + 1, end);
    const below = linesWithText(lines, end + 1);
    if (body.some(({ text }) => DIALOG.test(text))) return 'dialog';
    if (below.some(({ text }) => COMPLETION.test(text))) return 'dialog';
    const [folder, context] = below;
    if (!FOLDER.test(folder?.text ?? '') || !CONTEXT.test(context?.text ?? '')) return 'unknown';
    const typed = body.flatMap(({ cells }) => cells);
    // The cursor is drawn in the editor, and in no other view of this shape.
    if (!typed.some(({ reverse }) => reverse)) return 'unknown';
    return body.length === 1 && isEmptyInput(typed) ? 'ready' : 'draft';
  },
  stageOf: (records, marker) => furthestStage(messages, records, marker),
  contextOf: ({ type, customType, content }) =>
    type === 'custom_message' && customType === CONTEXT_TYPE ? textOf(content) : null,
};
