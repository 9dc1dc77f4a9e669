import { type RefObject, useLayoutEffect, useRef } from 'react';
import { topmostDialog } from './open-dialogs.ts';
import { inField, isTaken } from './presses.ts';

/** What a key does, by `KeyboardEvent.key`, or after `g` by both, as in `g h`; false leaves the key to others. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

const OFF = 'single-keys-off';

/** Some readers speak to their browser, which types single letters: the keys can be turned off. */
export function singleKeysOff(): boolean {
  return localStorage.getItem(OFF) !== null;
}

export function turnSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'yes');
}

/** Begins a sequence of two keys. */
const FIRST = 'g';
/** The second one comes this soon after it. */
const SEQUENCE_MS = 1_500;
let first: KeyboardEvent | null = null;
const seconds = new WeakSet<KeyboardEvent>();

// Before anybody asks what a key is named, and once for all who do.
document.addEventListener(
  'keydown',
  (event) => {
    if (isTaken(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (event.key === 'Shift') return;
    if (first !== null && event.timeStamp - first.timeStamp < SEQUENCE_MS && event.key.length === 1)
      seconds.add(event);
    first =
      event.key === FIRST && !event.repeat && !seconds.has(event) && isMeant(event, null) ? event : null;
  },
  true,
);

function nameOf(event: KeyboardEvent): string {
  return seconds.has(event) ? `${FIRST} ${event.key}` : event.key;
}

/**
 * Binds single keys of the page, or of the dialog that holds an element, while the caller is shown. They do nothing with
 * a modifier, inside a field, behind an open dialog, and when the reader has turned them off; those with a longer name,
 * such as `Enter`, always work.
 */
export function useKeys(keys: Keys, inside?: RefObject<Element | null>): void {
  const current = useRef(keys);
  current.current = keys;
  // With what is seen: a key may be pressed at once.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const run = current.current[nameOf(event)];
      if (run === undefined || !isMeant(event, inside?.current ?? null)) return;
      if (run(event) !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [inside]);
}

function isMeant(event: KeyboardEvent, inside: Element | null): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return false;
  if (inField(event.target)) return false;
  const dialog = topmostDialog();
  if (dialog !== undefined && (inside === null || !dialog.contains(inside))) return false;
  return event.key.length > 1 || !singleKeysOff();
}
