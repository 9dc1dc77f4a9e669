import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useFollowed } from '../lib/board.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { useKeys } from '../lib/keys.ts';
import { go, useWhere } from '../lib/url.ts';
import { MINUTE_MS, type Recorded } from '../model/activity.ts';
import { areaPath, linePath } from '../model/curve.ts';
import { dayHeading, workText } from '../model/day-words.ts';
import { type Day, dayAfter, stretchOf } from '../model/days.ts';
import { type WeekDay, weekDays, weekOf } from '../model/week.ts';
import { shortDay } from '../model/wording.ts';
import { readActivity } from '../time/reads.ts';
import { Button } from '../ui/Button.tsx';
import styles from './Week.module.css';

/** How often the day of today is read again, in milliseconds. */
const AGAIN_MS = MINUTE_MS;
const WIDTH = 1_440;
const HEIGHT = 56;
/** Those that are marked in each day. */
const HOURS = [6, 12, 18];

/** What agents and people did on each day of a week; a day leads to all of it. */
export default function Week(): ReactNode {
  const today = useToday();
  const shown = useWhere().day ?? today;
  const first = weekOf(shown, today)[0] ?? shown;
  return <OneWeek key={first} shown={shown} today={today} />;
}

function OneWeek({ shown, today }: { shown: Day; today: Day }): ReactNode {
  const days = useMemo(() => weekOf(shown, today), [shown, today]);
  const { copy } = useFollowed();
  const { read, failed } = useActivity(days, today);
  const found = useMemo(() => weekDays(days, read, copy?.rows.values() ?? []), [days, read, copy]);
  const step = (by: number) => () => {
    const day = dayAfter(shown, by);
    go({ day: day >= today ? null : day });
  };
  useKeys({ '[': step(-7), ']': step(7), t: () => go({ day: null }) });
  const [from = shown, to = shown] = [days[0], days.at(-1)];
  const present = days.includes(today);
  return (
    <div className={styles.week}>
      <header className={styles.head}>
        <h2>
          {shortDay(from, today)} to {shortDay(to, today)}
        </h2>
        <Button size="small" shortcut="[" title="The week before" onClick={step(-7)}>
          Before
        </Button>
        <Button size="small" shortcut="]" title="The week after" disabled={present} onClick={step(7)}>
          After
        </Button>
        {!present && (
          <Button size="small" shortcut="t" onClick={() => go({ day: null })}>
            This week
          </Button>
        )}
      </header>
      {failed && (
        <p className={styles.failed} role="alert">
          Some days cannot be read now.
        </p>
      )}
      <div className={styles.hours} aria-hidden="true">
        <p>
          {HOURS.map((hour) => (
            <span key={hour}>{String(hour).padStart(2, '0')}</span>
          ))}
        </p>
      </div>
      <ul className={styles.days}>
        {found.toReversed().map((one) => (
          <li key={one.day}>
            <DayRow of={one} today={today} failed={failed} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function DayRow({ of, today, failed }: { of: WeekDay; today: Day; failed: boolean }): ReactNode {
  const { day, heights, active, spoke, closed } = of;
  const places = heights.flatMap((height, nth) =>
    height === null
      ? []
      : [{ x: ((nth + 0.5) / heights.length) * WIDTH, y: HEIGHT - 1 - height * (HEIGHT - 6) }],
  );
  return (
    <button
      type="button"
      className={styles.day}
      onClick={() => go({ view: 'day', day: day === today ? null : day })}
    >
      <b>{dayHeading(day, today, 'short')}</b>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {HOURS.map((hour) => (
          <path key={hour} className={styles.hour} d={`M${(hour / 24) * WIDTH} 0V${HEIGHT}`} />
        ))}
        <path className={styles.fill} d={areaPath(places, HEIGHT)} />
        <path className={styles.edge} d={linePath(places)} />
      </svg>
      <span>
        {active === null
          ? failed
            ? 'Not known now'
            : 'Reading …'
          : active === 0
            ? 'No agent worked'
            : `Agents worked ${workText(active)}`}
        {spoke > 0 && <>, you spoke {spoke === 1 ? 'once' : `${spoke} times`}</>}
        {closed > 0 && `, ${closed} closed`}
      </span>
    </button>
  );
}

/** The activity of some days, read one after the other, today first, which is read again as long as somebody looks. */
function useActivity(
  days: readonly Day[],
  today: Day,
): { read: ReadonlyMap<Day, Recorded>; failed: boolean } {
  const [read, setRead] = useState<ReadonlyMap<Day, Recorded>>(new Map());
  const [failed, setFailed] = useState(false);
  const minute = useTimeText((now) => String(Math.floor(now / AGAIN_MS)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: each minute is one reason to read today again.
  useEffect(() => {
    let gone = false;
    const readAll = async () => {
      let missed = false;
      for (const day of days.toReversed()) {
        if (gone) return;
        if (day !== today && read.has(day)) continue;
        const { from, to } = stretchOf(day);
        const answer = await readActivity({ from, to: Math.min(to, Date.now()) });
        if (gone) return;
        if (answer === null) missed = true;
        else setRead((known) => new Map(known).set(day, answer));
      }
      setFailed(missed);
    };
    void readAll();
    return () => {
      gone = true;
    };
  }, [days, today, minute]);
  return { read, failed };
}
