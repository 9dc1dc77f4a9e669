/** A new id of 32 hexadecimal digits; also where a page over plain HTTP has no `randomUUID`. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
