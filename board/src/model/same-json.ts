/** Whether two values as `JSON.parse` makes them are equal, whatever the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b);
  return !Array.isArray(b) && sameFields(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!sameJson(a[at], b[at])) return false;
  return true;
}

function sameFields(a: Fields, b: Fields): boolean {
  let count = 0;
  for (const key in a) {
    const one = a[key];
    const other = b[key];
    // No value of JSON is undefined.
    if (one !== other && (other === undefined || !sameJson(one, other))) return false;
    count += 1;
  }
  return count === Object.keys(b).length;
}
