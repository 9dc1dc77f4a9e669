import { type ReactNode, useId, useMemo, useState } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { Late } from '../lib/parts.tsx';
import { useWhere } from '../lib/url.ts';
import type { Card } from '../model/card.ts';
import { dayOf } from '../model/days.ts';
import { draftItems, type Item, inFlightItems, railItems, yourCount, yourItems } from '../model/lists.ts';
import { comingMoment } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import { DESK_BAR, type DeskProps } from './Desk.tsx';
import { ItemList } from './ItemList.tsx';
import styles from './PhoneDesk.module.css';
import { useFocusKeys } from './use-focus-keys.ts';

const NO_ITEMS: readonly Item[] = [];

/** The Desk on a phone: one list at a time, chosen by a row of chips. */
export default function PhoneDesk({ desk, loaded }: DeskProps): ReactNode {
  const id = useId();
  const lists = useFocusKeys(0);
  const [chosen, setChosen] = useState(0);
  const { group } = useWhere();
  const chips = useMemo(() => {
    const { needs_you, working, blocked, drafts, resting } = desk;
    return [
      { name: 'Yours', count: yourCount(desk), items: yourItems(desk, group) },
      {
        name: 'In flight',
        count: needs_you.length + working.length + blocked.length,
        items: inFlightItems(desk, group),
      },
      { name: 'Drafts', count: drafts.length, items: draftItems(desk, group) },
      { name: 'Resting', count: resting.length, items: railItems(desk) },
    ];
  }, [desk, group]);
  const [next] = desk.scheduled;
  return (
    <div className={styles.desk}>
      <div className={styles.chips} role="tablist" aria-label="Lists of the Desk">
        {chips.map(({ name, count }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === chosen}
            aria-controls={`${id}-list`}
            className={styles.chip}
            onClick={() => setChosen(index)}
          >
            {index === 0 && desk.needs_you.length > 0 && <Glyph state="waiting" />}
            {name} <span>{loaded ? count : ''}</span>
          </button>
        ))}
      </div>
      <Late of={DESK_BAR} with={{}} meanwhile={<div className={styles.bar} />} />
      {next !== undefined && <NextLaunch card={next} count={desk.scheduled.length} />}
      <div className={styles.list} id={`${id}-list`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        <h2>
          <Hidden>{chips[chosen]?.name}</Hidden>
        </h2>
        <ItemList
          key={chosen}
          items={loaded ? (chips[chosen]?.items ?? NO_ITEMS) : NO_ITEMS}
          labelled_by={`${id}-${chosen}`}
          handle={(handle) => {
            lists.current[0] = handle;
          }}
        />
      </div>
    </div>
  );
}

/** Stands for the list of launches, which is below Resting. */
function NextLaunch({ card: { title, fact }, count }: { card: Card; count: number }): ReactNode {
  const when = useTimeText((now) => (fact?.kind === 'next' ? comingMoment(fact.at, dayOf(now)) : ''));
  if (when === '') return null;
  return (
    <p className={styles.next}>
      <Glyph state="scheduled" />
      Next launch
      <b className={styles.nextTitle}>{title}</b>
      <b>{when}</b>
      {count > 1 && <span className={styles.nextCount}>{count - 1} more</span>}
    </p>
  );
}
