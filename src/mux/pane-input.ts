import { randomUUID } from 'node:crypto';
import { sleep } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import {
  captureGuarded,
  deleteBuffer,
  enterGuarded,
  loadBuffer,
  NO_SUCH_PANE,
  PASTED,
  pasteGuarded,
  sessionPanes,
} from './command.ts';
import { firstPane, type ServerAnswer } from './server-answer.ts';
import { TmuxClient, type TmuxClientOptions } from './tmux-client.ts';

/**
 * How long a program gets to show a paste before its screen is read or it gets another one. Claude Code repeats a paste
 * and joins it to the next if both come within some 50 milliseconds, and takes up to a second for a long one.
 */
const SETTLE_MS = 2_000;

/** A session by its stable id (`$7`) and its name; the server compares both when it acts. */
export type PaneTarget = { id: string; name: string };

type Pasted = { kind: 'pasted' } | { kind: 'gone' } | { kind: 'unknown'; detail: string };

/** The first pane of a session, which runs its agent program, as something to read and to type into. */
export type PaneInput = {
  /**
   * The visible pane with its attributes, once the program had time to show the last paste; null where it cannot be read
   * or takes no input.
   */
  screen(target: PaneTarget): Promise<string | null>;
  /**
   * Types the text as one bracketed paste and presses Enter, in the pane whose screen was read last, once the program had
   * time to show the last paste. `gone`: the pane was given nothing. `unknown`: it may have been given the text. Throws
   * `invalid_request` for a text that a terminal would not take as text. A pane in copy mode stays there; its program
   * gets the text.
   */
  paste(target: PaneTarget, text: string): Promise<Pasted>;
  /** Presses Enter in the pane whose screen was read last; false if that is not known to have happened. */
  pressEnter(target: PaneTarget): Promise<boolean>;
};

export function createPaneInput(options: TmuxClientOptions): PaneInput {
  const client = new TmuxClient(options);
  const findPane = async ({ id }: PaneTarget) => firstPane(await client.run(sessionPanes(id)));
  /** The pane whose screen was read last, by session: when it ends, another may become the first one. */
  const read = new Map<string, string>();
  const settled_at = new Map<string, number>();

  const unsettled_ms = (key: string) => (settled_at.get(key) ?? 0) - options.clock.monotonic();

  return {
    async screen(target) {
      const key = keyOf(target);
      read.delete(key);
      while (unsettled_ms(key) > 0) await sleep(options.clock, unsettled_ms(key));
      settled_at.delete(key);
      const pane = await findPane(target);
      if (typeof pane !== 'string') return null;
      const answer = await client.run(captureGuarded({ ...target, pane }));
      if (answer.kind !== 'done' || answer.text.trim() === NO_SUCH_PANE) return null;
      read.set(key, pane);
      return answer.text;
    },

    async paste(target, text) {
      refuseUntypable(text);
      const key = keyOf(target);
      while (unsettled_ms(key) > 0) await sleep(options.clock, unsettled_ms(key));
      // Before anything else is awaited, so that of several callers one goes on.
      settled_at.set(key, options.clock.monotonic() + SETTLE_MS);
      const pane = read.get(key) ?? (await findPane(target));
      read.delete(key);
      if (typeof pane !== 'string') return pane;
      const buffer = newBuffer();
      const answer = await client.runWithInput(
        text,
        loadBuffer(buffer),
        pasteGuarded({ ...target, pane }, buffer),
      );
      const pasted = judge(answer);
      settled_at.set(key, options.clock.monotonic() + SETTLE_MS);
      if (answer.kind !== 'done' && answer.kind !== 'no_server') await client.run(deleteBuffer(buffer));
      return pasted;
    },

    async pressEnter(target) {
      const key = keyOf(target);
      const pane = read.get(key);
      read.delete(key);
      if (pane === undefined) return false;
      const answer = await client.run(enterGuarded({ ...target, pane }, newBuffer()));
      settled_at.set(key, options.clock.monotonic() + SETTLE_MS);
      return judge(answer).kind === 'pasted';
    },
  };
}

function newBuffer(): string {
  return `svc-input-${randomUUID()}`;
}

function judge(answer: ServerAnswer): Pasted {
  if (answer.kind === 'no_server') return { kind: 'gone' };
  if (answer.kind === 'refused') return { kind: 'unknown', detail: answer.message };
  if (answer.kind === 'unknown') return answer;
  const told = answer.text.trim();
  if (told === PASTED) return { kind: 'pasted' };
  return told === NO_SUCH_PANE
    ? { kind: 'gone' }
    : { kind: 'unknown', detail: 'tmux did not report what it did' };
}

/** A control character could end the paste and act as keys; half of a surrogate pair is no text. */
function refuseUntypable(text: string): void {
  if (text.trim() === '') throw refused('is empty; write what it should say');
  if (/(?![\n\t])\p{Cc}/u.test(text))
    throw refused('holds a control character; only line feeds and tabs can be typed, so remove the others');
  if (!text.isWellFormed()) throw refused('is not well-formed Unicode; remove the unpaired surrogates');
}

function refused(why: string): CodedError {
  return new CodedError('invalid_request', `The text was not typed: it ${why}.`);
}

function keyOf({ id, name }: PaneTarget): string {
  return `${id} ${name}`;
}
