/** What a batch of pictures may have, as the contract says; told before a megabyte is sent. */
export const PICTURE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const PICTURE_RULES = { bytes: 10_000_000, count: 8, total_bytes: 25_000_000 } as const;

type Picture = { name: string; type: string; size: number };

/** Why a batch would be refused, naming the first picture that breaks a rule; null when it would not. */
export function pictureFault(pictures: readonly Picture[]): string | null {
  const wrong = pictures.find(({ type }) => !PICTURE_TYPES.includes(type));
  if (wrong !== undefined)
    return `${wrong.name || 'A file'} is not a picture that can be sent: use PNG, JPEG, GIF or WebP.`;
  const large = pictures.find(({ size }) => size > PICTURE_RULES.bytes);
  if (large !== undefined) return `${large.name} has ${megabytes(large.size)}: a picture may have 10 MB.`;
  if (pictures.length > PICTURE_RULES.count)
    return `These are ${pictures.length} pictures: at most ${PICTURE_RULES.count} can be sent together.`;
  const total = pictures.reduce((sum, { size }) => sum + size, 0);
  return total > PICTURE_RULES.total_bytes
    ? `Together they have ${megabytes(total)}: at most 25 MB can be sent.`
    : null;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** One picture as `POST /attachments` takes it. */
export type EncodedPicture = { name: string; mime: string; data: string; sha256: string };
