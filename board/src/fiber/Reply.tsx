import { type ReactNode, type RefObject, useId, useRef, useState } from 'react';
import { isUnsure, post } from '../lib/api.ts';
import { keepDraft, keptDraft, useDraft } from '../lib/drafts.ts';
import { newId } from '../lib/ids.ts';
import { storePictures } from '../lib/pictures.ts';
import { readAgain } from '../lib/reads.ts';
import { fileUrl } from '../model/links.ts';
import { changedDraft, isBlank, messageText, NO_DRAFT, type ReplyDraft } from '../model/messages.ts';
import { PICTURE_TYPES, pictureFault } from '../model/picture-rules.ts';
import { referenceOf } from '../model/sheet.ts';
import type { Delivered, FiberRow } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import { draftKey, toHost, useOrigin } from './origin.ts';
import styles from './Reply.module.css';

/** A worker that is starting is waited for, and its conversation is looked at for the message. */
const DELIVER_MS = 60_000;

type Outcome = { tone: 'done' | 'fault' | 'unsure'; text: string };

type ReplyProps = {
  row: FiberRow;
  field: RefObject<HTMLTextAreaElement | null>;
  /** Its document is not in the store any more: only what is written already stays. */
  gone: boolean;
};

/** Writes to the worker of the fiber, or starts one with the text. */
export function Reply({ row, field, gone }: ReplyProps): ReactNode {
  const id = useId();
  const reference = referenceOf(row);
  const origin = useOrigin();
  const key = draftKey('reply', reference, origin);
  const picker = useRef<HTMLInputElement>(null);
  const draft = useDraft<ReplyDraft>(key) ?? NO_DRAFT;
  const [busy, setBusy] = useState<'sending' | 'storing' | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const runs = row.runtime !== undefined;
  const become = (make: (from: ReplyDraft) => ReplyDraft) => {
    const next = make(keptDraft<ReplyDraft>(key) ?? NO_DRAFT);
    keepDraft(key, isBlank(next) ? null : { ...next, fiber: row.id });
  };

  const add = async (files: readonly File[]) => {
    const images = files.filter(({ type }) => type.startsWith('image/'));
    if (images.length === 0) return;
    const fault = pictureFault(images);
    if (fault !== null) {
      setOutcome({ tone: 'fault', text: fault });
      return;
    }
    setBusy('storing');
    setOutcome(null);
    const answer = await storePictures(reference, images, origin).catch((error: Error) => ({
      ok: false as const,
      message: `The picture cannot be read: ${error.message}`,
    }));
    setBusy(null);
    if (!answer.ok) setOutcome({ tone: 'fault', text: answer.message });
    else become((from) => changedDraft(from, { images: [...from.images, ...answer.value.files] }));
  };

  const send = async () => {
    if (isBlank(draft) || busy !== null) return;
    const message_id = draft.message_id ?? newId();
    become((from) => ({ ...from, message_id }));
    setBusy('sending');
    setOutcome(null);
    const answer = await post<Delivered>(
      '/deliver',
      { fiber_id: reference, text: messageText(draft.text, draft.images), message_id, ...toHost(origin) },
      { timeout_ms: DELIVER_MS },
    );
    setBusy(null);
    readAgain('/messages');
    // Only of what was sent: an edit meanwhile made another message of the draft.
    const settle = (sent: ReplyDraft) => become((from) => (from.message_id === message_id ? sent : from));
    if (answer.ok && answer.value.delivered) {
      settle(NO_DRAFT);
      setOutcome({ tone: 'done', text: deliveredText(answer.value) });
    } else if (answer.ok) {
      // Of a message that was not given, the id is used up.
      settle({ ...draft, message_id: null });
      const text = answer.value.delivery === 'message' ? answer.value.receipt.detail : '';
      setOutcome({ tone: 'fault', text: `Not delivered: ${text}` });
    } else if (isUnsure(answer)) setOutcome({ tone: 'unsure', text: answer.message });
    else {
      settle({ ...draft, message_id: null });
      setOutcome({ tone: 'fault', text: answer.message });
    }
  };

  if (gone && isBlank(draft)) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pictures may be dropped on it; the button beside adds them too.
    <div
      className={styles.reply}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void add([...event.dataTransfer.files]);
      }}
    >
      <div className={styles.box}>
        <label htmlFor={id}>
          <Hidden>{runs ? 'Reply to the worker' : 'Start a worker with a text'}</Hidden>
        </label>
        <textarea
          id={id}
          ref={field}
          rows={2}
          placeholder={runs ? 'Write to the worker' : 'Write what a new worker shall do'}
          value={draft.text}
          onChange={({ target }) => {
            setOutcome(null);
            become((from) => changedDraft(from, { text: target.value }));
          }}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            void add([...event.clipboardData.files]);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void send();
          }}
        />
        {draft.images.length > 0 && (
          <ul className={styles.images}>
            {draft.images.map((image) => (
              <li key={image.path}>
                <img src={fileUrl(image.path, origin)} alt="" />
                <span>{image.name}</span>
                <button
                  type="button"
                  aria-label={`Remove ${image.name}`}
                  onClick={() =>
                    become((from) =>
                      changedDraft(from, { images: from.images.filter(({ path }) => path !== image.path) }),
                    )
                  }
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <input
        ref={picker}
        type="file"
        accept={PICTURE_TYPES.join(',')}
        multiple
        hidden
        onChange={({ target }) => {
          void add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <div className={styles.buttons}>
        <Button onClick={() => picker.current?.click()} disabled={busy !== null}>
          {busy === 'storing' ? 'Adding …' : 'Add image'}
        </Button>
        <Button
          tone="you"
          onClick={() => void send()}
          disabled={isBlank(draft) || busy !== null}
          aria-keyshortcuts="Control+Enter"
        >
          {busy === 'sending'
            ? 'Sending …'
            : draft.message_id !== null
              ? 'Send again'
              : runs
                ? 'Reply'
                : 'Start with it'}
        </Button>
      </div>
      <p className={styles.outcome} data-tone={outcome?.tone} role="status">
        {outcome?.text}
        {outcome?.tone === 'unsure' &&
          draft.message_id !== null &&
          ' Send it again: the same message is never given twice.'}
      </p>
    </div>
  );
}

/** How the text came to a worker, or how far it is on its way: what waits was not given to anybody yet. */
function deliveredText(answer: Delivered): string {
  switch (answer.delivery) {
    case 'message': {
      const { status, transport, detail } = answer.receipt;
      if (transport === 'held') return `Waits for the worker: ${detail}.`;
      if (status === 'unknown') return `Sent to the worker: ${detail}.`;
      return 'Given to the worker.';
    }
    case 'resume':
      return 'A worker goes on with the conversation, and was given it.';
    case 'dispatch':
      return 'A worker was started with it.';
  }
}
