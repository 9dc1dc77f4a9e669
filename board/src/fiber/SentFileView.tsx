import { type ReactNode, useState } from 'react';
import { useToday } from '../lib/clock.ts';
import { pathAt } from '../lib/paths.ts';
import { useRead } from '../lib/reads.ts';
import { fileUrl } from '../model/links.ts';
import { type SentFile, viewOf } from '../model/sent-files.ts';
import type { FileInfo } from '../model/wire.ts';
import { fullMoment, sizeText } from '../model/wording.ts';
import styles from './History.module.css';
import { useOrigin } from './origin.ts';
import { Reading, Row } from './Part.tsx';

/** A file that a worker sent: its name, and once it is opened what is in it. */
export function SentFileView({ file }: { file: SentFile }): ReactNode {
  const today = useToday();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Row aria-expanded={open} data-file={file.path} onClick={() => setOpen(!open)}>
        <span>{file.name}</span>
        <em>{fullMoment(file.at, today)}</em>
      </Row>
      {open && <Preview file={file} />}
    </>
  );
}

function Preview({ file: { path, name } }: { file: SentFile }): ReactNode {
  const origin = useOrigin();
  const read = useRead<FileInfo>(pathAt(origin, `/file-info?path=${encodeURIComponent(path)}`));
  const url = fileUrl(path, origin);
  return (
    <div className={styles.preview}>
      <Reading read={read}>
        {({ exists, kind, size, content_type }) => {
          if (!exists) return <p className={styles.none}>{path} is not there any more.</p>;
          if (kind !== 'file') return <p className={styles.none}>{path} is no file.</p>;
          const view = viewOf(content_type, path);
          return (
            <>
              {view === 'picture' && <img src={url} alt={name} />}
              {/* Without any right: no script, no form, no window, and an origin of its own. */}
              {view === 'page' && <iframe src={url} sandbox="" title={name} referrerPolicy="no-referrer" />}
              <a href={url} target="_blank" rel="noopener noreferrer">
                Open {name}
              </a>
              {size !== null && <span> {sizeText(size)}</span>}
            </>
          );
        }}
      </Reading>
    </div>
  );
}
