import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { get } from '../../lib/api.ts';
import { useToday } from '../../lib/clock.ts';
import { type Said, type Transcript, withPage } from '../../model/transcript.ts';
import type { TranscriptWords } from '../../model/wire.ts';
import { fullMoment, sizeText } from '../../model/wording.ts';
import { Button } from '../../ui/Button.tsx';
import { OpenTerminal } from '../OpenTerminal.tsx';
import { useOrigin } from '../origin.ts';
import { PartDialog } from '../PartDialog.tsx';
import styles from './TranscriptDialog.module.css';

const GROWS_MS = 2_000;
const ESTIMATE = 64;
/** Within this many pixels of an end the reader is there. */
const NEAR = 80;

type TranscriptProps = {
  session: string;
  title: string;
  /** It is the conversation of a worker that runs. */
  live: boolean;
};

/** What was said in a conversation, turn by turn; the end first, and growing while its worker runs. */
export default function TranscriptDialog({ session, title, live }: TranscriptProps): ReactNode {
  const { transcript, size, fault, earlier, reading } = useTranscript(session, live);
  const facts = `Transcript of ${session}${size === null ? '' : `, ${sizeText(size)}`}${live ? ', live' : ''}`;
  return (
    <PartDialog name="Transcript" title={title} facts={facts}>
      {!live && <OpenTerminal asked={{ session }}>Open it again in a terminal</OpenTerminal>}
      {fault !== null && (
        <p className={styles.fault} role="alert">
          {fault}
        </p>
      )}
      {transcript === null ? (
        fault === null && <p className={styles.none}>Reading …</p>
      ) : (
        <Words transcript={transcript} earlier={earlier} reading={reading} />
      )}
    </PartDialog>
  );
}

type Reading = {
  transcript: Transcript | null;
  size: number | null;
  fault: string | null;
  reading: boolean;
  /** Reads what was said before. */
  earlier(): void;
};

function useTranscript(session: string, live: boolean): Reading {
  const [transcript, setTranscript] = useState<Transcript | null>(null);
  const [size, setSize] = useState<number | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [reading, setReading] = useState(false);
  const origin = useOrigin();
  const host = origin === null ? '' : `&host=${encodeURIComponent(origin)}`;
  const busy = useRef(false);
  const to = transcript?.to;
  const from = transcript?.from;
  const read = useCallback(
    async (more: string) => {
      if (busy.current) return;
      busy.current = true;
      setReading(true);
      const answer = await get<TranscriptWords>(
        `/transcript/words?session=${encodeURIComponent(session)}${host}${more}`,
      );
      busy.current = false;
      setReading(false);
      setFault(answer.ok ? null : answer.message);
      if (!answer.ok) return;
      setSize(answer.value.size);
      setTranscript((known) => withPage(known, answer.value));
    },
    [session, host],
  );
  useEffect(() => void read(''), [read]);
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => {
      if (!document.hidden) void read(to === undefined ? '' : `&after_byte=${to}`);
    }, GROWS_MS);
    return () => clearInterval(timer);
  }, [live, read, to]);
  const earlier = useCallback(() => {
    if (from !== undefined && from > 0) void read(`&before_byte=${from}`);
  }, [read, from]);
  return { transcript, size, fault, reading, earlier };
}

type WordsProps = { transcript: Transcript; earlier(): void; reading: boolean };

function Words({ transcript: { words, from }, earlier, reading }: WordsProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const at_end = useRef(true);
  const first = useRef<string | undefined>(undefined);
  const virtualizer = useVirtualizer({
    count: words.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: (index) => words[index]?.key ?? index,
    overscan: 8,
  });
  // What is read before keeps the words in place that were at the top; what is said at the end is followed from there.
  useLayoutEffect(() => {
    const before = first.current === undefined ? -1 : words.findIndex(({ key }) => key === first.current);
    first.current = words[0]?.key;
    if (before > 0) virtualizer.scrollToIndex(before, { align: 'start' });
    else if (at_end.current && words.length > 0)
      virtualizer.scrollToIndex(words.length - 1, { align: 'end' });
  }, [words, virtualizer]);
  return (
    <div
      ref={scroller}
      className={styles.words}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keys.
      tabIndex={0}
      role="log"
      aria-label="Transcript"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        at_end.current = scrollHeight - scrollTop - clientHeight < NEAR;
      }}
    >
      {from > 0 && (
        <Button onClick={earlier} disabled={reading}>
          Earlier
        </Button>
      )}
      {words.length === 0 && <p className={styles.none}>Nothing was said yet.</p>}
      <div className={styles.items} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const said = words[index];
          return said === undefined ? null : (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Word said={said} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const WHO = { person: 'Person', agent: 'Agent', tool: 'Result' } as const;

function Word({ said: { at, who, tool, text, begins_turn } }: { said: Said }): ReactNode {
  const today = useToday();
  const quiet = who === 'tool' || tool !== null;
  return (
    <article className={styles.word} data-who={who} data-quiet={quiet} data-turn={begins_turn}>
      <p className={styles.who}>
        <b>{tool ?? WHO[who]}</b> <time>{fullMoment(at, today)}</time>
      </p>
      {quiet ? <Folded text={text} /> : <p className={styles.text}>{text}</p>}
    </article>
  );
}

const LINES = 3;

/** The first lines of what a tool was asked or answered, and all of it when that is wanted. */
function Folded({ text }: { text: string }): ReactNode {
  const [open, setOpen] = useState(false);
  const lines = text.split('\n');
  const long = lines.length > LINES || text.length > 300;
  const shown = open || !long ? text : lines.slice(0, LINES).join('\n').slice(0, 300);
  return (
    <>
      <pre className={styles.tool}>{shown}</pre>
      {long && (
        <button type="button" className={styles.more} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Less' : `All of it, ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`}
        </button>
      )}
    </>
  );
}
