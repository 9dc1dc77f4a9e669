import { type ReactNode, useEffect, useRef } from 'react';
import type { Aim } from '../model/aim.ts';
import type { GestureId } from '../model/gestures.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './Forms.module.css';
import { close, gesturesAt, runGesture } from './gestures.ts';
import { feedRow } from './writes.ts';

/** Asks once before what ends a worker, or cannot be taken back. */
export default function ConfirmDialog({ aim, id }: { aim: Aim; id: GestureId }): ReactNode {
  const { row_key } = aim;
  const gesture = gesturesAt(row_key).find((one) => one.id === id);
  const actions = useRef<HTMLDivElement>(null);
  useEffect(() => actions.current?.querySelector<HTMLElement>('button:last-child')?.focus(), []);
  return (
    <Dialog
      title={`${gesture?.verb ?? 'Not possible any more'}: ${feedRow(row_key)?.name ?? ''}`}
      onClose={close}
    >
      <div className={styles.form}>
        <p>{gesture?.refused ?? gesture?.says ?? 'It has changed meanwhile.'}</p>
        <div className={styles.actions} ref={actions}>
          <Button tone="quiet" onClick={close}>
            Cancel
          </Button>
          {gesture !== undefined && gesture.refused === null && (
            <Button tone="fault" onClick={() => runGesture(aim, id, { confirmed: true })}>
              {gesture.verb}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
