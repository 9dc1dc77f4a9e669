import { FollowedValue, useValue } from '../lib/followed-value.ts';
import type { Aim } from '../model/aim.ts';

/** The cards that were chosen to do one thing to all of them, by the keys of their rows, as they were seen then. */
const selection = new FollowedValue<ReadonlyMap<string, Aim>>(new Map());
/** Whether a tap chooses a card in place of opening it. */
const tapping = new FollowedValue(false);

export function selected(): readonly Aim[] {
  return [...selection.get().values()];
}

export function useSelection(): ReadonlyMap<string, Aim> {
  return useValue(selection, (now) => now);
}

export function useIsSelected(row_key: string): boolean {
  return useValue(selection, (now) => now.has(row_key));
}

export function useTapping(): boolean {
  return useValue(tapping, (now) => now);
}

export function isTapping(): boolean {
  return tapping.get();
}

export function setTapping(on: boolean): void {
  tapping.set(on);
}

/** False if nothing was chosen. */
export function clearSelection(): boolean {
  setTapping(false);
  if (selection.get().size === 0) return false;
  selection.set(new Map());
  return true;
}

export function select(aims: readonly Aim[]): void {
  selection.set(new Map([...selection.get(), ...aims.map((aim) => [aim.row_key, aim] as const)]));
}

export function toggle(aim: Aim): void {
  const now = new Map(selection.get());
  if (!now.delete(aim.row_key)) now.set(aim.row_key, aim);
  selection.set(now);
}

/** The card that an element is, as it is shown; null for anything else, also for what is in a card. */
export function cardAim(element: Element | null): Aim | null {
  if (!(element instanceof HTMLElement) || element.dataset.fiber === undefined) return null;
  const { row: row_key, saw } = element.dataset;
  return row_key === undefined || saw === undefined ? null : { row_key, saw };
}
