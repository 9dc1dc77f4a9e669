import { topmostDialog } from './open-dialogs.ts';

/** How long a person needs to see that something changed, before what they press can be meant for it, in milliseconds. */
export const SEEN_MS = 250;
/** Letters that follow each other sooner are one text, in milliseconds. */
const ONE_TEXT_MS = 500;

/** What takes letters as a text. */
const FIELD = 'input:not([type=checkbox]), textarea, select, [contenteditable]';
type Waiting = { callOff(): void };
/** What was opened and cannot take keys yet. */
const waiting = new Set<Waiting>();
/** The letters for it, oldest first. `at` is that of the press, as `Event.timeStamp`. */
let kept: { key: string; at: number }[] = [];
/** When the last letter of a text was pressed. */
let typed_at = Number.NEGATIVE_INFINITY;
/** The last key, and what it was when the page changed under it last. */
let last_key = '';
let changed = { at: Number.NEGATIVE_INFINITY, key: '' };
let came: { to: Element; at: number } | null = null;
/** When a key was pressed that is told to the page later. */
const told_later = new WeakMap<Event, number>();

/**
 * Keeps the keys that are pressed from now on for a field or a menu that was opened and is not there yet. `callOff` is
 * for Escape. What it returns tells that it is there, or will not be: the letters go to what has the focus then, if it
 * takes letters.
 */
export function keepKeys(callOff: () => void): () => void {
  const one = { callOff };
  waiting.add(one);
  return () => {
    waiting.delete(one);
    // Once what was loaded has the focus.
    queueMicrotask(giveKeys);
  };
}

/** Tells that a dialog has opened or closed, or shows something else: a second press of one key was for what was there. */
export function sceneChanged(): void {
  changed = { at: performance.now(), key: last_key };
}

/** Tells that an element got the focus because another one left, and not by a person. */
export function focusCame(to: Element): void {
  came = { to, at: performance.now() };
}

/** Since when an element has the focus that it got by itself, as `Event.timeStamp`; 0 where a person gave it. */
export function focusedSince(element: Element | null): number {
  return came !== null && came.to === element ? came.at : 0;
}

/** When the key of an event was pressed, which may be told later. */
export function pressedAt(event: Event): number {
  return told_later.get(event) ?? event.timeStamp;
}

export function inField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(FIELD) !== null;
}

/**
 * Whether a key is not for what has the focus now: it is kept for what was opened, goes on with a text whose field is
 * gone, or is the second of a double press.
 */
export function isTaken(event: KeyboardEvent): boolean {
  const { key, timeStamp } = event;
  if (!event.isTrusted || event.isComposing || key === 'Shift') return false;
  const presses = key === 'Enter' || key === ' ';
  const double =
    presses && key === changed.key && (event.repeat || timeStamp < changed.at + SEEN_MS) && key === last_key;
  last_key = key;
  const field = inField(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if (field) typed_at = Number.NEGATIVE_INFINITY;
    return double;
  }
  const letter = key.length === 1;
  if (field) {
    if (letter || (key === 'Enter' && event.target instanceof HTMLTextAreaElement)) typed_at = timeStamp;
    else if (key === 'Enter' || key === 'Escape' || key === 'Tab') typed_at = Number.NEGATIVE_INFINITY;
    return false;
  }
  if (waiting.size > 0) return isKept(event);
  if (double) return true;
  if ((letter || presses) && timeStamp - typed_at < ONE_TEXT_MS) {
    typed_at = timeStamp;
    return true;
  }
  return false;
}

function isKept({ key, timeStamp }: KeyboardEvent): boolean {
  if (key === 'Escape') {
    kept = [];
    typed_at = Number.NEGATIVE_INFINITY;
    if (topmostDialog() !== undefined) return false;
    for (const one of [...waiting]) one.callOff();
    return true;
  }
  if (key === 'Backspace') kept.pop();
  else if (key.length === 1 || key === 'Enter') {
    kept.push({ key, at: timeStamp });
    typed_at = timeStamp;
  }
  // A key of the browser itself is left to it.
  return !/^F\d/.test(key);
}

function giveKeys(): void {
  if (waiting.size > 0 || kept.length === 0) return;
  const keys = kept;
  kept = [];
  const { activeElement } = document;
  const dialog = topmostDialog();
  if (activeElement instanceof HTMLTextAreaElement || activeElement instanceof HTMLInputElement)
    insert(activeElement, keys.map(({ key }) => (key === 'Enter' ? '\n' : key)).join(''));
  else if (dialog?.dataset.letters !== undefined) {
    typed_at = Number.NEGATIVE_INFINITY;
    for (const { key, at } of keys) {
      if (key.length > 1 || topmostDialog() !== dialog) return;
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
      told_later.set(event, at);
      (document.activeElement ?? dialog).dispatchEvent(event);
    }
  }
}

/** Types a text into a field, as its user would. */
function insert(field: HTMLTextAreaElement | HTMLInputElement, text: string): void {
  const { selectionStart, selectionEnd, value } = field;
  field.setRangeText(text, selectionStart ?? value.length, selectionEnd ?? value.length, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
}

document.addEventListener(
  'pointerdown',
  () => {
    typed_at = Number.NEGATIVE_INFINITY;
    last_key = '';
  },
  true,
);
