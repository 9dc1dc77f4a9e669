/** Whether two values as `JSON.parse` makes them are equal, whatever the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b);
  return !Array.isArray(b) && sameFields(a, b);
}

/** Whether two objects have the same fields with equal values; those in `alike` are not compared. */
export function sameFields(a: object, b: object, alike: ReadonlySet<string> = NONE): boolean {
  const [those, others] = [a as Fields, b as Fields];
  let count = 0;
  for (const key in those) {
    count += 1;
    if (alike.has(key)) continue;
    const one = those[key];
    const other = others[key];
    // No value of JSON is undefined.
    if (one !== other && (other === undefined || !sameJson(one, other))) return false;
  }
  return count === Object.keys(others).length;
}

const NONE: ReadonlySet<string> = new Set();

type Fields = Readonly<Record<string, unknown>>;

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!sameJson(a[at], b[at])) return false;
  return true;
}
