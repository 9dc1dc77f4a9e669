import { MINE, merge } from './merge.ts';

/** A body as it was read, with the digest of its document. */
export type OnDisk = { body: string; digest: string };

/** What a person has written and not saved, and what it was made of. */
export type BodyDraft = {
  text: string;
  base: OnDisk;
  /** Places where a merge left both texts, between markers. */
  conflicts: number;
};

/** A field of a page has one kind of line end. */
export function forEditing(body: string): string {
  return body.replaceAll('\r\n', '\n');
}

/** The text with the line ends of the body that it replaces. */
export function forSaving({ text, base }: BodyDraft): string {
  return base.body.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

export function startEdit(on_disk: OnDisk): BodyDraft {
  return { text: forEditing(on_disk.body), base: on_disk, conflicts: 0 };
}

export function isChanged({ text, base }: BodyDraft): boolean {
  return text !== forEditing(base.body);
}

/** What a refused save means: another writer left the body as it was, or changed it as well. */
export function afterRefusal(
  draft: BodyDraft,
  on_disk: OnDisk,
): { kind: 'save_again' | 'conflict'; draft: BodyDraft } {
  return on_disk.body === draft.base.body
    ? { kind: 'save_again', draft: { ...draft, base: on_disk } }
    : { kind: 'conflict', draft };
}

/** The draft put together with what is on disk, made to replace it. */
export function mergedDraft({ text, base }: BodyDraft, on_disk: OnDisk): BodyDraft {
  const merged = merge(forEditing(base.body), text, forEditing(on_disk.body));
  return { text: merged.text, base: on_disk, conflicts: merged.conflicts };
}

/** Whether a merge left places that nobody has decided yet. */
export function isUndecided({ text, conflicts }: BodyDraft): boolean {
  return conflicts > 0 && text.split('\n').includes(MINE);
}
