import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { useTimeText } from '../lib/clock.ts';
import { type AudioState, audioSays, NEEDS_HTTPS, SLOW_LINE } from '../model/audio-words.ts';
import { isRunning, SHOWN_MS } from '../model/meeting.ts';
import type { Meeting } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Meter } from './Meter.tsx';
import { useMeeting } from './meeting.ts';
import { Panel } from './Panel.tsx';
import styles from './PhonePage.module.css';
import { StartForm } from './StartForm.tsx';
import { isSlow, type UsedMicrophone, useMicrophone } from './use-microphone.ts';
import { useWakeLock } from './use-wake-lock.ts';

const PhoneHelp = lazy(() => import('./PhoneHelp.tsx'));

/** A page over plain HTTP from another machine has none at all. */
const HAS_MICROPHONE = (navigator as { mediaDevices?: MediaDevices }).mediaDevices !== undefined;

/** Where nothing is heard, or about to be. */
const IDLE: readonly AudioState['kind'][] = ['off', 'no_microphone', 'taken_away', 'over'];

const openFiber = (id: string) => location.assign(`/?fiber=${encodeURIComponent(id)}`);

/** A phone as the microphone of a meeting: begins one, or takes part in the one that is there. */
export function PhonePage(): ReactNode {
  const known = useMeeting(SHOWN_MS);
  const microphone = useMicrophone();
  const [fault, setFault] = useState<string | null>(null);
  const { answer } = known;
  const meeting = answer?.meeting ?? null;
  const last = useRef<Meeting | null>(null);
  last.current = meeting ?? last.current;
  const { kind } = microphone.state;
  const sends = !IDLE.includes(kind);
  useWakeLock(sends);
  return (
    <div className={styles.page}>
      <header className={styles.bar}>
        <h1>Meeting</h1>
        <a href="/">The board</a>
      </header>
      <main className={styles.main}>
        {!HAS_MICROPHONE && <NeedsHttps />}
        {fault !== null && isRunning(meeting) && (
          <p className={styles.fault} role="alert">
            {fault} The recording goes on all the same.
          </p>
        )}
        {meeting === null && (answer === null || known.refusal !== null) && (
          <p className={styles.note} role="status">
            {known.refusal ?? 'Asking the daemon …'}
          </p>
        )}
        {answer !== null && (
          <>
            {meeting !== null && (
              <Panel meeting={meeting} known={known} openFiber={openFiber}>
                {meeting.phone && isRunning(meeting) && (
                  <Audio meeting={meeting} microphone={microphone} other={answer.audio?.connected === true} />
                )}
              </Panel>
            )}
            {meeting === null && kind === 'over' && (
              <Audio meeting={null} microphone={microphone} other={false} />
            )}
            {meeting === null && last.current !== null && <Ended meeting={last.current} />}
            {!isRunning(meeting) &&
              (answer.modes.includes('phone') ? (
                HAS_MICROPHONE && <StartForm microphone={microphone} onStarted={setFault} />
              ) : (
                <p className={styles.fault} role="alert">
                  {answer.unavailable ?? 'The recorder of this host takes no phone.'}
                </p>
              ))}
          </>
        )}
      </main>
    </div>
  );
}

type AudioProps = {
  meeting: Meeting | null;
  microphone: UsedMicrophone;
  /** Whether audio of a phone reaches the recorder. */
  other: boolean;
};

const OFFERS = {
  use: 'Use this phone as the microphone',
  again: 'Try again',
  take_over: 'Take over again',
} as const;

/** Whether this page is the microphone, why not, and what to do about it. */
function Audio({ meeting, microphone, other }: AudioProps): ReactNode {
  const { muted, peak_db } = microphone;
  // What ended the last meeting says nothing of this one.
  const stale = microphone.state.kind === 'over' && meeting !== null && meeting.launch !== microphone.launch;
  const state: AudioState = stale ? { kind: 'off' } : microphone.state;
  const says = audioSays(state, muted, other);
  const text = useTimeText((now) =>
    says.tone === 'live' && isSlow(microphone, now) ? SLOW_LINE : says.text,
  );
  const use = async (launch: string) => {
    if (await microphone.open()) microphone.connect(launch);
  };
  return (
    <section className={styles.audio} data-audio={state.kind} aria-label="Microphone">
      {state.kind === 'connected' && <Meter peak_db={peak_db} label="How loud it is" />}
      <p className={styles.says} data-tone={text === SLOW_LINE ? 'fault' : says.tone} role="status">
        {text}
      </p>
      {says.tone === 'live' && !('wakeLock' in navigator) && (
        <p className={styles.note}>
          This browser cannot keep the screen on: set the phone so that it stays on while you record.
        </p>
      )}
      {says.offer !== null && meeting !== null && HAS_MICROPHONE && (
        <Button tone="agent" onClick={() => void use(meeting.launch)}>
          {OFFERS[says.offer]}
        </Button>
      )}
    </section>
  );
}

/** What is left of a meeting that this page has shown. */
function Ended({ meeting: { title, fiber, transcript } }: { meeting: Meeting }): ReactNode {
  return (
    <p className={styles.ended}>
      <b>{title}</b> is no longer recorded.{' '}
      {fiber === null ? (
        `Its worker has not filed a fiber yet; its transcript is ${transcript}.`
      ) : (
        <>
          Its worker goes on in <a href={`/?fiber=${encodeURIComponent(fiber)}`}>{fiber}</a>.
        </>
      )}
    </p>
  );
}

function NeedsHttps(): ReactNode {
  const [shown, setShown] = useState(false);
  return (
    <div className={styles.https} role="alert">
      <p>
        <b>HTTPS is needed to record here.</b> {NEEDS_HTTPS}
      </p>
      <Button onClick={() => setShown(true)}>How a phone gets here over HTTPS</Button>
      {shown && (
        <Suspense>
          <PhoneHelp onClose={() => setShown(false)} />
        </Suspense>
      )}
    </div>
  );
}
