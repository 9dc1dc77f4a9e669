import { type ReactNode, useEffect, useState } from 'react';
import { endWords } from '../../../src/contract/end-words.ts';
import { get } from '../lib/api.ts';
import { onLedger } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { lifePath, pathAt, sessionsPath } from '../lib/paths.ts';
import { readAgain, useComposite, useRead } from '../lib/reads.ts';
import { go } from '../lib/url.ts';
import { lifeLine } from '../model/life.ts';
import { sentFiles } from '../model/sent-files.ts';
import { linesOf, pastSessions, type Sessions } from '../model/sessions.ts';
import type { Life, LifeEntry, SentFiles, Spend } from '../model/wire.ts';
import { countText, fullMoment } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './History.module.css';
import { useOrigin } from './origin.ts';
import { Facts, Part, Reading, Row, Several } from './Part.tsx';
import { SentFileView } from './SentFileView.tsx';

/** A ledger that grows all the time is read again this often at most. */
const SOON_MS = 1_000;
const SPEND_MS = 60_000;

/** Reads what the ledgers tell of a fiber again when they or its document have changed. */
export function useLedgerReads(uid: string | null, digest: string | undefined): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: its end and its verdict are told by the document.
  useEffect(() => {
    if (uid !== null) readAgain(lifePath(uid));
  }, [uid, digest]);
  useEffect(() => {
    if (uid === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onLedger(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        readAgain(sessionsPath(uid));
        for (const path of ['/fiber-life', '/sent-files'])
          readAgain(`${path}?uid=${encodeURIComponent(uid)}`);
      }, SOON_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [uid]);
}

/** The conversations of the fiber; each opens its transcript. */
export function SessionsPart({ uid, running }: { uid: string; running: string | null }): ReactNode {
  const today = useToday();
  const read = useComposite<Sessions>(sessionsPath(uid));
  const sessions = pastSessions(linesOf(read.value));
  return (
    <Part title="Transcripts" note={sessions.length || undefined}>
      <Reading read={read}>
        {() =>
          sessions.length === 0 ? (
            <p className={styles.none}>No worker has run yet.</p>
          ) : (
            <Several
              items={sessions}
              keyOf={({ session }) => session}
              item={({ session, began_at, resumed_at, ended }) => (
                <Row data-session={session} onClick={() => go({ part: `transcript ${session}` })}>
                  <Glyph
                    state={
                      session === running ? 'working' : ended?.reason === 'handoff' ? 'accepted' : 'parked'
                    }
                  />
                  <span>{fullMoment(resumed_at ?? began_at, today)}</span>
                  <em>{session === running ? 'live' : ended === null ? '' : endWords(ended.reason)}</em>
                </Row>
              )}
            />
          )
        }
      </Reading>
    </Part>
  );
}

export function SentFilesPart({ uid }: { uid: string }): ReactNode {
  const read = useRead<SentFiles>(pathAt(useOrigin(), `/sent-files?uid=${encodeURIComponent(uid)}`));
  const files = sentFiles(read.value?.sent_files ?? []);
  if (read.value !== undefined && files.length === 0 && read.refusal === null) return null;
  return (
    <Part title="Sent files" note={files.length || undefined}>
      <Reading read={read}>
        {() => (
          <Several items={files} keyOf={({ path }) => path} item={(file) => <SentFileView file={file} />} />
        )}
      </Reading>
    </Part>
  );
}

export function SpendPart({ uid }: { uid: string }): ReactNode {
  const path = pathAt(useOrigin(), `/spend?uid=${encodeURIComponent(uid)}`);
  const read = useRead<Spend>(path, { every_ms: SPEND_MS });
  if (read.value?.sessions.length === 0) return null;
  return (
    <Part title="Spend">
      <Reading read={read}>
        {({ total, unknown, sessions }) => (
          <>
            {total !== null && (
              <Facts
                rows={[
                  ['Written', `${countText(total.output)} tokens`],
                  [
                    'Read',
                    `${countText(total.input + total.cache_write)}, ${countText(total.cache_read)} of the cache`,
                  ],
                ]}
              />
            )}
            {unknown > 0 && (
              <p className={styles.none}>
                {unknown === sessions.length
                  ? 'Not known'
                  : `Not known of ${unknown} of ${sessions.length} sessions`}
              </p>
            )}
          </>
        )}
      </Reading>
    </Part>
  );
}

/** What happened to the fiber, the newest first. */
export function LifePart({ uid }: { uid: string }): ReactNode {
  const path = pathAt(useOrigin(), lifePath(uid));
  const read = useRead<Life>(path);
  const [older, setOlder] = useState<readonly LifeEntry[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const [earlier, setEarlier] = useState<number | null>(null);
  const newest = read.value?.entries ?? [];
  const first = (older[0] ?? newest[0])?.at;
  const left = earlier ?? read.value?.earlier ?? 0;
  const more = async () => {
    const answer = await get<Life>(`${path}&before_ms=${first}`);
    setFault(answer.ok ? null : answer.message);
    if (!answer.ok) return;
    setOlder([...answer.value.entries, ...older]);
    setEarlier(answer.value.earlier);
  };
  const from = newest[0]?.at ?? Number.POSITIVE_INFINITY;
  const entries = [...older.filter(({ at }) => at < from), ...newest].toReversed();
  return (
    <Part title="Life">
      <Reading read={read}>
        {() => (
          <>
            {entries.length === 0 && <p className={styles.none}>Nothing has happened yet.</p>}
            <ol className={styles.life}>
              {withKeys(entries).map(([key, entry]) => (
                <LifeView key={key} entry={entry} />
              ))}
            </ol>
            {fault !== null && <p className={styles.fault}>{fault}</p>}
            {left > 0 && <Button onClick={() => void more()}>Earlier</Button>}
          </>
        )}
      </Reading>
    </Part>
  );
}

/** Several things may happen at one time. */
function withKeys(entries: readonly LifeEntry[]): [string, LifeEntry][] {
  const seen = new Map<string, number>();
  return entries.map((entry) => {
    const name = `${entry.at} ${entry.kind}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return [`${name} ${nth}`, entry];
  });
}

function LifeView({ entry }: { entry: LifeEntry }): ReactNode {
  const today = useToday();
  const { tone, text, detail } = lifeLine(entry);
  return (
    <li data-tone={tone}>
      <time dateTime={new Date(entry.at).toISOString()}>{fullMoment(entry.at, today)}</time>
      <p>
        {text} {detail !== null && <em>{detail}</em>}
      </p>
    </li>
  );
}
