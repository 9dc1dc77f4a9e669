/** A stretch of a text, as offsets. */
export type Stretch = { from: number; to: number };

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/gs;

/**
 * Where a value stands in a valid JSON text, by its path such as `agents.0.harness`; for one that is missing the
 * beginning of what should hold it.
 */
export function placeInJson(text: string, place: string): Stretch {
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: token, index }) => ({ token, at: index }));
  let next = 0;
  let best: Stretch = { from: 0, to: Math.min(1, text.length) };
  let depth = -1;
  const value = (path: string, level: number): void => {
    const first = tokens[next];
    if (first === undefined) return;
    next += 1;
    const { token, at } = first;
    if (level > depth && (path === place || path === '' || place.startsWith(`${path}.`))) {
      best = { from: at, to: at + token.length };
      depth = level;
    }
    if (token !== '{' && token !== '[') return;
    const closing = token === '{' ? '}' : ']';
    for (let index = 0; next < tokens.length && tokens[next]?.token !== closing; index += 1) {
      let key = String(index);
      if (token === '{') {
        key = unquoted(tokens[next]?.token ?? '');
        next += 2;
      }
      value(path === '' ? key : `${path}.${key}`, level + 1);
      if (tokens[next]?.token === ',') next += 1;
    }
    next += 1;
  };
  value('', 0);
  return best;
}

/** How deep a line is that begins at an offset of a text, which may be no JSON yet: `rest` is what follows in it. */
export function depthInJson(before: string, rest: string): number {
  const signs = before.replace(/"(?:[^"\\\n]|\\.)*"?/g, '');
  const opened = signs.match(/[[{]/g)?.length ?? 0;
  const closed = signs.match(/[\]}]/g)?.length ?? 0;
  return Math.max(0, opened - closed - (/^\s*[\]}]/.test(rest) ? 1 : 0));
}

function unquoted(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

/** What the sentence of a validator is about: the place that it names, or the position of what is no JSON. */
export function placeOfSentence(text: string, sentence: string): Stretch {
  const place = / is not valid at ([^:]+): /.exec(sentence)?.[1];
  if (place !== undefined) return placeInJson(text, place === 'its top level' ? '' : place);
  const position = / at position (\d+)/.exec(sentence)?.[1];
  const at = position === undefined ? faultOfJson(text) : Number(position);
  const from = Math.max(0, Math.min(at, text.length - 1));
  return { from, to: Math.min(from + 1, text.length) };
}

/** The offset at which a text stops being JSON; its end where it only ends too early; 0 where it is JSON. */
function faultOfJson(text: string): number {
  try {
    JSON.parse(text);
    return 0;
  } catch (error) {
    const position = / at position (\d+)/.exec(String(error))?.[1];
    return position === undefined ? text.length : Number(position);
  }
}
