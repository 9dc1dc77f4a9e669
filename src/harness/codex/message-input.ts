import type { InputScreen, MessageInput } from '../harness.ts';
import { isEmptyInput, linesOfScreen, linesWithText, type ScreenLine } from '../screen.ts';
import { asTable } from '../table.ts';
import { furthestStage, type MessageRecords } from '../transcripts/message-stage.ts';
import { textOf } from '../transcripts/said.ts';

/** The last line while the composer is empty and takes text. */
const HINTS = /\? for shortcuts/;
/** The line above it: the model, then the working directory. */
const STATUS = /^ {2}\S.* · \S/;
const DIALOG =
  /\besc\b.{0,12}\b(cancel|back|close|exit|skip)\b|\benter\b.{0,12}\b(select|confirm|continue|submit|insert)\b|^ {2}(Browsing transcript|Find:|reverse-i-search:)/i;
/** How many lines of text at the bottom of the screen may hold the hints of a dialog. */
const HINT_LINES = 3;
const CALLS = ['function_call', 'custom_tool_call', 'local_shell_call'];

const messages: MessageRecords = {
  messageIn(record) {
    const { type, role, content } = asTable(record.payload);
    const is_message = record.type === 'response_item' && type === 'message' && role === 'user';
    return is_message ? { stage: 'submitted', text: textOf(content) } : null;
  },
  isAnswer(record) {
    const { type, role } = asTable(record.payload);
    if (record.type !== 'response_item') return false;
    return (type === 'message' && role === 'assistant') || CALLS.includes(String(type));
  },
};

/** How text gets into Codex, and what its transcript says of it. It records no message that it only queues. */
export const messageInput: MessageInput = {
  readScreen(screen): InputScreen {
    const lines = linesOfScreen(screen);
    const bottom = linesWithText(lines).slice(-HINT_LINES);
    if (bottom.some(({ text }) => DIALOG.test(text)) || lines.some(isSelected)) return 'dialog';
    const start = lines.findLastIndex(isPrompt);
    const [hints, status, ...above] = linesWithText(lines, start + 1).reverse();
    if (start === -1 || status === undefined || !STATUS.test(status.text)) return 'unknown';
    const typed = lines[start]!.cells.slice(1);
    // The placeholder is shown exactly while the composer is empty.
    if (!isEmptyInput(typed)) return 'draft';
    if (typed.every(({ char }) => char.trim() === '') || above.length > 0) return 'unknown';
    return HINTS.test(hints?.text ?? '') ? 'ready' : 'unknown';
  },
  stageOf: (records, marker) => furthestStage(messages, records, marker),
  contextOf(record) {
    const { type, role, content } = asTable(record.payload);
    const is_context = record.type === 'response_item' && type === 'message' && role === 'developer';
    return is_context ? textOf(content) : null;
  },
};

/** The sign of the composer is bold; that of a message in the conversation is also dim. */
function isPrompt({ cells: [sign, space] }: ScreenLine): boolean {
  return sign?.char === '›' && sign.bold && !sign.dim && !sign.reverse && space?.reverse !== true;
}

/** The selected row of a menu or of a list of completions. */
function isSelected({ cells: [sign] }: ScreenLine): boolean {
  return sign?.char === '›' && sign.reverse;
}
