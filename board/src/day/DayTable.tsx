import { memo, type ReactNode } from 'react';
import { openFiber } from '../lib/open-fiber.ts';
import type { Fleet, Lane } from '../model/day-lanes.ts';
import { COLUMNS, cellsOf, changeText, workText } from '../model/day-words.ts';
import styles from './DayTable.module.css';

/** What the chart shows, as text; for screen readers alone until it is `shown`. */
export const DayTable = memo(function DayTable({
  lanes,
  fleet,
  shown,
}: {
  lanes: readonly Lane[];
  fleet: Fleet;
  shown: boolean;
}): ReactNode {
  const { minutes, words, replies, commits, files } = fleet;
  return (
    // A region that scrolls has to be reached by keys.
    <section
      className={shown ? styles.shown : styles.hidden}
      aria-label="Table of the day"
      tabIndex={shown ? 0 : undefined}
    >
      <table>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <Row key={lane.key} lane={lane} shown={shown} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              All agents
            </th>
            <td>{workText(minutes)}</td>
            <td />
            <td />
            <td>{words}</td>
            <td>{replies}</td>
            <td />
            <td>{commits.n === 0 ? '' : `${commits.n}, ${changeText(commits)}`}</td>
            <td>{files === 0 ? '' : files}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </section>
  );
});

function Row({ lane, shown }: { lane: Lane; shown: boolean }): ReactNode {
  const [title, ...cells] = cellsOf(lane);
  const { row } = lane;
  return (
    <tr>
      <th scope="row">
        {shown && row !== null ? (
          <button type="button" onClick={() => openFiber(row)}>
            {title}
          </button>
        ) : (
          title
        )}
      </th>
      {cells.map((cell, index) => (
        <td key={COLUMNS[index + 1]}>{cell}</td>
      ))}
    </tr>
  );
}
