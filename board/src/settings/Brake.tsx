import { type ReactNode, useState } from 'react';
import { ActButton } from '../app/HostNotices.tsx';
import { post } from '../lib/api.ts';
import { askNow } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { useHostState } from '../lib/host-state.ts';
import { STATE_PATH } from '../lib/paths.ts';
import { readAgain } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { pulledText, RELEASE_BRAKE } from '../model/notices.ts';
import type { BrakePulled } from '../model/wire.ts';
import { moment } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Settings.module.css';

/** Ending many workers takes its time. */
const PULL_MS = 120_000;

/** Stops all starts of this host, and its workers too if asked to. */
export function Brake(): ReactNode {
  const { value: state } = useHostState();
  const today = useToday();
  const [note, setNote] = useState('');
  const [kill, setKill] = useState(false);
  const [busy, setBusy] = useState(false);
  const running = state?.running.length ?? 0;
  const pull = async () => {
    setBusy(true);
    const said = note.trim() === '' ? {} : { note: note.trim() };
    const answer = await post<BrakePulled>(
      '/brake',
      { ...said, ...(kill ? { kill } : {}) },
      { timeout_ms: PULL_MS },
    );
    setBusy(false);
    if (answer.ok) {
      toast(pulledText(answer.value));
      setNote('');
      setKill(false);
    } else toast(answer.message, { tone: 'fault' });
    readAgain(STATE_PATH);
    askNow();
  };
  return (
    <>
      <h2 className={styles.title}>Emergency brake</h2>
      <section className={styles.box} aria-label="Emergency brake">
        {state === undefined ? (
          <h3>Looking…</h3>
        ) : state.brake.on ? (
          <>
            <h3>It is on</h3>
            <div className={styles.inside}>
              <p className={styles.about}>
                Nothing starts on {state.host}
                {state.brake.since === null ? '' : ` since ${moment(state.brake.since, today)}`}.
                {state.brake.note === null ? '' : ` “${state.brake.note}”`}
              </p>
              <div className={styles.buttons}>
                <ActButton act={{ ...RELEASE_BRAKE, tone: 'agent' }} />
              </div>
            </div>
          </>
        ) : (
          <>
            <h3>It is off</h3>
            <form
              className={styles.inside}
              onSubmit={(event) => {
                event.preventDefault();
                void pull();
              }}
            >
              <p className={styles.about}>
                While it is on, nothing new starts on {state.host}, whatever is due and across restarts.
              </p>
              <Field label="Why, for whoever finds it on">
                {(input) => (
                  <input
                    {...input}
                    value={note}
                    maxLength={500}
                    onChange={({ target }) => setNote(target.value)}
                  />
                )}
              </Field>
              <label className={styles.check}>
                <input type="checkbox" checked={kill} onChange={({ target }) => setKill(target.checked)} />
                {runningWords(running)}
              </label>
              <div className={styles.buttons}>
                <Button type="submit" tone="fault" disabled={busy}>
                  Pull the brake
                </Button>
              </div>
            </form>
          </>
        )}
      </section>
    </>
  );
}

function runningWords(running: number): string {
  if (running === 0) return 'End workers that run, too (there is none now)';
  return running === 1 ? 'End the worker that runs, too' : `End the ${running} workers that run, too`;
}
