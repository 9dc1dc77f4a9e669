import { type ReactNode, useEffect } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { pathAt } from '../lib/paths.ts';
import { useRead } from '../lib/reads.ts';
import { referenceOf } from '../model/sheet.ts';
import type { FiberRow, Why } from '../model/wire.ts';
import { lasting } from '../model/wording.ts';
import { Sentence } from '../ui/Sentence.tsx';
import { useOrigin } from './origin.ts';
import { Part, Reading } from './Part.tsx';
import styles from './WhyPart.module.css';

const AGAIN_MS = 20_000;

export function whyPath(row: FiberRow, origin: string | null): string {
  return pathAt(origin, `/why?fiber=${encodeURIComponent(referenceOf(row))}`);
}

/** Why no worker runs on the fiber, and how to fix it, in the sentences of the daemon. */
export function WhyPart({ row }: { row: FiberRow }): ReactNode {
  const path = whyPath(row, useOrigin());
  const read = useRead<Why>(path, { every_ms: AGAIN_MS });
  const { again } = read;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row means that something of it has changed.
  useEffect(() => again(), [row]);
  return (
    <Part title="Why it is not running">
      <Reading read={read}>{(why) => <Reasons why={why} />}</Reading>
    </Part>
  );
}

function Reasons({ why: { verdict, first, blocked, last_death, not_ours = [] } }: { why: Why }): ReactNode {
  const again_in = useTimeText((now) =>
    blocked === undefined || blocked.retry_at === null || blocked.retry_at <= now
      ? ''
      : ` It is tried again in ${lasting(blocked.retry_at - now)}.`,
  );
  return (
    <div className={styles.why}>
      {verdict === 'launches' && <p>Nothing keeps it: a worker starts with the next look of the daemon.</p>}
      {verdict === 'running' && <p>It has a worker.</p>}
      {verdict === 'waits' && first?.message !== undefined && (
        <p>
          <Sentence>{first.message}</Sentence>
        </p>
      )}
      {verdict === 'waits' && first?.mend !== undefined && (
        <p className={styles.mend}>
          <Sentence>{first.mend}</Sentence>
        </p>
      )}
      {blocked !== undefined && first?.message?.includes(blocked.message) !== true && (
        <p className={styles.fault}>
          <Sentence>{blocked.message}</Sentence>
          {again_in}
        </p>
      )}
      {blocked?.screen !== undefined && <Screen text={blocked.screen} />}
      {not_ours.map(({ mux_session, message, command }) => (
        <p key={mux_session} className={styles.mend}>
          <Sentence>{`${message}; end it with: ${command}`}</Sentence>
        </p>
      ))}
      {last_death !== undefined && (
        <>
          <p className={styles.fault}>
            Its last worker died. <Sentence>{last_death.message}</Sentence>
          </p>
          <p className={styles.mend}>
            <Sentence>{last_death.mend}</Sentence>
          </p>
          {last_death.screen !== undefined && <Screen text={last_death.screen} />}
        </>
      )}
    </div>
  );
}

function Screen({ text }: { text: string }): ReactNode {
  return (
    <details className={styles.screen}>
      <summary>Its last screen</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keys. */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
