import { type ReactNode, useEffect, useState } from 'react';
import { type Answer, post } from '../lib/api.ts';
import type { Call } from '../model/gestures.ts';
import type { Rehearsal } from '../model/wire.ts';
import { sentence } from '../model/wording.ts';
import { RehearsalView } from '../ui/RehearsalView.tsx';
import styles from './Forms.module.css';

/** How long the fields stand still before what they come to is rehearsed, in milliseconds. */
const STILL_MS = 400;

/** What a write would do, by the daemon's own rehearsal, or why it would refuse; null while that is not known. */
export function useRehearsed({ path, body }: Call): Answer<Rehearsal> | null {
  const asked = JSON.stringify(body);
  const [last, setLast] = useState<{ asked: string; answer: Answer<Rehearsal> } | null>(null);
  const [first] = useState(asked);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      async () => {
        const answer = await post<Rehearsal>(
          path,
          { ...JSON.parse(asked), dry_run: true },
          { signal: stop.signal },
        );
        if (!stop.signal.aborted) setLast({ asked, answer });
      },
      asked === first ? 0 : STILL_MS,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, asked, first]);
  return last?.asked === asked ? last.answer : null;
}

/** What was rehearsed, in a dialog that does it. */
export function RehearsedView({ rehearsed }: { rehearsed: Answer<Rehearsal> | null }): ReactNode {
  return (
    <div className={styles.shown} aria-live="polite">
      {rehearsed === null && <p className={styles.about}>Looking at what it would do…</p>}
      {rehearsed?.ok === true && <RehearsalView rehearsal={rehearsed.value} />}
      {rehearsed?.ok === false && <p className={styles.refused}>{sentence(rehearsed.message)}</p>}
    </div>
  );
}
