import type { ReactNode } from 'react';
import { putAway, type Toast, useToasts } from '../lib/toasts.ts';
import { Button } from '../ui/Button.tsx';
import { Phrase } from '../ui/Sentence.tsx';
import styles from './Toasts.module.css';

export function Toasts(): ReactNode {
  const toasts = useToasts();
  return (
    <div className={styles.toasts} role="status">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
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
