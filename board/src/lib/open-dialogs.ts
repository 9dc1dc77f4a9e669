import { useSyncExternalStore } from 'react';

/** The modal dialogs that are open, the topmost one last. */
let dialogs: readonly HTMLDialogElement[] = [];
const watching = new Set<() => void>();

function become(next: readonly HTMLDialogElement[]): void {
  dialogs = next;
  for (const run of watching) run();
}

/** Tells that a dialog has opened over all others; what it returns tells that it is gone. */
export function dialogOpened(dialog: HTMLDialogElement): () => void {
  become([...dialogs, dialog]);
  return () => become(dialogs.filter((one) => one !== dialog));
}

/** What alone can be used while it is open. */
export function topmostDialog(): HTMLDialogElement | undefined {
  return dialogs.at(-1);
}

export function useTopmostDialog(): HTMLDialogElement | undefined {
  return useSyncExternalStore((run) => {
    watching.add(run);
    return () => watching.delete(run);
  }, topmostDialog);
}
