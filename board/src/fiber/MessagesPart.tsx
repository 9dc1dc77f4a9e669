import { type ReactNode, useState } from 'react';
import { get } from '../lib/api.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { pathAt } from '../lib/paths.ts';
import { useRead } from '../lib/reads.ts';
import { fileUrl } from '../model/links.ts';
import { messageParts, readAfter, STAGES } from '../model/messages.ts';
import { referenceOf } from '../model/sheet.ts';
import type { Conversation, ConversationMessage, FiberRow } from '../model/wire.ts';
import { fullMoment } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import styles from './MessagesPart.module.css';
import { useOrigin } from './origin.ts';
import { Part, Reading } from './Part.tsx';

const SELDOM_MS = 15_000;

/** What was written to and from the fiber, each message with how far it came. */
export function MessagesPart({ row }: { row: FiberRow }): ReactNode {
  const path = pathAt(useOrigin(), `/messages?fiber=${encodeURIComponent(referenceOf(row))}`);
  const [often, setOften] = useState(SELDOM_MS);
  const read = useRead<Conversation>(path, { every_ms: often });
  const next = useTimeText((now) => String(readAfter(read.value?.messages ?? [], now)));
  if (Number(next) !== often) setOften(Number(next));
  return (
    <Part title="Messages" note={read.value?.messages.length || undefined}>
      <Reading read={read}>{(conversation) => <Messages path={path} newest={conversation} />}</Reading>
    </Part>
  );
}

function Messages({ path, newest }: { path: string; newest: Conversation }): ReactNode {
  const [older, setOlder] = useState<Conversation | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const known = new Set(newest.messages.map(keyOf));
  const messages = [...(older?.messages.filter((one) => !known.has(keyOf(one))) ?? []), ...newest.messages];
  const before = older === null ? newest.before : older.before;
  const more = async () => {
    const answer = await get<Conversation>(`${path}&before=${encodeURIComponent(before ?? '')}`);
    setFault(answer.ok ? null : answer.message);
    if (answer.ok)
      setOlder({ ...answer.value, messages: [...answer.value.messages, ...(older?.messages ?? [])] });
  };
  if (messages.length === 0) return <p className={styles.none}>Nothing was written to it yet.</p>;
  return (
    <>
      {before !== null && <Button onClick={() => void more()}>Earlier messages</Button>}
      {fault !== null && <p className={styles.fault}>{fault}</p>}
      <ol className={styles.messages}>
        {messages.map((message) => (
          <Message key={keyOf(message)} message={message} />
        ))}
      </ol>
    </>
  );
}

function Message({ message }: { message: ConversationMessage }): ReactNode {
  const today = useToday();
  const origin = useOrigin();
  const { from, sent_at, text, bytes, status, detail, files = [] } = message;
  const { label, over, fault } = STAGES[status];
  const parts = messageParts(text ?? '');
  const images = [
    ...parts.images,
    ...files.filter(({ name }) => /\.(png|jpe?g|gif|webp)$/i.test(name)).map(({ path }) => path),
  ];
  return (
    <li className={styles.message} data-message={message.message_id} data-status={status}>
      <p className={styles.head}>
        <b>{from}</b> <time dateTime={new Date(sent_at).toISOString()}>{fullMoment(sent_at, today)}</time>
      </p>
      {text === null ? (
        <p className={styles.none}>Its text ({bytes} bytes) is not kept any more.</p>
      ) : (
        <p className={styles.text}>{parts.text}</p>
      )}
      {images.map((path) => (
        <a key={path} href={fileUrl(path, origin)} target="_blank" rel="noopener noreferrer">
          <img
            className={styles.image}
            src={fileUrl(path, origin)}
            alt={path.slice(path.lastIndexOf('/') + 1)}
            loading="lazy"
          />
        </a>
      ))}
      <p className={styles.stage} data-tone={fault ? 'fault' : over ? 'over' : 'moving'}>
        <b>{label}</b> {detail}
      </p>
    </li>
  );
}

/** An id may be used again for another message once the first is not kept any more. */
function keyOf({ message_id, sent_at }: ConversationMessage): string {
  return `${sent_at} ${message_id}`;
}
