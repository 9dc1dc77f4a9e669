import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { singleKeysOff } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { pressedAt } from '../lib/presses.ts';
import type { Aim } from '../model/aim.ts';
import { type Gesture, targetsOf } from '../model/gestures.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './CardMenu.module.css';
import { close, gesturesAt, type MenuPart, runGesture } from './gestures.ts';
import { feedRow } from './writes.ts';

const HEADINGS: Readonly<Record<Gesture['group'], string>> = {
  move: 'Move to',
  rest: 'Rest until',
  worker: 'Do',
  shape: 'Make it',
};

const GROUPS = ['move', 'rest', 'worker', 'shape'] as const;

function partOf(part: MenuPart, row_key: string): readonly Gesture[] {
  const gestures = gesturesAt(row_key);
  if (part === 'all') return gestures;
  const targets = targetsOf(gestures);
  return part === 'move' ? targets : targets.filter(({ group }) => group === 'rest');
}

/** What can be done to one fiber: moves by letter, days by digit, everything else by the arrows. */
export default function CardMenu({ aim, part }: { aim: Aim; part: MenuPart }): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const { row_key } = aim;
  const gestures = partOf(part, row_key);
  // Also when the entry that had the focus is not offered any more.
  useEffect(() => {
    if (list.current?.contains(document.activeElement) !== true) buttonsIn(list.current)[0]?.focus();
  });
  const run = (gesture: Gesture, pressed_at?: number) => {
    if (gesture.refused === null) runGesture(aim, gesture.id, { pressed_at });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) step(list.current, by);
    else if (event.key === 'Home') buttonsIn(list.current).at(0)?.focus();
    else if (event.key === 'End') buttonsIn(list.current).at(-1)?.focus();
    else {
      const gesture = singleKeysOff() ? undefined : gestures.find(({ letter }) => letter === event.key);
      if (gesture === undefined) return;
      if (gesture.refused === null) run(gesture, pressedAt(event.nativeEvent));
      else
        buttonsIn(list.current)
          .find(({ dataset }) => dataset.gesture === gesture.id)
          ?.focus();
    }
    event.preventDefault();
  };
  return (
    <Dialog title={feedRow(row_key)?.name ?? ''} shape="menu" onClose={close}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of its buttons, which work wherever the focus is in it. */}
      <div className={styles.menu} ref={list} onKeyDown={onKeyDown}>
        {gestures.length === 0 && <p className={styles.none}>It cannot be moved from where it is.</p>}
        {GROUPS.map((group) => (
          <Entries key={group} group={group} of={gestures.filter((one) => one.group === group)} onRun={run} />
        ))}
        <div className={styles.close}>
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}

type EntriesProps = { group: Gesture['group']; of: readonly Gesture[]; onRun(gesture: Gesture): void };

/** A group below its heading; one sentence where all of it is refused for the same reason. */
function Entries({ group, of, onRun }: EntriesProps): ReactNode {
  const phone = usePhone();
  const [first] = of;
  if (first === undefined) return null;
  const same = of.length > 1 && of.every(({ refused }) => refused !== null && refused === first.refused);
  const entries = same ? (
    <p className={styles.reason}>{first.refused}</p>
  ) : (
    of.map((gesture) => <Entry key={gesture.id} gesture={gesture} onRun={() => onRun(gesture)} />)
  );
  // What is seldom done stays out of the way where there is little room.
  if (phone && group === 'shape')
    return (
      <details>
        <summary className={styles.more}>{HEADINGS[group]} …</summary>
        {entries}
      </details>
    );
  return (
    <section aria-label={HEADINGS[group]} data-group={group}>
      <h3 className={styles.heading}>{HEADINGS[group]}</h3>
      {entries}
    </section>
  );
}

function Entry({ gesture, onRun }: { gesture: Gesture; onRun(): void }): ReactNode {
  const { name, says, refused, letter, key } = gesture;
  const shortcut = letter ?? key;
  return (
    <button
      type="button"
      className={styles.entry}
      aria-disabled={refused !== null}
      data-gesture={gesture.id}
      onClick={onRun}
    >
      <span className={styles.words}>
        <b>{name}</b>
        <span className={refused === null ? styles.says : styles.refused}>{refused ?? says}</span>
      </span>
      {shortcut !== null && <kbd className={styles.key}>{shortcut}</kbd>}
    </button>
  );
}

function buttonsIn(list: HTMLElement | null): HTMLButtonElement[] {
  return [...(list?.querySelectorAll('button') ?? [])].filter((one) => one.checkVisibility());
}

function step(list: HTMLElement | null, by: number): void {
  const buttons = buttonsIn(list);
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[(at + by + buttons.length) % buttons.length]?.focus();
}
