import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useTimeText } from '../lib/clock.ts';
import {
  agedMs,
  elapsedText,
  type KnownMeeting,
  MODE_WORDS,
  SHOWN_MS,
  STATE_WORDS,
  spokenLine,
} from '../model/meeting.ts';
import type { Meeting } from '../model/wire.ts';
import { lasting } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import { markMeeting, stopMeeting } from './meeting.ts';
import styles from './Panel.module.css';

type PanelProps = {
  meeting: Meeting;
  known: KnownMeeting;
  /** Where a fiber of this host is shown. */
  openFiber(id: string): void;
  /** What stands between the head and what is said. */
  children?: ReactNode;
};

/** A meeting: how it stands, what was said last, marks, and its end. */
export function Panel({ meeting, known, openFiber, children }: PanelProps): ReactNode {
  const aged = useAged(known);
  return (
    <div className={styles.panel} data-meeting={meeting.state}>
      <Head meeting={meeting} aged={aged} />
      {aged !== '' && (
        <p className={styles.fault} role="alert">
          {known.refusal ?? 'The daemon does not answer.'} What you see is {aged} old.
        </p>
      )}
      {meeting.error !== null && (
        <p className={styles.fault} role="alert">
          {meeting.error}
        </p>
      )}
      {children}
      <Tail lines={meeting.tail} aged={aged !== ''} />
      {meeting.state !== 'failed' && <Mark />}
      <Facts meeting={meeting} openFiber={openFiber} />
      <Stop meeting={meeting} />
    </div>
  );
}

/** How old what is shown is, as a text; empty where it is as good as now. */
function useAged(known: KnownMeeting): string {
  return useTimeText((now) => {
    const age = agedMs(known, SHOWN_MS, now);
    return age === null ? '' : lasting(age);
  });
}

function Head({ meeting, aged }: { meeting: Meeting; aged: string }): ReactNode {
  const elapsed = useTimeText((now) => elapsedText(now - meeting.started_at));
  const tone = aged !== '' ? 'old' : meeting.state;
  return (
    <header className={styles.head}>
      <p className={styles.state} data-tone={tone}>
        <span className={styles.dot} aria-hidden="true" />
        <b>{STATE_WORDS[meeting.state]}</b>
        {meeting.state !== 'failed' && aged === '' && <span className={styles.clock}>{elapsed}</span>}
      </p>
      <h2>{meeting.title}</h2>
      <p className={styles.mode}>{MODE_WORDS[meeting.mode]}</p>
    </header>
  );
}

/** How near its end a list counts as read to the end, in pixels. */
const NEAR_END = 30;

/** What was said last; it follows what is said until the reader scrolls up. */
function Tail({ lines, aged }: { lines: readonly string[]; aged: boolean }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const last = lines.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new last line is what it follows.
  useLayoutEffect(() => {
    if (follows.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last, lines.length]);
  if (lines.length === 0) return <p className={styles.nothing}>Nothing has been said yet.</p>;
  return (
    <ol
      ref={list}
      className={styles.tail}
      data-aged={aged}
      aria-label="What was said last"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keys too.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {lines.map((line, nth) => {
        const { at, speaker, text } = spokenLine(line);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be the same.
          <li key={`${nth} ${line}`}>
            {at !== '' && (
              <span className={styles.when}>
                {at} {speaker}
              </span>
            )}
            <span>{text}</span>
          </li>
        );
      })}
    </ol>
  );
}

type Outcome = { fault: boolean; text: string };

function Mark(): ReactNode {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const mark = async () => {
    setBusy(true);
    const answer = await markMeeting(text);
    setBusy(false);
    // What is written meanwhile is another mark.
    if (answer.ok) setText((now) => (now === text ? '' : now));
    setOutcome(
      answer.ok ? { fault: false, text: markedText(answer.value) } : { fault: true, text: answer.message },
    );
  };
  return (
    <form
      className={styles.mark}
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void mark();
      }}
    >
      <Field label="Mark this moment" error={outcome?.fault ? outcome.text : null} hint={outcome?.text}>
        {(input) => (
          <div className={styles.beside}>
            <input
              {...input}
              value={text}
              maxLength={500}
              autoComplete="off"
              placeholder="budget agreed"
              onChange={({ target }) => setText(target.value)}
            />
            <Button type="submit" disabled={busy}>
              Mark
            </Button>
          </div>
        )}
      </Field>
    </form>
  );
}

function markedText({ line, undelivered }: { line: string; undelivered: string | null }): string {
  const text = `Marked: ${line.replace(/^# mark /, '')}.`;
  return undelivered === null ? text : `${text} Its worker was not told: ${undelivered}.`;
}

function Facts({ meeting, openFiber }: Pick<PanelProps, 'meeting' | 'openFiber'>): ReactNode {
  const { fiber, joined, transcript, mirror_host } = meeting;
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Fiber</dt>
        <dd>
          {fiber === null ? (
            'Its worker has not filed one yet.'
          ) : (
            <>
              <button type="button" className={styles.link} onClick={() => openFiber(fiber)}>
                {fiber}
              </button>
              {joined && ', which it joined'}
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Transcript</dt>
        <dd>
          {transcript}
          {mirror_host !== null && `, copied to ${mirror_host}`}
        </dd>
      </div>
    </dl>
  );
}

/** Stops the recording once it was asked for twice; a failed one is put away at once. */
function Stop({ meeting }: { meeting: Meeting }): ReactNode {
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const stop = async () => {
    setBusy(true);
    const answer = await stopMeeting();
    setBusy(false);
    setAsks(false);
    setRefused(answer.ok ? null : answer.message);
  };
  if (meeting.state === 'stopping') return null;
  return (
    <div className={styles.stop}>
      {refused !== null && (
        <p className={styles.fault} role="alert">
          {refused}
        </p>
      )}
      {meeting.state === 'failed' ? (
        <Button disabled={busy} onClick={() => void stop()}>
          Put it away
        </Button>
      ) : asks ? (
        <>
          <span>End the recording?</span>
          <Button tone="fault" disabled={busy} onClick={() => void stop()}>
            End it
          </Button>
          <Button tone="quiet" onClick={() => setAsks(false)}>
            Go on
          </Button>
        </>
      ) : (
        <Button tone="fault" onClick={() => setAsks(true)}>
          Stop
        </Button>
      )}
    </div>
  );
}
