import type { ReactNode } from 'react';
import type { MoveName } from '../model/gestures.ts';
import styles from './Drag.module.css';
import { useDrop } from './dragged.ts';

/** At the top of a column while a card is over it: what a drop would do, or why it is refused. */
export function DropSlot({ id }: { id: MoveName }): ReactNode {
  const drop = useDrop(id);
  if (drop?.over !== true) return null;
  const { verb, says, refused } = drop.gesture;
  return (
    <div className={styles.slot} data-refused={refused !== null}>
      <b>{verb}</b>
      {refused ?? says}
    </div>
  );
}
