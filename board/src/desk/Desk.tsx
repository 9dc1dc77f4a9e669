import { type ReactNode, useId, useMemo, useRef } from 'react';
import { DropSlot } from '../gestures/DropSlot.tsx';
import { useDragBinding } from '../gestures/drag-binding.ts';
import { Late, part } from '../lib/parts.tsx';
import { go, useWhere } from '../lib/url.ts';
import { COLUMN_GESTURES } from '../model/card-buttons.ts';
import type { Desk as DeskModel } from '../model/desk.ts';
import { draftItems, type Item, inFlightItems, railItems, reviewItems } from '../model/lists.ts';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './Desk.module.css';
import { ItemList, type ListHandle } from './ItemList.tsx';
import { useFocusKeys } from './use-focus-keys.ts';

export type DeskProps = {
  desk: DeskModel;
  /** False before the first feed, when nothing can be said of what there is. */
  loaded: boolean;
};

export const DESK_BAR = part(() => import('./DeskBar.tsx'));
const RIBBON = part(() => import('../time/Ribbon.tsx'));
const NO_ITEMS: readonly Item[] = [];
/** The place of In flight among the lists. */
const IN_FLIGHT = 2;

/** The Desk on a wide page: the ribbon of time, the rail and the three columns. */
export function Desk({ desk, loaded }: DeskProps): ReactNode {
  const { group } = useWhere();
  const lists = useFocusKeys(IN_FLIGHT);
  const { drafts, needs_you, working, blocked, review } = desk;
  const rail = useMemo(() => railItems(desk), [desk]);
  // A column whose cards stay is not drawn again.
  const columns = [
    {
      heading: 'Drafts',
      count: drafts.length,
      items: useMemo(() => draftItems({ drafts }, group), [drafts, group]),
    },
    {
      heading: 'In flight',
      count: needs_you.length + working.length + blocked.length,
      items: useMemo(
        () => inFlightItems({ needs_you, working, blocked }, group),
        [needs_you, working, blocked, group],
      ),
    },
    {
      heading: 'Awaiting review',
      count: review.length,
      items: useMemo(() => reviewItems({ review }, group), [review, group]),
    },
  ];
  const timed = useMemo(() => [...desk.scheduled, ...desk.needs_you, ...desk.working], [desk]);
  const at = (place: number) => (handle: ListHandle | null) => {
    lists.current[place] = handle;
  };
  return (
    <div className={styles.view}>
      <div className={styles.ribbon}>
        <Late of={RIBBON} with={{ cards: timed }} meanwhile={null} />
      </div>
      <Late of={DESK_BAR} with={{}} meanwhile={<div className={styles.bar} />} />
      <div className={styles.desk}>
        <Rail items={loaded ? rail : NO_ITEMS} handle={at(0)} />
        {columns.map(({ heading, count, items }, index) => (
          <Column
            key={heading}
            heading={heading}
            count={loaded ? count : null}
            items={loaded ? items : NO_ITEMS}
            handle={at(index + 1)}
          />
        ))}
      </div>
    </div>
  );
}

type ListProps = { items: readonly Item[]; handle: (handle: ListHandle | null) => void };

function Rail({ items, handle }: ListProps): ReactNode {
  const id = useId();
  return (
    <aside className={styles.rail} aria-labelledby={id}>
      <Hidden>
        <span id={id}>Pinned, scheduled and resting</span>
      </Hidden>
      <ItemList items={items} labelled_by={id} handle={handle} />
    </aside>
  );
}

type ColumnProps = ListProps & { heading: string; count: number | null };

function Column({ heading, count, items, handle }: ColumnProps): ReactNode {
  const id = useId();
  const element = useRef<HTMLElement>(null);
  const gesture = COLUMN_GESTURES[heading];
  useDragBinding(
    element,
    ({ bindTarget }, at) => (gesture === undefined ? () => undefined : bindTarget(at, gesture)),
    heading,
  );
  return (
    <section ref={element} className={styles.column} aria-labelledby={id} data-column={heading}>
      <h2 className={styles.heading} id={id}>
        {heading} <span>{count}</span>
      </h2>
      {gesture === 'drafts' && (
        <button
          type="button"
          className={styles.add}
          title="Stash a draft (s)"
          onClick={() => go({ sheet: 'stash' })}
        >
          + Stash
        </button>
      )}
      {gesture !== undefined && <DropSlot id={gesture} />}
      <ItemList items={items} labelled_by={id} handle={handle} />
    </section>
  );
}
