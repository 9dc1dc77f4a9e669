import type { ReactNode } from 'react';
import type { Fleet } from '../model/day-lanes.ts';
import { changeText, workText } from '../model/day-words.ts';
import styles from './Day.module.css';

/** The day in figures, each beside what stands for it in the chart. */
export function Summary({ fleet }: { fleet: Fleet }): ReactNode {
  const { minutes, words, replies, commits, files } = fleet;
  return (
    <ul className={styles.summary} aria-label="The day in figures">
      <li>
        <i className={styles.agents} aria-hidden="true" />
        agents <b>{workText(minutes)}</b>
      </li>
      <li>
        <i className={styles.you} aria-hidden="true" />
        you <b>{words}</b> {words === 1 ? 'message' : 'messages'}, <b>{replies}</b> back
      </li>
      {commits.n > 0 && (
        <li>
          <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
            <path className={styles.commit} d="M5 1.5 9 8.5H1Z" />
          </svg>
          <b>{commits.n}</b> {commits.n === 1 ? 'commit' : 'commits'} {changeText(commits)}
        </li>
      )}
      {files > 0 && (
        <li>
          <svg width="9" height="11" viewBox="0 0 9 11" aria-hidden="true">
            <path className={styles.file} d="M1.2 1.2h6.6v8.6H1.2z" />
          </svg>
          <b>{files}</b> {files === 1 ? 'file' : 'files'} sent
        </li>
      )}
    </ul>
  );
}
