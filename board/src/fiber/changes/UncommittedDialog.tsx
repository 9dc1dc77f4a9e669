import { type ReactNode, useEffect, useRef } from 'react';
import { useRead } from '../../lib/reads.ts';
import { fileUrl } from '../../model/links.ts';
import { uncommittedSum, uncommittedWords } from '../../model/uncommitted.ts';
import type { FiberRow, Uncommitted } from '../../model/wire.ts';
import { useOrigin } from '../origin.ts';
import { Reading } from '../Part.tsx';
import { PartDialog } from '../PartDialog.tsx';
import styles from './Patch.module.css';
import { PatchFiles } from './PatchFiles.tsx';

type UncommittedDialogProps = {
  row: FiberRow;
  /** Answers what is uncommitted, with the lines. */
  path: string;
  /** The one that was asked for. */
  file: string;
};

/** What the folder of a fiber has that no commit has, line by line. */
export function UncommittedDialog({ row, path, file }: UncommittedDialogProps): ReactNode {
  const origin = useOrigin();
  const read = useRead<Uncommitted>(path);
  const content = useRef<HTMLDivElement>(null);
  const known = read.value !== undefined;
  useEffect(() => {
    if (known) content.current?.querySelector(`[data-file="${CSS.escape(file)}"]`)?.scrollIntoView();
  }, [known, file]);
  return (
    <PartDialog name="Uncommitted" title="Uncommitted" facts={read.value?.folder ?? row.name}>
      <div className={styles.patch} ref={content}>
        <Reading read={read}>
          {(told) => {
            const { work } = told;
            return (
              <>
                <p className={styles.body}>{uncommittedWords(told, row)}</p>
                <p className={styles.sum}>{uncommittedSum(told)}</p>
                {work.state === 'read' && (
                  <>
                    <PatchFiles files={work.files} />
                    {work.untracked.map((name) => (
                      <p key={name} className={styles.file} data-file={name}>
                        <b>{name}</b>
                        <em>untracked</em>
                        {!name.endsWith('/') && (
                          <a
                            href={fileUrl(`${work.repo}/${name}`, origin)}
                            target="_blank"
                            rel="noopener noreferrer"
                          >
                            Open it
                          </a>
                        )}
                      </p>
                    ))}
                    {work.truncated && (
                      <p className={styles.note}>
                        There is more than what is shown. All of it: <code>git diff HEAD</code>
                      </p>
                    )}
                  </>
                )}
              </>
            );
          }}
        </Reading>
      </div>
    </PartDialog>
  );
}
