import { memo, type ReactNode } from 'react';
import { openFiber } from '../lib/open-fiber.ts';
import { type Stretch, sumOf } from '../model/activity.ts';
import { isIn } from '../model/day-book.ts';
import { filesOf, type Lane, linesOf } from '../model/day-lanes.ts';
import { changeText, countWords, type Doer, doersAt, lineAt, workText } from '../model/day-words.ts';
import { nameOf } from '../model/life.ts';
import { STATE_NAMES, stateOf } from '../model/states.ts';
import { timeOfDay } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './DayPanel.module.css';
import { Said } from './Said.tsx';
import type { Cursor } from './use-cursor.ts';
import { useSettled } from './use-settled.ts';

/** Commits and sent files of one fiber that are listed; its sheet has all of them. */
const MOST_LISTED = 12;
/** Fibers whose words are read at the place of the cursor. */
const MOST_HEARD = 4;

type DayPanelProps = {
  lanes: readonly Lane[];
  now: number;
  /** The host that answers, which alone has transcripts to read. */
  here: string | null;
  /** What some host has not told. */
  unknown: readonly Stretch[];
  cursor: Cursor;
};

/** Who did what at the place of the cursor, and what each fiber did that day. */
export function DayPanel({ lanes, now, here, unknown, cursor }: DayPanelProps): ReactNode {
  const { at, chosen } = cursor;
  const settled = useSettled(at);
  const known = !unknown.some((stretch) => isIn(at, stretch));
  const doers = doersAt(lanes, at, now);
  return (
    <div className={styles.panel}>
      <section aria-labelledby="at">
        <h3 id="at">
          At {timeOfDay(at)} <span className={styles.count}>{countWords(doers, known)}</span>
        </h3>
        <p role="status">
          <Hidden>{chosen && settled === at ? lineAt(doers, at, known) : ''}</Hidden>
        </p>
        <ul>
          {doers.map((doer, index) => (
            <DoerView
              key={doer.lane.key}
              doer={doer}
              heard_at={index < MOST_HEARD && doer.lane.host === here ? settled : null}
            />
          ))}
        </ul>
      </section>
      <section className={styles.by} aria-labelledby="by">
        <h3 id="by">The day, by fiber</h3>
        <ul>
          {lanes.map((lane) => (
            <Done key={lane.key} lane={lane} />
          ))}
        </ul>
      </section>
    </div>
  );
}

const DOINGS: Readonly<Record<Doer['doing'], string>> = {
  worked: 'working',
  waited: 'waiting',
  idle: 'idle',
  unknown: 'unknown',
};

function DoerView({ doer: { lane, doing }, heard_at }: { doer: Doer; heard_at: number | null }): ReactNode {
  return (
    <li className={styles.doer} data-doing={doing}>
      <h4>
        <Glyph state={DOINGS[doing] as 'working' | 'waiting' | 'idle' | 'unknown'} />
        <Title lane={lane} />
        <Hidden>, {DOINGS[doing]}</Hidden>
        <small>{lane.host}</small>
      </h4>
      {heard_at !== null && doing !== 'idle' && <Said lane={lane} at={heard_at} />}
    </li>
  );
}

function Title({ lane: { row, title } }: { lane: Lane }): ReactNode {
  if (row === null) return <span>{title}</span>;
  return (
    <button type="button" onClick={() => openFiber(row)}>
      {title}
    </button>
  );
}

/** What came of one fiber that day. */
const Done = memo(function Done({ lane }: { lane: Lane }): ReactNode {
  const { row, trace, commits, ends } = lane;
  const files = filesOf(lane);
  const state = row === null ? null : stateOf(row);
  const words = sumOf(trace.words);
  const facts = [workText(trace.work.length), words > 0 ? `you ${words}` : '', changeText(linesOf(commits))];
  const left_out = Math.max(0, commits.length - MOST_LISTED) + Math.max(0, files.length - MOST_LISTED);
  return (
    <li className={styles.done}>
      <h4>
        {state === null ? <span className={styles.none} /> : <Glyph state={state} />}
        <Title lane={lane} />
        {state !== null && <Hidden>, {STATE_NAMES[state]}</Hidden>}
      </h4>
      {row?.outcome !== undefined && <p className={styles.outcome}>{row.outcome}</p>}
      {commits.length > 0 && (
        <ul className={styles.commits} aria-label="Commits">
          {commits.slice(-MOST_LISTED).map(({ sha, at, subject, insertions, deletions }) => (
            <li key={sha}>
              <time>{timeOfDay(at)}</time> <span>{subject}</span>{' '}
              <em>
                +{insertions} −{deletions}
              </em>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul className={styles.files} aria-label="Sent files">
          {files.slice(-MOST_LISTED).map((path) => (
            <li key={path} title={path}>
              <svg width="9" height="11" viewBox="0 0 9 11" aria-hidden="true">
                <path d="M1.2 1.2h6.6v8.6H1.2z" />
              </svg>
              {nameOf(path)}
            </li>
          ))}
        </ul>
      )}
      {left_out > 0 && <p className={styles.facts}>{left_out} more in its sheet</p>}
      <p className={styles.facts}>
        {facts.filter((fact) => fact !== '').join(', ')}
        {ends.map(({ at, words: how }) => ` · ${how} ${timeOfDay(at)}`)}
      </p>
    </li>
  );
});
