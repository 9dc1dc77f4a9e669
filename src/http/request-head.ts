/** Copies of everything before the body; the transport's own objects may die when their callback returns. */
export type RequestHead = {
  /** Upper case. */
  method: string;
  /** Raw: not decoded, without the query. */
  path: string;
  /** Raw, without `?`; empty where absent. */
  query: string;
  headers: Readonly<Record<string, string | undefined>>;
  /** Why the message cannot be trusted to end where it says it does; null when it can. */
  fault: string | null;
};

/** An object without inherited names that the engine still keeps in its fast form. */
const HeaderTable = function HeaderTable() {} as unknown as new () => Record<string, string | undefined>;
HeaderTable.prototype = Object.create(null);

/** Collects the headers of one request as a transport hands them over, in order and with names in lower case. */
export class HeaderCollector {
  readonly headers: Record<string, string | undefined> = new HeaderTable();
  #hosts = 0;
  #lengths = 0;
  #nameless = false;

  add(name: string, value: string): void {
    if (name === 'host') this.#hosts += 1;
    else if (name === 'content-length') this.#lengths += 1;
    else if (name === '') this.#nameless = true;
    const known = this.headers[name];
    this.headers[name] = known === undefined ? value : `${known}, ${value}`;
  }

  /** What no transport may let through: not one Host, two lengths, odd transfer codings. */
  fault(): string | null {
    if (this.#hosts !== 1) return 'The request must carry exactly one Host header.';
    if (this.#lengths > 1) return 'The request carries more than one Content-Length header.';
    const length = this.headers['content-length'];
    if (length !== undefined && !/^\d{1,15}$/.test(length)) return 'The Content-Length is not a number.';
    if (this.#nameless) return 'The request carries a header without a name.';
    const coding = this.headers['transfer-encoding'];
    if (coding !== undefined && (this.#lengths > 0 || coding.toLowerCase() !== 'chunked')) {
      return 'The only transfer coding a request may use is chunked, and then without a Content-Length.';
    }
    return null;
  }
}

/** The only version of the protocol that there is (RFC 6455). */
const VERSION = '13';

/** Another protocol that a client would rather speak, such as h2c, may be passed over; frames may not. */
export function asksForSocket({ headers: { upgrade } }: RequestHead): boolean {
  return upgrade !== undefined && /(?:^|[, \t])websocket(?:[/, \t]|$)/i.test(upgrade);
}

/** What is wrong with a request that asks for a WebSocket; null where it is a whole handshake. */
export function handshakeFault({ method, headers }: RequestHead): string | null {
  if (method !== 'GET') return 'A WebSocket is opened with GET.';
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'Upgrade must name websocket and nothing else.';
  if (!/(?:^|[, \t])upgrade(?:[, \t]|$)/i.test(headers.connection ?? ''))
    return 'Connection must name Upgrade.';
  if (headers['sec-websocket-version'] !== VERSION) return `Sec-WebSocket-Version must be ${VERSION}.`;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return 'Sec-WebSocket-Key must be one key of 16 bytes in base64.';
  return null;
}
