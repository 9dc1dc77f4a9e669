import { type ReactNode, useState } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { elapsedText, STATE_WORDS } from '../model/meeting.ts';
import type { Meeting } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { stopMeeting } from './meeting.ts';
import styles from './Running.module.css';

type RunningProps = {
  /** The meeting that stands in the way of another one. */
  meeting: Meeting;
  open(): void;
  /** It was told to stop. */
  stopped(): void;
};

/** A meeting that is recorded already: one host records one at a time. */
export function Running({ meeting, open, stopped }: RunningProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const elapsed = useTimeText((now) => elapsedText(now - meeting.started_at));
  const stop = async () => {
    setBusy(true);
    const answer = await stopMeeting();
    setBusy(false);
    if (answer.ok) stopped();
    else setRefused(answer.message);
  };
  return (
    <div className={styles.running} role="alert">
      <p>
        This host records a meeting already: <b>{meeting.title}</b>. {STATE_WORDS[meeting.state]}, {elapsed}.
      </p>
      {refused !== null && <p className={styles.fault}>{refused}</p>}
      <div className={styles.buttons}>
        <Button onClick={open}>Open</Button>
        <Button tone="fault" disabled={busy || meeting.state === 'stopping'} onClick={() => void stop()}>
          Stop it
        </Button>
      </div>
    </div>
  );
}
