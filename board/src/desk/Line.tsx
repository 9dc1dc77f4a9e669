import { memo, type ReactNode, useRef } from 'react';
import { MenuButton, openByLongPress } from '../gestures/CardActions.tsx';
import { useDragBinding } from '../gestures/drag-binding.ts';
import { useTimeText } from '../lib/clock.ts';
import type { Card } from '../model/card.ts';
import { dayOf } from '../model/days.ts';
import { STATE_NAMES } from '../model/states.ts';
import { comingMoment, lasting } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './Line.module.css';

/** A card in one line: its state, its title and when. */
export const Line = memo(function Line({ card, tab_stop }: { card: Card; tab_stop: boolean }): ReactNode {
  const when = useTimeText((now) => whenOf(card, now));
  const element = useRef<HTMLElement>(null);
  useDragBinding(element, ({ bindCard }, at) => bindCard(at, card.key), card.key);
  return (
    <article
      ref={element}
      className={styles.line}
      data-state={card.state}
      data-row={card.key}
      data-saw={card.saw}
      aria-label={`${STATE_NAMES[card.state]}: ${card.title}`}
      tabIndex={tab_stop ? 0 : -1}
      onContextMenu={openByLongPress}
    >
      {card.state !== 'resting' && <Glyph state={card.state} />}
      <p className={styles.title}>
        <Hidden>{STATE_NAMES[card.state]}: </Hidden>
        {card.title}
      </p>
      <span className={styles.when}>{when}</span>
      <MenuButton card={card} tab_stop={tab_stop} />
    </article>
  );
});

function whenOf({ state, band, fact }: Card, now: number): string {
  if (state === 'waiting')
    return band?.tone === 'you' && band.since !== null ? lasting(now - band.since) : '';
  if (state === 'working' || state === 'launching' || state === 'idle') return 'now';
  return fact?.kind === 'next' ? comingMoment(fact.at, dayOf(now)) : '';
}
