import { type ReactNode, useMemo } from 'react';
import { Late } from '../lib/parts.tsx';
import type { Item } from '../model/lists.ts';
import { DESK_BAR } from './Desk.tsx';
import { ItemList } from './ItemList.tsx';
import styles from './OneList.module.css';
import { useFocusKeys } from './use-focus-keys.ts';

const NO_ITEMS: readonly Item[] = [];
const NOT_GROUPED = { grouped: false };

/** A view of one list of cards, which can be filtered and chosen as those of the Desk; null before the first feed. */
export function OneList({ items }: { items: readonly Item[] | null }): ReactNode {
  const lists = useFocusKeys(0);
  return (
    <div className={styles.view}>
      <Late of={DESK_BAR} with={NOT_GROUPED} meanwhile={<div className={styles.bar} />} />
      <div className={styles.list}>
        <ItemList
          items={useMemo(() => items ?? NO_ITEMS, [items])}
          labelled_by="view"
          handle={(handle) => {
            lists.current[0] = handle;
          }}
        />
      </div>
    </div>
  );
}
