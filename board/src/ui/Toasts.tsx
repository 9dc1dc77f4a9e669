import { type ReactNode, type RefObject, useRef } from 'react';
import { useKeys } from '../lib/keys.ts';
import { useTopmostDialog } from '../lib/open-dialogs.ts';
import { putAway, type Toast, undoLast, useToasts } from '../lib/toasts.ts';
import { Button } from './Button.tsx';
import { Phrase } from './Sentence.tsx';
import styles from './Toasts.module.css';

/**
 * The toasts, in the dialog that it is given while that is the topmost one; without a dialog, in the page while none is
 * open. What is behind an open dialog can neither be seen nor reached. It is there also without toasts, since a screen
 * reader tells only what comes into an element that it knows.
 */
export function Toasts({ dialog }: { dialog?: RefObject<HTMLDialogElement | null> }): ReactNode {
  const root = useRef<HTMLDivElement>(null);
  const toasts = useToasts();
  const topmost = useTopmostDialog();
  const reached = topmost === undefined ? dialog === undefined : topmost === dialog?.current;
  useKeys({ u: undoLast }, root);
  return (
    <div ref={root} className={styles.toasts} role="status">
      {reached && toasts.map((toast) => <ToastView key={toast.id} toast={toast} />)}
    </div>
  );
}

function ToastView({ toast: { id, text, tone, undo, action } }: { toast: Toast }): ReactNode {
  return (
    <div className={styles.toast} data-tone={tone}>
      <p>
        <Phrase>{text}</Phrase>
      </p>
      {undo !== undefined && (
        <Button
          shortcut="u"
          onClick={() => {
            putAway(id);
            undo();
          }}
        >
          Undo
        </Button>
      )}
      {action !== undefined && (
        <Button
          onClick={() => {
            putAway(id);
            action.run();
          }}
        >
          {action.text}
        </Button>
      )}
      <Button tone="quiet" onClick={() => putAway(id)}>
        Dismiss
      </Button>
    </div>
  );
}
