import { type ReactNode, useMemo, useState } from 'react';
import { useFollowed } from '../lib/board.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { useKeys } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { go, useWhere } from '../lib/url.ts';
import { MINUTE_MS } from '../model/activity.ts';
import { silenceOf } from '../model/contact.ts';
import { isIn, LEDGERS, lateHosts } from '../model/day-book.ts';
import { fleetOf, lanesOf, rowsByUid, unknownOfAll } from '../model/day-lanes.ts';
import { stepOf } from '../model/day-window.ts';
import { dayHeading, doersAt, emptyWords, lateText, lineAt } from '../model/day-words.ts';
import { type Day as CivilDay, dayAfter, stretchOf } from '../model/days.ts';
import { Button } from '../ui/Button.tsx';
import { Chart } from './Chart.tsx';
import styles from './Day.module.css';
import { DayPanel } from './DayPanel.tsx';
import { DayTable } from './DayTable.tsx';
import { useDay } from './follow-day.ts';
import { Summary } from './Summary.tsx';
import { type Cursor, useCursor } from './use-cursor.ts';

/** What agents and people did on one day, lane by lane. */
export default function Day(): ReactNode {
  const today = useToday();
  const day = useWhere().day ?? today;
  return <OneDay key={day} day={day} today={today} />;
}

/** Goes to a day, or to today where that is to come. */
function show(day: CivilDay, today: CivilDay): void {
  go({ day: day >= today ? null : day });
}

function OneDay({ day, today }: { day: CivilDay; today: CivilDay }): ReactNode {
  const { book, refusal } = useDay(day);
  const { copy, contact } = useFollowed();
  const phone = usePhone();
  const [as_table, setAsTable] = useState(false);
  const now = Number(useTimeText((at) => String(Math.floor(at / MINUTE_MS)))) * MINUTE_MS;
  const stretch = useMemo(() => stretchOf(day), [day]);
  const rows = useMemo(() => rowsByUid(copy?.rows.values() ?? []), [copy]);
  const lanes = useMemo(() => lanesOf(book, stretch, now, rows), [book, stretch, now, rows]);
  const unknown = useMemo(() => unknownOfAll(book, stretch, now), [book, stretch, now]);
  const fleet = useMemo(() => fleetOf(lanes), [lanes]);
  const cursor = useCursor(lanes, fleet, stretch, now);
  const back = () => cursor.step(-1);
  const forth = () => cursor.step(1);
  useKeys({
    '[': () => show(dayAfter(day, -1), today),
    ']': () => show(dayAfter(day, 1), today),
    t: () => show(today, today),
    ArrowLeft: back,
    ArrowRight: forth,
    '+': () => cursor.zoom('in'),
    '=': () => cursor.zoom('in'),
    '-': () => cursor.zoom('out'),
  });
  const { at } = cursor;
  const late = lateHosts(book);
  const reading = day <= today && LEDGERS.some((ledger) => book[ledger] === null);
  return (
    <div className={styles.day}>
      <header className={styles.head}>
        <div className={styles.turn}>
          <Button
            tone="quiet"
            aria-label="The day before"
            aria-keyshortcuts="["
            onClick={() => show(dayAfter(day, -1), today)}
          >
            <Chevron towards="left" />
          </Button>
          <h2>{dayHeading(day, today, phone ? 'short' : 'long')}</h2>
          <Button
            tone="quiet"
            aria-label="The day after"
            aria-keyshortcuts="]"
            disabled={day >= today}
            onClick={() => show(dayAfter(day, 1), today)}
          >
            <Chevron towards="right" />
          </Button>
          {day !== today && (
            <Button size="small" shortcut="t" onClick={() => show(today, today)}>
              Today
            </Button>
          )}
        </div>
        {lanes.length > 0 && <Summary fleet={fleet} />}
        {late.map((one) => (
          <span key={one.host} className={styles.late} title={one.fault ?? undefined} data-host={one.host}>
            {lateText(one, today)}
          </span>
        ))}
        {lanes.length > 0 && (
          <div className={styles.tools}>
            {!as_table && (
              <>
                {phone && <CursorButtons cursor={cursor} />}
                <Button
                  size="small"
                  title="Show less of the day"
                  onClick={() => cursor.zoom('in')}
                  shortcut="+"
                >
                  Closer
                </Button>
                <Button
                  size="small"
                  title="Show more of the day"
                  onClick={() => cursor.zoom('out')}
                  shortcut="-"
                >
                  Wider
                </Button>
              </>
            )}
            <Button size="small" aria-pressed={as_table} onClick={() => setAsTable(!as_table)}>
              Table
            </Button>
          </div>
        )}
      </header>
      {refusal !== null && (
        <p className={styles.refusal} role="alert">
          {book.here === null
            ? 'The day cannot be read now. '
            : 'The day cannot be read again now; this is what was last known. '}
          {silenceOf(contact, copy?.host ?? null) ?? refusal}
        </p>
      )}
      {lanes.length === 0 ? (
        (refusal === null || !reading) && (
          <p className={styles.empty}>
            {reading ? 'Reading the day …' : emptyWords(day, today, unknown.length === 0)}
          </p>
        )
      ) : (
        <div className={styles.body}>
          {phone && (
            <p className={styles.line}>
              {lineAt(doersAt(lanes, at, now), at, !unknown.some((one) => isIn(at, one)))}
            </p>
          )}
          {!as_table && <Chart lanes={lanes} fleet={fleet} unknown={unknown} now={now} cursor={cursor} />}
          <DayTable lanes={lanes} fleet={fleet} shown={as_table} />
          <DayPanel lanes={lanes} now={now} here={book.here} cursor={cursor} unknown={unknown} />
        </div>
      )}
    </div>
  );
}

function Chevron({ towards }: { towards: 'left' | 'right' }): ReactNode {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path className={styles.chevron} d={towards === 'left' ? 'M10 3 5 8l5 5' : 'm6 3 5 5-5 5'} />
    </svg>
  );
}

/** The keys of the cursor, for those who have none. */
function CursorButtons({ cursor }: { cursor: Cursor }): ReactNode {
  const minutes = stepOf(cursor.window) / MINUTE_MS;
  return (
    <>
      <Button size="small" onClick={() => cursor.step(-1)}>
        −{minutes} min
      </Button>
      <Button size="small" onClick={() => cursor.step(1)}>
        +{minutes} min
      </Button>
    </>
  );
}
