import { type ReactNode, useState } from 'react';
import { useOrigin } from '../fiber/origin.ts';
import { useIsShown } from '../lib/is-shown.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import { joinMeeting, SELDOM_MS } from '../model/meeting.ts';
import type { Meeting, MeetingMode } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Field } from '../ui/Field.tsx';
import { ModeField } from './ModeField.tsx';
import { startMeeting, useMeeting } from './meeting.ts';
import styles from './RecordDialog.module.css';
import { Running } from './Running.tsx';

type RecordDialogProps = {
  fiber: string;
  /** Its name. */
  title: string;
  onClose(): void;
};

/** Begins a meeting that joins a fiber, of the host that the sheet around it is of. */
export default function RecordDialog({ fiber, title, onClose }: RecordDialogProps): ReactNode {
  const origin = useOrigin();
  const { answer, refusal } = useMeeting(SELDOM_MS);
  const [chosen, setMode] = useState<MeetingMode | ''>('');
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [running, setRunning] = useState<Meeting | null>(null);
  const modes = answer?.modes ?? [];
  const mode = chosen === '' ? modes[0] : chosen;
  const isShown = useIsShown();
  const show = () => go({ fiber: null, part: null, sheet: 'meeting' });
  const start = async () => {
    if (mode === undefined) return;
    setBusy(true);
    setFault(null);
    const started = await startMeeting('/meeting/join', joinMeeting(mode, fiber, origin, note));
    setBusy(false);
    setRunning(started.ok || started.recording ? null : started.meeting);
    if (started.ok) {
      if (isShown()) show();
    } else if (started.recording) {
      toast(`${started.message} The recording goes on all the same.`, { tone: 'fault' });
      if (isShown()) show();
    } else setFault(started.message);
  };
  return (
    <Dialog title={`Record a meeting: ${title}`} onClose={onClose}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void start();
        }}
      >
        <p className={styles.about}>
          This host records it, and the worker of the fiber is told where its transcript grows.
        </p>
        {mode === undefined ? (
          <p className={styles.fault} role="alert">
            {answer?.unavailable ?? refusal ?? 'Asking what this host can record …'}
          </p>
        ) : (
          <>
            <ModeField
              label="What is recorded"
              modes={modes}
              value={mode}
              none={null}
              error={null}
              onChange={setMode}
            />
            <Field
              label="Note for its worker"
              hint="The first line is the title of the recording. It may be left empty."
            >
              {(input) => (
                <textarea
                  {...input}
                  rows={3}
                  value={note}
                  readOnly={busy}
                  onChange={({ target }) => setNote(target.value)}
                />
              )}
            </Field>
          </>
        )}
        {running === null ? (
          fault !== null && (
            <p className={styles.fault} role="alert">
              {fault}
            </p>
          )
        ) : (
          <Running meeting={running} open={show} stopped={() => setRunning(null)} />
        )}
        <div className={styles.actions}>
          <Button tone="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" tone="agent" disabled={busy || mode === undefined}>
            {busy ? 'Starting …' : 'Record'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
