import '@fontsource-variable/atkinson-hyperlegible-mono/wght.css';
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef } from 'react';
import { gestureKeys } from '../gestures/use-card-keys.ts';
import { useShownCopy } from '../gestures/writes.ts';
import { useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { useKeys } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { KeepKeys, Late, part as latePart } from '../lib/parts.tsx';
import { fiberPath } from '../lib/paths.ts';
import { useRead } from '../lib/reads.ts';
import { go, useWhere, where } from '../lib/url.ts';
import { aimAt } from '../model/aim.ts';
import { cardOf } from '../model/card.ts';
import { keyOf } from '../model/feed-copy.ts';
import { agedOf } from '../model/hosts.ts';
import { isOutdated, rowOf } from '../model/sheet.ts';
import type { FiberReply, FiberRow } from '../model/wire.ts';
import { sentence } from '../model/wording.ts';
import { Boundary } from '../ui/Boundary.tsx';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Band } from './Band.tsx';
import { BodyPart } from './BodyPart.tsx';
import styles from './FiberSheet.module.css';
import { Head } from './Head.tsx';
import { LifePart, SentFilesPart, SessionsPart, SpendPart, useLedgerReads } from './History.tsx';
import { MessagesPart } from './MessagesPart.tsx';
import { Outcome } from './Outcome.tsx';
import { SheetOrigin } from './origin.ts';
import { Reading } from './Part.tsx';
import { Reply } from './Reply.tsx';
import { RosterPart } from './RosterPart.tsx';
import { RunPart } from './RunPart.tsx';
import { WhyPart } from './WhyPart.tsx';

const TranscriptDialog = lazy(() => import('./transcript/TranscriptDialog.tsx'));
const CHANGES = latePart(
  () => import('./changes/ChangesParts.tsx'),
  () => go({ part: null }),
);
const KEPT_TEXTS = latePart(() => import('./KeptTexts.tsx'));
const RECORD_MEETING = latePart(() => import('./RecordMeeting.tsx'));
const WAKE = latePart(() => import('../time/Wake.tsx'));
/** How the address names what is open over the sheet: a transcript, a commit or a file. */
const OVER = /^(transcript|commit|uncommitted) (.+)$/;

function close(): void {
  go({ fiber: null, part: null });
}

function watch(): void {
  go({ part: 'screen' });
}

/** A fiber by its id or uid, and its host; null for the one that answers. */
type FiberOf = { fiber: string; origin: string | null };

/** Everything of one fiber, over the view that it was opened from. */
export default function FiberSheet({ fiber, origin }: FiberOf): ReactNode {
  const { part } = useWhere();
  return (
    <Dialog title="Fiber" shape="side" onClose={close}>
      {(title_id) => (
        <SheetOrigin key={`${origin} ${fiber}`} value={origin}>
          <Sheet fiber={fiber} origin={origin} title_id={title_id} />
          {part === 'reply' && <KeepKeys />}
        </SheetOrigin>
      )}
    </Dialog>
  );
}

function Sheet({ fiber, origin, title_id }: FiberOf & { title_id: string }): ReactNode {
  const followed = useFollowed();
  const phone = usePhone();
  const today = useToday();
  const root = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { part } = useWhere();
  const copy = useShownCopy(followed.copy);
  const listed = rowOf(copy, fiber, origin);
  const read = useRead<FiberReply>(fiberPath(fiber, origin));
  const document = read.value?.fiber;
  // What was last known stays, so that a reader does not lose what they read.
  const last = useRef<FiberRow | undefined>(undefined);
  last.current = listed ?? last.current ?? (document && { ...document, origin: origin ?? copy?.host ?? '' });
  const row = last.current;
  const moved = listed === undefined && row?.uid != null ? rowOf(copy, row.uid, origin) : undefined;
  const gone = listed === undefined && copy !== null && read.refusal?.code === 'fiber_not_found';

  const { again } = read;
  const listed_digest = copy === null ? undefined : (listed?.digest ?? null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new digest, on either side, is one reason to read again.
  useEffect(() => {
    if (isOutdated(document, listed_digest)) again();
  }, [listed_digest, document?.digest]);
  useEffect(() => {
    if (moved !== undefined) go({ fiber: moved.id, origin }, { replace: true });
  }, [moved, origin]);
  const known = row !== undefined;
  const refused = read.refusal !== null;
  useEffect(() => {
    if ((!known && !refused) || where().part !== 'reply') return;
    field.current?.focus();
    go({ part: null }, { replace: true });
  }, [known, refused]);
  useKeys(
    { ...gestureKeys(() => (row === undefined ? null : aimAt(row))), r: () => field.current?.focus() },
    root,
  );
  const uid = row?.uid ?? null;
  useLedgerReads(uid, listed?.digest);
  const rows = copy?.rows;
  const host = row?.origin ?? '';
  const fiber_at = useCallback((path: string) => rows?.get(keyOf({ origin: host, path }))?.id, [rows, host]);

  if (row === undefined)
    return (
      <div ref={root} className={styles.missing}>
        <h2 id={title_id} tabIndex={-1} data-autofocus>
          {read.refusal === null ? 'Fiber' : 'This fiber cannot be shown'}
        </h2>
        <Reading read={read}>{() => null}</Reading>
        {read.refusal !== null && <Late of={KEPT_TEXTS} with={{ fiber, origin }} meanwhile={null} />}
        <Button onClick={close}>Close</Button>
      </div>
    );
  const card = cardOf(row, today, copy === null ? null : agedOf(copy, row));
  const { wake } = card;
  const running = row.runtime?.session_uuid ?? null;
  const [, over, named = ''] = OVER.exec(part ?? '') ?? [];
  const change = over !== undefined && over !== 'transcript';
  const waits = row.runtime !== undefined && <Band card={card} />;
  const why = row.runtime === undefined && row.status !== 'closed' && !gone && <WhyPart row={row} />;
  // Where all of it is one column, that something keeps it from running is read first.
  const why_first = phone && row.status === 'active';
  return (
    <div ref={root} className={styles.sheet} data-fiber-sheet={row.id}>
      <Head row={row} followed={followed} title_id={title_id} gone={gone} watch={watch} onClose={close} />
      {gone && (
        <p className={styles.gone} role="alert">
          {sentence(read.refusal?.message ?? '')} What you see is what was last known of it.
        </p>
      )}
      <div className={styles.parts}>
        <div className={styles.main}>
          {wake !== null && (
            <div className={styles.wake}>
              <Late of={WAKE} with={{ wake }} meanwhile={null} />
            </div>
          )}
          {phone && waits}
          {why_first && why}
          <Outcome row={row} />
          <Late of={CHANGES} with={{ row, gone }} meanwhile={change ? undefined : null} takes_keys={change} />
          {document === undefined ? (
            <Reading read={read}>{() => null}</Reading>
          ) : (
            <BodyPart
              document={document}
              worker={row.runtime !== undefined}
              fiber_at={fiber_at}
              again={again}
            />
          )}
          <MessagesPart row={row} />
          {uid !== null && <LifePart uid={uid} />}
        </div>
        <aside className={styles.side} aria-label="About the fiber">
          {!phone && waits}
          <div className={styles.facts}>
            {!why_first && why}
            <RosterPart row={row} />
            <RunPart row={row} />
            {!gone && <Late of={RECORD_MEETING} with={{ row }} meanwhile={null} />}
            {uid !== null && (
              <>
                <SentFilesPart uid={uid} />
                <SessionsPart uid={uid} running={running} />
                <SpendPart uid={uid} />
              </>
            )}
          </div>
        </aside>
      </div>
      <Reply row={row} field={field} gone={gone} />
      {over === 'transcript' && (
        <Boundary key={named} what="The transcript">
          <Suspense fallback={<KeepKeys />}>
            <TranscriptDialog session={named} title={row.name} live={named === running} />
          </Suspense>
        </Boundary>
      )}
    </div>
  );
}
