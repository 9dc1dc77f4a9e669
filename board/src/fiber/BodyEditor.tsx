import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { get, post } from '../lib/api.ts';
import { fiberPath } from '../lib/paths.ts';
import { toast } from '../lib/toasts.ts';
import {
  afterRefusal,
  type BodyDraft,
  forEditing,
  forSaving,
  isChanged,
  isUndecided,
  mergedDraft,
  type OnDisk,
} from '../model/body-edit.ts';
import { comparedWith } from '../model/merge.ts';
import type { FiberReply } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './BodyPart.module.css';
import { toHost, useOrigin } from './origin.ts';
import { Part } from './Part.tsx';

/** Another writer that never rests is told of, instead of raced against for ever. */
const MOST_TRIES = 4;

type BodyEditorProps = {
  reference: string;
  draft: BodyDraft;
  /** Whether the browser keeps the draft over a reload. */
  kept: boolean;
  worker: boolean;
  /** Whether it was asked for just now, so that what is typed next belongs to it. */
  asked: boolean;
  onChange(draft: BodyDraft): void;
  /** This text was saved and is on disk now; the draft may be another one by then. */
  onSaved(text: string, on_disk: OnDisk): void;
  onDiscard(): void;
};

/** The body as a text. What came onto the disk meanwhile is never overwritten unseen. */
export default function BodyEditor(props: BodyEditorProps): ReactNode {
  const { reference, draft, kept, worker, asked, onChange, onSaved, onDiscard } = props;
  const origin = useOrigin();
  const [saving, setSaving] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [on_disk, setOnDisk] = useState<OnDisk | null>(null);
  const run = async (from: BodyDraft) => {
    setSaving(true);
    setFault(null);
    const saved = await save(reference, origin, from);
    setSaving(false);
    if (saved.kind === 'saved') {
      toast('The body is saved.');
      onSaved(from.text, saved.on_disk);
    } else if (saved.kind === 'conflict') setOnDisk(saved.on_disk);
    else setFault(saved.message);
  };
  const submit = () => {
    if (isUndecided(draft)) setFault('Choose between the lines that are marked <<<<<<< and >>>>>>> first.');
    else void run(draft);
  };
  return (
    <Part
      title="Body"
      note={
        isChanged(draft)
          ? kept
            ? 'kept in this browser until it is saved'
            : 'too long to be kept over a reload'
          : ''
      }
    >
      {worker && on_disk === null && (
        <p className={styles.notice}>
          Its worker may write into this document too. If it does before you save, you are shown both texts.
        </p>
      )}
      {on_disk !== null && (
        <Conflict
          draft={draft}
          on_disk={on_disk}
          onMerge={() => {
            onChange(mergedDraft(draft, on_disk));
            setOnDisk(null);
          }}
          onOverwrite={() => {
            const next = { ...draft, base: on_disk };
            onChange(next);
            setOnDisk(null);
            void run(next);
          }}
          onDiscard={onDiscard}
        />
      )}
      <Field label={on_disk === null ? 'Markdown' : 'Yours'} error={fault}>
        {(input) => (
          <textarea
            {...input}
            // biome-ignore lint/a11y/noAutofocus: it was asked for a moment ago.
            autoFocus={asked}
            className={`${input.className} ${styles.text}`}
            value={draft.text}
            spellCheck={false}
            onChange={({ target }) => onChange({ ...draft, text: target.value })}
            onKeyDown={(event) => {
              if (!isSave(event)) return;
              event.preventDefault();
              if (on_disk === null && !saving) submit();
            }}
          />
        )}
      </Field>
      <div className={styles.buttons}>
        {on_disk === null && (
          <Button tone="agent" disabled={saving} onClick={submit}>
            Save
          </Button>
        )}
        <Button tone="quiet" disabled={saving} onClick={onDiscard}>
          {isChanged(draft) ? 'Discard the changes' : 'Cancel'}
        </Button>
      </div>
    </Part>
  );
}

type ConflictProps = {
  draft: BodyDraft;
  on_disk: OnDisk;
  onMerge(): void;
  onOverwrite(): void;
  onDiscard(): void;
};

function Conflict({ draft, on_disk, onMerge, onOverwrite, onDiscard }: ConflictProps): ReactNode {
  const lines = comparedWith(forEditing(on_disk.body), draft.text);
  return (
    <div className={styles.conflict} role="alert">
      <p>
        <b>The document changed on disk while you wrote.</b> Nothing is saved yet, and nothing is lost.
      </p>
      <p className={styles.label}>On disk now</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keys. */}
      <pre className={styles.disk} tabIndex={0}>
        {lines.map(({ text, same }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text have no other identity.
          <span key={index} data-same={same}>
            {same ? '  ' : '≠ '}
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
      <div className={styles.buttons}>
        <Button onClick={onMerge}>Merge both</Button>
        <Button onClick={onOverwrite}>Save yours over it</Button>
        <Button onClick={onDiscard}>Keep the one on disk</Button>
      </div>
    </div>
  );
}

function isSave({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && (key === 's' || key === 'Enter');
}

type Saved =
  | { kind: 'saved'; on_disk: OnDisk }
  | { kind: 'conflict'; on_disk: OnDisk }
  | { kind: 'refused'; message: string };

/** Saves a draft as what it was made from; again at once where only another part of the document has changed. */
async function save(reference: string, origin: string | null, draft: BodyDraft): Promise<Saved> {
  let current = draft;
  for (let tries = 1; ; tries += 1) {
    const answer = await post<FiberReply>('/fiber-edit', {
      fiber_id: reference,
      body: forSaving(current),
      expected_digest: current.base.digest,
      ...toHost(origin),
    });
    if (answer.ok) return { kind: 'saved', on_disk: onDisk(answer.value) };
    if (answer.status !== 409 || tries === MOST_TRIES) return { kind: 'refused', message: answer.message };
    const read = await get<FiberReply>(fiberPath(reference, origin));
    if (!read.ok) return { kind: 'refused', message: read.message };
    const on_disk = onDisk(read.value);
    const next = afterRefusal(current, on_disk);
    if (next.kind === 'conflict') return { kind: 'conflict', on_disk };
    current = next.draft;
  }
}

function onDisk({ fiber: { body = '', digest } }: FiberReply): OnDisk {
  return { body, digest };
}
