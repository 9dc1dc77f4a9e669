import { type ReactNode, useMemo } from 'react';
import { SENT_FILES_PATH } from '../lib/paths.ts';
import { useRead } from '../lib/reads.ts';
import { fileUrl } from '../model/links.ts';
import { filesSent, type Sent } from '../model/sent-files.ts';
import type { SentFilesComposite } from '../model/wire.ts';
import styles from './SentChips.module.css';

/** How often what was sent is asked for again while a card of it is shown. */
const EVERY_MS = 60_000;
/** More are counted; the sheet of the fiber lists them all. */
const MOST = 2;

/** The files that the last run of a fiber sent, the newest first. Each opens in a tab of its own. */
export default function SentChips({ sent, tab_stop }: { sent: Sent; tab_stop: boolean }): ReactNode {
  const { value } = useRead<SentFilesComposite>(SENT_FILES_PATH, { every_ms: EVERY_MS });
  const { uid, since } = sent;
  const files = useMemo(
    () => (value === undefined ? [] : filesSent(value, { uid, since })),
    [value, uid, since],
  );
  if (files.length === 0) return null;
  const more = files.length - MOST;
  return (
    <div className={styles.files}>
      {files.slice(0, MOST).map(({ path, name, origin }) => (
        <a
          key={`${origin}:${path}`}
          className={styles.file}
          href={fileUrl(path, origin)}
          target="_blank"
          rel="noopener noreferrer"
          tabIndex={tab_stop ? 0 : -1}
          title={path}
        >
          <svg width="13" height="13" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M4 1.8h5l3 3v9.4H4z" />
            <path d="M9 1.8v3h3" />
          </svg>
          <span>{name}</span>
        </a>
      ))}
      {more > 0 && <span className={styles.more}>and {more} more</span>}
    </div>
  );
}
