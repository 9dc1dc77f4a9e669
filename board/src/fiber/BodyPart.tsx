import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from 'react';
import { keepDraft, keptDraft, useDraft } from '../lib/drafts.ts';
import { KeepKeys } from '../lib/parts.tsx';
import { type BodyDraft, isChanged, type OnDisk, startEdit } from '../model/body-edit.ts';
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
  const [opened, setOpened] = useState<BodyDraft | null>(null);
  // What is open and not changed is not kept.
  const draft = useDraft<BodyDraft>(key) ?? opened;
  const last = useRef(draft);
  last.current = draft;
  const [kept, setKept] = useState(true);
  /** Whether the editor was left by hand, and the focus has to go somewhere. */
  const left = useRef(false);
  const change = (next: BodyDraft | null) => {
    setOpened(next);
    setKept(keepDraft(key, next !== null && isChanged(next) ? { ...next, fiber: document.id } : null));
  };
  const saved = (text: string, on_disk: OnDisk) => {
    const now = keptDraft<BodyDraft>(key) ?? last.current;
    change(now === null || now.text === text ? null : { ...now, base: on_disk });
    again();
  };
  const resolve = useCallback((href: string) => targetOf(href, path, fiber_at), [path, fiber_at]);
  if (draft !== null)
    return (
      <Boundary what="The editor">
        <Suspense fallback={opened !== null && <KeepKeys />}>
          <BodyEditor
            reference={referenceOf(document)}
            draft={draft}
            kept={kept}
            worker={worker}
            asked={opened !== null}
            onChange={change}
            onSaved={saved}
            onDiscard={() => {
              left.current = true;
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
        <Button
          tone="quiet"
          aria-label="Edit the body"
          // The focus was in the editor that it opens.
          autoFocus={left.current}
          onClick={() => change(startEdit({ body, digest }))}
        >
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
