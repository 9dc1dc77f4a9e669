import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react';
import { keepDraft, keptDraft } from '../lib/drafts.ts';
import { type BodyDraft, isChanged, startEdit } from '../model/body-edit.ts';
import { targetOf } from '../model/links.ts';
import { referenceOf } from '../model/sheet.ts';
import type { FiberReply } from '../model/wire.ts';
import { Boundary } from '../ui/Boundary.tsx';
import { Button } from '../ui/Button.tsx';
import styles from './BodyPart.module.css';
import { draftKey, useOrigin } from './origin.ts';
import { Part } from './Part.tsx';

const BodyEditor = lazy(() => import('./BodyEditor.tsx'));
const Markdown = lazy(() => import('./markdown/Markdown.tsx'));

type BodyPartProps = {
  /** The document as it was read, with its body. */
  document: FiberReply['fiber'];
  /** Whether a worker may be writing into it. */
  worker: boolean;
  fiber_at(path: string): string | undefined;
  /** Reads the document again. */
  again(): void;
};

/** The body of the document, as a page and as a text to edit. */
export function BodyPart({ document, worker, fiber_at, again }: BodyPartProps): ReactNode {
  const { path, body = '', digest } = document;
  const key = draftKey('body', referenceOf(document), useOrigin());
  const [draft, setDraft] = useState<BodyDraft | null>(() => keptDraft<BodyDraft>(key));
  const [kept, setKept] = useState(true);
  const change = (next: BodyDraft | null) => {
    setDraft(next);
    setKept(keepDraft(key, next !== null && isChanged(next) ? next : null));
  };
  const resolve = useCallback((href: string) => targetOf(href, path, fiber_at), [path, fiber_at]);
  if (draft !== null)
    return (
      <Boundary what="The editor">
        <Suspense>
          <BodyEditor
            reference={referenceOf(document)}
            draft={draft}
            kept={kept}
            worker={worker}
            onChange={change}
            onDone={() => {
              change(null);
              again();
            }}
          />
        </Suspense>
      </Boundary>
    );
  return (
    <Part
      title="Body"
      action={
        <Button tone="quiet" aria-label="Edit the body" onClick={() => change(startEdit({ body, digest }))}>
          Edit
        </Button>
      }
    >
      {body.trim() === '' ? (
        <p className={styles.empty}>Nothing is written yet.</p>
      ) : (
        <Boundary what="The body">
          <Suspense>
            <Markdown text={body} resolve={resolve} />
          </Suspense>
        </Boundary>
      )}
    </Part>
  );
}
