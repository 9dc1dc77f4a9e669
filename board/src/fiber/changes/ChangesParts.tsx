import { type ReactNode, useEffect } from 'react';
import { lifePath, pathAt } from '../../lib/paths.ts';
import { useRead } from '../../lib/reads.ts';
import { go, useWhere } from '../../lib/url.ts';
import { commitsIn } from '../../model/life.ts';
import { referenceOf } from '../../model/sheet.ts';
import { changedFiles, showsUncommitted, uncommittedSum, uncommittedWords } from '../../model/uncommitted.ts';
import type { FiberRow, Life, Uncommitted } from '../../model/wire.ts';
import { Path } from '../../ui/Sentence.tsx';
import { useOrigin } from '../origin.ts';
import { Part, Reading, Row, Several } from '../Part.tsx';
import styles from './ChangesParts.module.css';
import { CommitDialog } from './CommitDialog.tsx';
import { UncommittedDialog } from './UncommittedDialog.tsx';

const AGAIN_MS = 15_000;
/** How the address names a commit, or a file with what is uncommitted in it, that is open over the sheet. */
const OVER = /^(commit|uncommitted) (.+)$/s;

/** What the workers of a fiber changed in its folder, committed and not. */
export default function ChangesParts({ row, gone }: { row: FiberRow; gone: boolean }): ReactNode {
  const asked = `/uncommitted?fiber=${encodeURIComponent(referenceOf(row))}`;
  const origin = useOrigin();
  const [, over, named = ''] = OVER.exec(useWhere().part ?? '') ?? [];
  return (
    <>
      {!gone && showsUncommitted(row) && <UncommittedPart row={row} path={pathAt(origin, asked)} />}
      {row.uid !== null && <CommitsPart uid={row.uid} />}
      {over === 'commit' && <CommitDialog key={named} sha={named} />}
      {over === 'uncommitted' && (
        <UncommittedDialog row={row} path={pathAt(origin, `${asked}&patch=1`)} file={named} />
      )}
    </>
  );
}

/** What its folder has that no commit has; each file opens what changed in it. */
function UncommittedPart({ row, path }: { row: FiberRow; path: string }): ReactNode {
  const running = row.runtime !== undefined;
  const read = useRead<Uncommitted>(path, running ? { every_ms: AGAIN_MS } : {});
  const { again, value } = read;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of a worker, and what it hands off, follow its last change.
  useEffect(() => again(), [running, row.digest]);
  return (
    <Part title="Uncommitted" note={(value && uncommittedSum(value)) ?? undefined}>
      <Reading read={read}>
        {(told) => (
          <>
            <p className={styles.words}>{uncommittedWords(told, row)}</p>
            <Several
              items={changedFiles(told.work)}
              // One that was taken out of the index alone is told as deleted and as untracked.
              keyOf={(file) => `${file.words} ${file.path}`}
              item={({ path: name, words }) => (
                <Row data-uncommitted={name} onClick={() => go({ part: `uncommitted ${name}` })}>
                  <span className={styles.path}>
                    <Path>{name}</Path>
                  </span>
                  <em>{words}</em>
                </Row>
              )}
            />
            {told.work.state === 'read' && told.work.truncated && (
              <p className={styles.words}>There is more than what is shown.</p>
            )}
          </>
        )}
      </Reading>
    </Part>
  );
}

/** The commits of its workers; each opens what it changed. */
function CommitsPart({ uid }: { uid: string }): ReactNode {
  const read = useRead<Life>(pathAt(useOrigin(), lifePath(uid)));
  const commits = commitsIn(read.value?.entries ?? []);
  if (commits.length === 0) return null;
  return (
    <Part title="Commits" note={commits.length}>
      <Several
        items={commits}
        keyOf={({ sha }) => sha}
        item={({ subject, sha, insertions, deletions, repo }) => (
          <Row
            title={`${sha.slice(0, 12)} in ${repo}`}
            data-commit={sha}
            onClick={() => go({ part: `commit ${sha}` })}
          >
            <span>{subject}</span>
            <em>
              +{insertions} −{deletions}
            </em>
          </Row>
        )}
      />
    </Part>
  );
}
