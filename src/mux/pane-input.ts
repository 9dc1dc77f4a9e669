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
} from './command.ts';
import type { PaneAddress } from './mux.ts';
import type { ServerAnswer } from './server-answer.ts';
import { TmuxClient, type TmuxClientOptions } from './tmux-client.ts';

/**
 * How long a program gets to show a paste before its screen is read or it gets another one. Claude Code repeats a paste
 * and joins it to the next if both come within some 50 milliseconds, and takes up to a second for a long one.
 */
const SETTLE_MS = 2_000;

type Pasted = { kind: 'pasted' } | { kind: 'gone' } | { kind: 'unknown'; detail: string };

/** Panes that run agent programs, as something to read and to type into. */
export type PaneInput = {
  /**
   * The visible pane with its attributes, once the program had time to show the last paste; null where it cannot be read
   * or takes no input.
   */
  screen(pane: PaneAddress): Promise<string | null>;
  /**
   * Types the text as one bracketed paste and presses Enter, once the program had time to show the last paste. `gone`: the
   * pane was given nothing. `unknown`: it may have been given the text. Throws `invalid_request` for a text that a terminal
   * would not take as text. A pane in copy mode stays there; its program gets the text.
   */
  paste(pane: PaneAddress, text: string): Promise<Pasted>;
  /** Presses Enter in the pane; false if that is not known to have happened. */
  pressEnter(pane: PaneAddress): Promise<boolean>;
};

export function createPaneInput(options: TmuxClientOptions): PaneInput {
  const client = new TmuxClient(options);
  const settled_at = new Map<string, number>();

  const unsettled_ms = (key: string) => (settled_at.get(key) ?? 0) - options.clock.monotonic();

  return {
    async screen(pane) {
      const key = keyOf(pane);
      while (unsettled_ms(key) > 0) await sleep(options.clock, unsettled_ms(key));
      settled_at.delete(key);
      const answer = await client.run(captureGuarded(pane));
      return answer.kind !== 'done' || answer.text.trim() === NO_SUCH_PANE ? null : answer.text;
    },

    async paste(pane, text) {
      refuseUntypable(text);
      const key = keyOf(pane);
      while (unsettled_ms(key) > 0) await sleep(options.clock, unsettled_ms(key));
      // Before anything else is awaited, so that of several callers one goes on.
      settled_at.set(key, options.clock.monotonic() + SETTLE_MS);
      const buffer = newBuffer();
      const answer = await client.runWithInput(text, loadBuffer(buffer), pasteGuarded(pane, buffer));
      settled_at.set(key, options.clock.monotonic() + SETTLE_MS);
      if (answer.kind !== 'done' && answer.kind !== 'no_server') await client.run(deleteBuffer(buffer));
      return judge(answer);
    },

    async pressEnter(pane) {
      const answer = await client.run(enterGuarded(pane, newBuffer()));
      settled_at.set(keyOf(pane), options.clock.monotonic() + SETTLE_MS);
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

function keyOf({ id, pid }: PaneAddress): string {
  return `${id} ${pid}`;
}
