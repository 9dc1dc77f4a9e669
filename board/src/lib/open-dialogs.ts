import { FollowedValue, useValue } from './followed-value.ts';

/** The modal dialogs that are open, the topmost one last. */
const dialogs = new FollowedValue<readonly HTMLDialogElement[]>([]);

/** Tells that a dialog has opened over all others; what it returns tells that it is gone. */
export function dialogOpened(dialog: HTMLDialogElement): () => void {
  dialogs.set([...dialogs.get(), dialog]);
  return () => dialogs.set(dialogs.get().filter((one) => one !== dialog));
}

/** What alone can be used while it is open. */
export function topmostDialog(): HTMLDialogElement | undefined {
  return dialogs.get().at(-1);
}

export function useTopmostDialog(): HTMLDialogElement | undefined {
  return useValue(dialogs, topmostDialog);
}
