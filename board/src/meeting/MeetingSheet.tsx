import type { ReactNode } from 'react';
import { go } from '../lib/url.ts';
import { SHOWN_MS } from '../model/meeting.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './MeetingSheet.module.css';
import { Meter } from './Meter.tsx';
import { useMeeting } from './meeting.ts';
import { Panel } from './Panel.tsx';

const close = () => go({ sheet: null });
const openFiber = (fiber: string) => go({ fiber, sheet: null });
/** A page of its own, which a phone loads without the board. */
const PHONE_PAGE = '/?view=meeting';

/** The meeting of this host, over the board. */
export default function MeetingSheet(): ReactNode {
  const known = useMeeting(SHOWN_MS);
  const meeting = known.answer?.meeting ?? null;
  const audio = known.answer?.audio ?? null;
  return (
    <Dialog title="Meeting" onClose={close}>
      {(id) => (
        <div className={styles.sheet}>
          <header className={styles.head}>
            <h2 id={id} tabIndex={-1} data-autofocus>
              Meeting
            </h2>
            <Button tone="quiet" onClick={close}>
              Close
            </Button>
          </header>
          {meeting === null ? (
            <p className={styles.none}>
              {known.answer === null
                ? (known.refusal ?? 'Asking the daemon …')
                : 'No meeting is recorded. Capture starts one, and so does the sheet of a fiber.'}
            </p>
          ) : (
            <Panel meeting={meeting} known={known} openFiber={openFiber}>
              {meeting.phone && (
                <div className={styles.phone}>
                  {audio?.connected ? (
                    <Meter peak_db={audio.peak_db} label="How loud the phone is" />
                  ) : (
                    <p>No phone is its microphone now, so nothing is recorded.</p>
                  )}
                  <a href={PHONE_PAGE}>Use this device as its microphone</a>
                </div>
              )}
            </Panel>
          )}
        </div>
      )}
    </Dialog>
  );
}
