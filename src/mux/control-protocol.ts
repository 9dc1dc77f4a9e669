/** The events of a control-mode stream, in order. */
export type ControlEvent =
  | { kind: 'reply'; ok: boolean; lines: string[] }
  /** A block that answers no command of ours: the attach itself, or the output of a tmux hook. */
  | { kind: 'foreign'; ok: boolean; lines: string[] }
  | { kind: 'notification'; name: string; text: string }
  /** A line or block exceeded the limit; the stream can no longer be trusted. */
  | { kind: 'overflow' };

const BEGIN = /^%begin (\d+) (\d+) (\d+)$/;
const FROM_OUR_STDIN = 1;

/**
 * Parses tmux's control mode from a stream of arbitrary chunks. A block runs from `%begin <time> <number> <flags>` to
 * `%end` or `%error` with the same three; only flags 1 marks an answer to what we wrote.
 */
export class ControlParser {
  #rest: Buffer = Buffer.alloc(0);
  #block: { stamp: string; flags: number; lines: string[]; bytes: number } | null = null;
  #broken = false;
  readonly #max_bytes: number;

  /** `max_bytes` limits one line and one block. */
  constructor(max_bytes = 16 * 1024 * 1024) {
    this.#max_bytes = max_bytes;
  }

  push(chunk: Uint8Array): ControlEvent[] {
    if (this.#broken) return [];
    const events: ControlEvent[] = [];
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      const event = this.#line(bytes.toString('utf8', start, end));
      start = end + 1;
      if (event === null) continue;
      events.push(event);
      if (event.kind === 'overflow') {
        this.#broken = true;
        return events;
      }
    }
    this.#rest = Buffer.from(bytes.subarray(start));
    if (this.#rest.length > this.#max_bytes) {
      this.#broken = true;
      events.push({ kind: 'overflow' });
    }
    return events;
  }

  #line(line: string): ControlEvent | null {
    const block = this.#block;
    if (block !== null) {
      const ok = line === `%end ${block.stamp}`;
      if (ok || line === `%error ${block.stamp}`) {
        this.#block = null;
        return { kind: block.flags === FROM_OUR_STDIN ? 'reply' : 'foreign', ok, lines: block.lines };
      }
      block.lines.push(line);
      block.bytes += line.length + 1;
      return block.bytes > this.#max_bytes ? { kind: 'overflow' } : null;
    }
    const [, time, number, flags] = BEGIN.exec(line) ?? [];
    if (time !== undefined) {
      this.#block = { stamp: `${time} ${number} ${flags}`, flags: Number(flags), lines: [], bytes: 0 };
      return null;
    }
    if (!line.startsWith('%')) return null;
    const space = line.indexOf(' ');
    return space === -1
      ? { kind: 'notification', name: line.slice(1), text: '' }
      : { kind: 'notification', name: line.slice(1, space), text: line.slice(space + 1) };
  }
}
