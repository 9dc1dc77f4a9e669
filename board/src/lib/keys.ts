import { type RefObject, useEffect, useRef } from 'react';

/** What a key does, by `KeyboardEvent.key`; false leaves the key to others. */
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

/**
 * Binds single keys of the page, or of the dialog that holds an element, while the caller is shown. They do nothing with
 * a modifier, inside a field, behind an open dialog, and when the reader has turned them off; those with a longer name,
 * such as `Enter`, always work.
 */
export function useKeys(keys: Keys, inside?: RefObject<Element | null>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const run = current.current[event.key];
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
  const { target } = event;
  if (target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null)
    return false;
  const dialog = [...document.querySelectorAll('dialog:modal')].at(-1);
  if (dialog !== undefined && (inside === null || !dialog.contains(inside))) return false;
  return event.key.length > 1 || !singleKeysOff();
}
