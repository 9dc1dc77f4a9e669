/** One answer as a strict proxy reads it. */
export type StrictAnswer = { status: number; headers: Map<string, string>; body: string };

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Fields that may stand only once. */
const SINGLE = new Set(['content-length', 'content-type', 'etag', 'date', 'location', 'content-range']);

/**
 * Reads everything that came over one connection as answers to requests of these methods, and throws at the first
 * thing a proxy would not forward: a malformed line, two lengths, a body where none may be, bytes that belong to no
 * answer. Interim answers (100) are read over. `closed`: the connection has ended. `torn`: the connection may have been
 * reset in the midst of an answer, which is left out then.
 */
export function readStrictly(
  text: string,
  methods: readonly string[],
  closed: boolean,
  torn = false,
): StrictAnswer[] {
  const answers: StrictAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0 && torn) break;
    if (end < 0) throw new Error(`a head that does not end: ${JSON.stringify(rest.slice(0, 200))}`);
    const { status, headers } = readHead(rest.slice(0, end));
    rest = rest.slice(end + 4);
    if (status >= 100 && status < 200) {
      if (headers.has('content-length')) throw new Error('an interim answer with a length');
      continue;
    }
    const method = methods[answers.length];
    if (method === undefined) throw new Error(`an answer to nothing: ${status}`);
    const length = headers.get('content-length');
    let body = '';
    if (status === 204 || status === 304) {
      if (length !== undefined && status === 204) throw new Error('204 with a length');
    } else if (method !== 'HEAD') {
      if (length === undefined) {
        if (headers.get('connection') !== 'close' || !closed) throw new Error('a body without an end');
        body = rest;
      } else {
        body = rest.slice(0, Number(length));
        if (body.length < Number(length) && torn) break;
        if (body.length < Number(length)) throw new Error('less body than was promised');
      }
    }
    rest = rest.slice(body.length);
    answers.push({ status, headers, body });
    if (headers.get('connection') === 'close' && rest !== '') throw new Error('more after the last answer');
  }
  return answers;
}

function readHead(head: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = head.split('\r\n');
  const line = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e]*$/.exec(first);
  if (line === null) throw new Error(`not a status line: ${JSON.stringify(first)}`);
  const headers = new Map<string, string>();
  for (const text of lines) {
    const cut = text.indexOf(':');
    const name = text.slice(0, cut);
    const value = text.slice(cut + 1).trim();
    if (cut < 1 || !TOKEN.test(name)) throw new Error(`not a header: ${JSON.stringify(text)}`);
    if (/[^\t\x20-\x7e]/.test(value)) throw new Error(`not a value: ${JSON.stringify(text)}`);
    const key = name.toLowerCase();
    const known = headers.get(key);
    if (known !== undefined && SINGLE.has(key)) throw new Error(`${name} twice`);
    headers.set(key, known === undefined || known === value ? value : `${known}, ${value}`);
  }
  const length = headers.get('content-length');
  if (length !== undefined && !/^\d+$/.test(length)) throw new Error(`not a length: ${length}`);
  return { status: Number(line[1]), headers };
}
