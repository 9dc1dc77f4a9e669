/** The value that a text of JSON stands for; undefined, which no schema takes, where it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
