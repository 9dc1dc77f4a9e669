import type { ReactNode } from 'react';
import page from '../../../ops/phone.md?raw';
import Markdown from '../fiber/markdown/Markdown.tsx';
import type { Target } from '../model/links.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import styles from './MeetingSheet.module.css';

/** What is read of it here: the title is that of the dialog, and pictures of the documentation are not served. */
const TEXT = page.replace(/^# .*\n/, '').replace(/<picture>[\s\S]*?<\/picture>\n/g, '');

/** Other pages of the documentation are not served. */
const resolve = (href: string): Target =>
  /^https:/.test(href)
    ? { kind: 'web', url: href }
    : href.startsWith('#')
      ? { kind: 'here', id: href.slice(1) }
      : { kind: 'nothing' };

/** What the documentation says of phones. */
export default function PhoneHelp({ onClose }: { onClose(): void }): ReactNode {
  return (
    <Dialog title="A phone over HTTPS" onClose={onClose}>
      {(id) => (
        <div className={styles.sheet}>
          <header className={styles.head}>
            <h2 id={id} tabIndex={-1} data-autofocus>
              A phone over HTTPS
            </h2>
            <Button tone="quiet" onClick={onClose}>
              Close
            </Button>
          </header>
          <Markdown text={TEXT} resolve={resolve} />
        </div>
      )}
    </Dialog>
  );
}
