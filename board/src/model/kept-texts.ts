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
  const end = origin === null ? '' : ` ${origin}`;
  return drafts.flatMap(([key, draft]) => {
    const [, kind = '', named = ''] = /^draft (\w+) (.+)$/s.exec(key) ?? [];
    const label = LABELS[kind];
    const reference = named.slice(0, named.length - end.length);
    const { text, fiber: id } = (draft ?? {}) as { text?: unknown; fiber?: unknown };
    // An id may have spaces, a uid has none: more words are the name of another host.
    const is_it = reference === fiber || (id === fiber && !reference.includes(' '));
    const fits = is_it && named.endsWith(end) && label !== undefined;
    return fits && typeof text === 'string' && text !== '' ? [{ key, label, text }] : [];
  });
}
