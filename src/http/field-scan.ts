const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [COMMA, COLON] = [0x2c, 0x3a];
/** Most bytes of a name or a value that are compared: far more than any searched one may have. */
const STRING_BYTES = 32 * 1024;

/**
 * Finds one field of a JSON object, such as its `origin`, while its bytes come, so that a large body need not be held to its end. Whether the
 * rest of it is JSON is for whoever parses it. Where the name is given twice, readers would differ in what it means.
 */
export class FieldScan {
  /** The value, if it is a string; undefined until it has come. */
  value: string | undefined = undefined;
  /** True once the name has occurred a second time. */
  ambiguous = false;
  readonly #name: string;
  #named = false;
  #depth = 0;
  /** What the next string at the top of the object is; null where it does not matter. */
  #next: 'name' | 'value' | null = null;
  #in_string = false;
  #escaped = false;
  /** What has come of a string that matters. */
  #kept: Buffer[] | null = null;
  #kept_bytes = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Takes the next piece of the body, which is only lent. */
  feed(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    for (let at = 0; at < bytes.length; ) {
      if (this.#in_string) at = this.#readString(bytes, at);
      else {
        this.#step(bytes[at]!);
        at += 1;
      }
    }
  }

  #step(byte: number): void {
    const at_top = this.#depth === 1;
    if (byte === QUOTE) {
      this.#in_string = true;
      this.#kept = at_top && this.#next !== null ? [] : null;
      this.#kept_bytes = 0;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#next = this.#depth === 0 && byte === OPEN_BRACE ? 'name' : null;
      this.#depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth -= 1;
    else if (byte === COMMA && at_top) this.#next = 'name';
    else if (byte === COLON && at_top && this.#next === 'name') this.#next = null;
  }

  /** Reads to the end of the string or of what there is; answers where that is. */
  #readString(bytes: Buffer, from: number): number {
    let escaped = this.#escaped;
    // Long strings are images, in which nothing is escaped: to their end goes the quick search of the system.
    const quote = bytes.indexOf(QUOTE, from);
    const end = quote < 0 ? bytes.length : quote;
    const plain = !escaped && !bytes.subarray(from, end).includes(BACKSLASH);
    for (let at = plain ? end : from; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) {
        this.#keep(bytes.subarray(from, at));
        this.#in_string = false;
        this.#escaped = false;
        this.#endString();
        return at + 1;
      }
    }
    this.#escaped = escaped;
    this.#keep(bytes.subarray(from));
    return bytes.length;
  }

  #keep(part: Uint8Array): void {
    if (this.#kept === null) return;
    const some = part.subarray(0, STRING_BYTES - this.#kept_bytes);
    this.#kept.push(Buffer.from(some));
    this.#kept_bytes += some.length;
  }

  #endString(): void {
    if (this.#kept === null) return;
    const text = unescaped(Buffer.concat(this.#kept).toString('utf8'));
    this.#kept = null;
    if (this.#next === 'value') {
      this.#next = null;
      this.value ??= text;
    } else if (text === this.#name) {
      this.ambiguous ||= this.#named;
      this.#named = true;
      this.#next = 'value';
    }
  }
}

/** What the text between two quotes stands for; the text itself where it is no JSON string. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
