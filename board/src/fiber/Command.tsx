import { type ReactNode, useState } from 'react';
import { Button } from '../ui/Button.tsx';
import styles from './Command.module.css';

/** A command for a terminal, to be copied. */
export function Command({ text }: { text: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  // A page over plain HTTP from another machine has no clipboard; the text can be selected as a whole.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  return (
    <p className={styles.command}>
      <code>{text}</code>
      {clipboard !== undefined && (
        <Button
          tone="quiet"
          aria-label={`Copy ${text}`}
          onClick={() => {
            clipboard.writeText(text).then(
              () => setCopied(true),
              () => setCopied(false),
            );
          }}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </p>
  );
}
