import type { ConversationMessage, StoredFile } from './wire.ts';

type Status = ConversationMessage['status'];

/** A receipt says how far a message came, never that somebody has read it. `over`: it comes no further. */
export const STAGES: Readonly<Record<Status, { label: string; over: boolean; fault: boolean }>> = {
  queued: { label: 'Queued', over: false, fault: false },
  submitted: { label: 'Submitted', over: false, fault: false },
  accepted: { label: 'Accepted', over: true, fault: false },
  context_added: { label: 'Added as context', over: true, fault: false },
  unknown: { label: 'Not known', over: false, fault: false },
  rejected: { label: 'Not delivered', over: true, fault: true },
};

/** How long the stage of a message is looked at often, in milliseconds: after that it seldom moves on. */
const FRESH_MS = 10 * 60_000;
const OFTEN_MS = 1_500;
const SELDOM_MS = 15_000;

/** How soon a conversation is worth reading again, in milliseconds. */
export function readAfter(messages: readonly ConversationMessage[], now: number): number {
  return messages.some(({ status, sent_at }) => !STAGES[status].over && now - sent_at < FRESH_MS)
    ? OFTEN_MS
    : SELDOM_MS;
}

const IMAGE_LINE = /^\[Image: (\/.+)\]$/;

/** The text of a message for the daemon: images follow it, a line for each. */
export function messageText(text: string, images: readonly Pick<StoredFile, 'path'>[]): string {
  const lines = images.map(({ path }) => `[Image: ${path}]`);
  const words = text.trim() === '' ? [] : [text.trim()];
  return [...words, ...(words.length > 0 && lines.length > 0 ? [''] : []), ...lines].join('\n');
}

/** A message as it is shown: its text without the lines of its images, and their paths. */
export function messageParts(text: string): { text: string; images: string[] } {
  const images: string[] = [];
  const lines = text.split('\n').filter((line) => {
    const path = IMAGE_LINE.exec(line)?.[1];
    if (path !== undefined) images.push(path);
    return path === undefined;
  });
  return { text: lines.join('\n').trim(), images };
}

/** What a person has written to a worker and not sent. */
export type ReplyDraft = {
  text: string;
  images: StoredFile[];
  /** Of a message whose arrival is not known: sent again, it has the same id, so that it arrives once at most. */
  message_id: string | null;
};

export const NO_DRAFT: ReplyDraft = { text: '', images: [], message_id: null };

/** The draft after a change; another text is another message. */
export function changedDraft(draft: ReplyDraft, change: Partial<ReplyDraft>): ReplyDraft {
  return { ...draft, message_id: null, ...change };
}

export function isBlank({ text, images }: ReplyDraft): boolean {
  return text.trim() === '' && images.length === 0;
}
