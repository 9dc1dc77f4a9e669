/** What a person wrote in the sheet of a fiber and has not sent or saved; `key` is that of its draft. */
export type KeptText = { key: string; label: string; text: string };

const LABELS: Readonly<Record<string, string>> = {
  body: 'Your text of its body, not saved',
  reply: 'Your message, not sent',
};

/**
 * Of all drafts, those of a fiber that is known by what its address says alone, its id or its uid. A draft is kept under
 * the uid, where there is one, and names the id.
 */
export function keptTexts(
  drafts: readonly (readonly [key: string, draft: unknown])[],
  fiber: string,
  origin: string | null,
): KeptText[] {
  return drafts.flatMap(([key, draft]) => {
    const [begin, kind = '', reference, host = null] = key.split(' ');
    const label = LABELS[kind];
    const { text, fiber: id } = (draft ?? {}) as { text?: unknown; fiber?: unknown };
    const fits =
      begin === 'draft' && host === origin && (reference === fiber || id === fiber) && label !== undefined;
    return fits && typeof text === 'string' && text !== '' ? [{ key, label, text }] : [];
  });
}
