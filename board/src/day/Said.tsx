import { type ReactNode, useRef } from 'react';
import { useRead } from '../lib/reads.ts';
import { MINUTE_MS } from '../model/activity.ts';
import type { Lane } from '../model/day-lanes.ts';
import { heardAt, sessionAt } from '../model/day-words.ts';
import type { Moment } from '../model/wire.ts';
import { timeOfDay } from '../model/wording.ts';
import styles from './DayPanel.module.css';

const WITHIN_MS = 5 * MINUTE_MS;

/** What was said in a lane around a time: the last of the person, and the last of the agent. */
export function Said({ lane, at }: { lane: Lane; at: number }): ReactNode {
  const session = sessionAt(lane, at);
  const query = `session=${encodeURIComponent(session ?? '')}&at=${at}&within_ms=${WITHIN_MS}`;
  const { value, refusal } = useRead<Moment>(session === null ? null : `/moment?${query}`);
  const last = useRef<Moment | null>(null);
  if (value !== undefined) last.current = value;
  // What was said a moment before stands until the next answer.
  const shown = refusal === null && last.current?.session === session ? last.current : null;
  if (shown === null)
    return refusal !== null && <p className={styles.unheard}>Its words are not kept here.</p>;
  return heardAt(shown.words, at).map(({ at: said_at, who, tool, text }) => (
    <p key={`${said_at} ${who}`} className={styles.said} data-who={who}>
      <time>{timeOfDay(said_at)}</time>
      <span>{tool === null ? text : `uses ${tool}`}</span>
    </p>
  ));
}
