import type { MouseEvent, ReactNode } from 'react';
import type { Aim } from '../model/aim.ts';
import type { Card } from '../model/card.ts';
import type { GestureId } from '../model/gestures.ts';
import type { Refusal } from '../model/pending.ts';
import { sentence } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import styles from './CardActions.module.css';
import { openMenu, runGesture } from './gestures.ts';
import { dismissRefusal } from './writes.ts';

type CardPart = {
  card: Card /** Only the card that Tab leads to has its buttons in the order of Tab. */;
  tab_stop: boolean;
};

/** What a person most likely does to this card. */
export function CardButtons({ card, tab_stop }: CardPart): ReactNode {
  if (card.buttons.length === 0) return null;
  return (
    <div className={styles.buttons}>
      {card.buttons.map(({ id, name }) => (
        <Button
          key={id}
          tone={TONES[id] ?? 'plain'}
          size="small"
          tabIndex={tab_stop ? 0 : -1}
          aria-label={`${name}: ${card.title}`}
          onClick={() => runGesture(aimOf(card), id)}
        >
          {name}
        </Button>
      ))}
    </div>
  );
}

const TONES: Readonly<Partial<Record<GestureId, 'quiet' | 'you' | 'agent_line'>>> = {
  set_aside: 'quiet',
  accept: 'agent_line',
  reply: 'you',
};

/** Opens everything that can be done to the card; shown once the pointer or the focus is on it. */
export function MenuButton({ card, tab_stop }: CardPart): ReactNode {
  return (
    <button
      type="button"
      className={styles.menu}
      tabIndex={tab_stop ? 0 : -1}
      aria-label={`Menu of ${card.title}`}
      aria-haspopup="dialog"
      onClick={() => openMenu(aimOf(card), 'all')}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="3" cy="8" r="1.4" />
        <circle cx="8" cy="8" r="1.4" />
        <circle cx="13" cy="8" r="1.4" />
      </svg>
    </button>
  );
}

function aimOf({ key, saw }: Card): Aim {
  return { row_key: key, saw };
}

/** A long press opens the Move menu, since a finger cannot drag a card out of a list that it scrolls. */
export function openByLongPress(event: MouseEvent<HTMLElement>): void {
  const { pointerType } = event.nativeEvent as PointerEvent;
  const { row: row_key, saw } = event.currentTarget.dataset;
  if (pointerType !== 'touch' || row_key === undefined || saw === undefined) return;
  if (openMenu({ row_key, saw }, 'move')) event.preventDefault();
}

/** Why the last gesture on the card was not done, in the words of the daemon. */
export function RefusedStrip({ card, refusal }: { card: Card; refusal: Refusal }): ReactNode {
  return (
    <div className={styles.refused} role="alert">
      <p>{sentence(refusal.message)}</p>
      {refusal.needs_folder && (
        <Button size="small" onClick={() => runGesture(aimOf(card), 'launch')}>
          Choose folder
        </Button>
      )}
      <Button size="small" tone="quiet" onClick={() => dismissRefusal(card.key)}>
        Dismiss
      </Button>
    </div>
  );
}
