import { FollowedValue, useValue } from './followed-value.ts';

export type Toast = {
  id: number;
  text: string;
  /** `fault` stays until it is put away. */
  tone: 'plain' | 'fault';
  /** What takes it back, while the toast stands. */
  undo?: () => void;
  /** What else can be done about it. */
  action?: { text: string; run(): void };
};

/** How long a toast stands, in milliseconds. */
const STANDS_MS = 6_000;

const toasts = new FollowedValue<readonly Toast[]>([]);
let last = 0;
/** How many changes are being saved, which are the last ones, and cannot be taken back yet. */
let awaited = 0;

/** Says what happened, at the bottom of the page and to screen readers. */
export function toast(text: string, options: Pick<Partial<Toast>, 'tone' | 'undo' | 'action'> = {}): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, text, tone: 'plain', ...options }]);
  if (options.tone !== 'fault') setTimeout(() => putAway(id), STANDS_MS);
}

export function putAway(id: number): void {
  if (toasts.get().some((one) => one.id === id)) toasts.set(toasts.get().filter((one) => one.id !== id));
}

/** Tells that something is being done that can be taken back later; what it returns tells that it is done, or was refused. */
export function undoAwaited(): () => void {
  awaited += 1;
  return () => {
    awaited -= 1;
  };
}

/** Takes the last thing back that still can be; false if there is none. */
export function undoLast(): boolean {
  if (awaited > 0) {
    toast('The last change is still being saved, so nothing was taken back. Press u again once it is.');
    return true;
  }
  const one = toasts.get().findLast(({ undo }) => undo !== undefined);
  if (one === undefined) return false;
  putAway(one.id);
  one.undo?.();
  return true;
}

export function useToasts(): readonly Toast[] {
  return useValue(toasts, (all) => all);
}
