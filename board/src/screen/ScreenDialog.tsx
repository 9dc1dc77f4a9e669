import { type ReactNode, useRef } from 'react';
import { useFollowed } from '../lib/board.ts';
import { leavePart } from '../lib/url.ts';
import { rowOf } from '../model/sheet.ts';
import { stateOf } from '../model/states.ts';
import type { FiberRow } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './ScreenDialog.module.css';
import { WorkerScreen } from './WorkerScreen.tsx';

/** A fiber by its id or uid, and its host; null for the one that answers. */
type FiberOf = { fiber: string; origin: string | null };

/** The screen of the worker of one fiber, over the whole page. */
export default function ScreenDialog({ fiber, origin }: FiberOf): ReactNode {
  return (
    <Dialog title="Screen" shape="wide" onClose={leavePart}>
      {(title_id) => <Content key={`${origin} ${fiber}`} fiber={fiber} origin={origin} title_id={title_id} />}
    </Dialog>
  );
}

type Shown = { run_id: string; session: string };

function Content({ fiber, origin, title_id }: FiberOf & { title_id: string }): ReactNode {
  const { copy } = useFollowed();
  const row = rowOf(copy, fiber, origin);
  // A worker that has ended is gone from its row, and its last screen stays.
  const last = useRef<Shown | null>(null);
  const { runtime } = row ?? {};
  if (runtime?.mux_session != null) last.current = { run_id: runtime.run_id, session: runtime.mux_session };
  const shown = last.current;
  const away = origin === copy?.host ? null : origin;
  return (
    <>
      <header className={styles.head}>
        <div className={styles.words}>
          <h2 className={styles.title} id={title_id}>
            {row !== undefined && <Glyph state={stateOf(row)} />}
            <span>{row?.name ?? fiber}</span>
          </h2>
          <p className={styles.facts}>
            <span>Screen of its worker</span>
            {runtime !== undefined && <b>{runtime.agent}</b>}
            {shown !== null && (
              <span className={styles.type}>
                to type there:{' '}
                <code>
                  svc attach {row?.id ?? fiber}
                  {away === null ? '' : ` --host ${away}`}
                </code>
              </span>
            )}
          </p>
        </div>
        <Button tone="quiet" onClick={leavePart}>
          Close
        </Button>
      </header>
      {shown === null ? (
        <p className={styles.none}>{copy === null ? 'Reading the fibers …' : noScreen(row)}</p>
      ) : (
        <WorkerScreen key={shown.run_id} session={shown.session} origin={away} />
      )}
    </>
  );
}

function noScreen(row: FiberRow | undefined): string {
  if (row === undefined) return 'There is no such fiber on this board.';
  if (row.runtime === undefined) return 'No worker runs for this fiber now, so there is no screen to show.';
  return 'Its worker is a conversation in an app and has no terminal. Open it there.';
}
