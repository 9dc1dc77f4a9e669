import type { ReactNode } from 'react';
import { go } from '../lib/url.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './PartDialog.module.css';

type PartDialogProps = {
  /** Names the dialog until its content shows its own title. */
  name: string;
  title: string;
  /** What it is, in a line below the title. */
  facts: ReactNode;
  children: ReactNode;
};

/** A part of a fiber that is open over its sheet, as the address says. */
export function PartDialog({ name, title, facts, children }: PartDialogProps): ReactNode {
  return (
    <Dialog title={name} shape="side" onClose={close}>
      {(title_id) => (
        <div className={styles.content}>
          <header className={styles.head}>
            <div>
              <h2 id={title_id} tabIndex={-1} data-autofocus>
                {title}
              </h2>
              <p>{facts}</p>
            </div>
            <Button tone="quiet" onClick={close}>
              Close
            </Button>
          </header>
          {children}
        </div>
      )}
    </Dialog>
  );
}

function close(): void {
  go({ part: null });
}
