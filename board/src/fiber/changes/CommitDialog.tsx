import type { ReactNode } from 'react';
import { useToday } from '../../lib/clock.ts';
import { pathAt } from '../../lib/paths.ts';
import { useRead } from '../../lib/reads.ts';
import { messageParts, sumText } from '../../model/patch.ts';
import type { CommitPatch } from '../../model/wire.ts';
import { fullMoment } from '../../model/wording.ts';
import { useOrigin } from '../origin.ts';
import { Reading } from '../Part.tsx';
import { PartDialog } from '../PartDialog.tsx';
import styles from './Patch.module.css';
import { PatchFiles } from './PatchFiles.tsx';

/** What a commit of a worker changed: its message, and its files line by line. */
export function CommitDialog({ sha }: { sha: string }): ReactNode {
  const today = useToday();
  const read = useRead<CommitPatch>(pathAt(useOrigin(), `/commits/patch?sha=${encodeURIComponent(sha)}`));
  const patch = read.value;
  const short = sha.slice(0, 12);
  const [subject, body] = messageParts(patch ?? { message: '', sha });
  const facts =
    patch === undefined
      ? short
      : `${short}, ${patch.author.name}, ${fullMoment(patch.committed_at, today)}, ${patch.repo}`;
  return (
    <PartDialog name="Commit" title={subject} facts={facts}>
      <div className={styles.patch}>
        <Reading read={read}>
          {({ files, truncated }) => (
            <>
              {body !== '' && <p className={styles.body}>{body}</p>}
              <p className={styles.sum}>{sumText(files)}</p>
              <PatchFiles files={files} />
              {truncated && (
                <p className={styles.note}>
                  This commit is longer than what is shown. All of it: <code>git show {short}</code>
                </p>
              )}
            </>
          )}
        </Reading>
      </div>
    </PartDialog>
  );
}
