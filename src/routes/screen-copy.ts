import type { ScreenMessage } from '../contract/http/terminal.ts';

/** Lines that are kept, history and screen together; the oldest are dropped. */
const MOST_LINES = 1_000;
/** Bytes of all lines that are kept, so that one message can tell all of them. */
const MOST_BYTES = 1024 * 1024;

/** The screen of a terminal as it was captured: its lines, each as the JSON of its runs. */
export type Capture = {
  columns: number;
  /** Lines above the visible screen. */
  history: number;
  /** What the first line is, counted from the oldest of the history. */
  first: number;
  lines: readonly string[];
};

type Line = { json: string; bytes: number; version: number };

const EMPTY = '[]';
/** Lines that have to be the same for a terminal that dropped its oldest ones to be known again. */
const LEAST_SAME = 8;

/**
 * The lines of one terminal, numbered so that each keeps its number when it scrolls. Every change has a version, and
 * `since` tells what is different from any earlier one.
 */
export class ScreenCopy {
  #version = 0;
  /** The number of the first line that is kept. */
  #first = 0;
  #lines: Line[] = [];
  /** The number of what tmux calls the oldest line. */
  #oldest = 0;
  #top = 0;
  #bytes = 0;
  #shown: { columns: number; history: number } | null = null;
  #stale: string | null = null;
  #encoded = new Map<number, Uint8Array>();

  get version(): number {
    return this.#version;
  }

  /**
   * Takes what a terminal shows now. `gap`: the lines between those and the ones that are kept are missing, so nothing
   * was taken; a longer capture is needed. A `whole` one is always taken.
   */
  take(capture: Capture, { whole }: { whole: boolean }): 'taken' | 'gap' {
    const oldest = this.#goesOn(capture) ? this.#oldest : this.#oldestAfterTrim(capture);
    if (oldest === null && !whole) return 'gap';
    const version = this.#version + 1;
    const before = this.#outline();
    if (oldest === null) this.#startAnew(capture);
    else this.#oldest = oldest;
    const { columns, history, first, lines } = capture;
    let changed = oldest === null;
    lines.forEach((json, index) => {
      if (this.#write(this.#oldest + first + index, json, version)) changed = true;
    });
    this.#shorten(this.#oldest + first + lines.length);
    this.#top = this.#oldest + history;
    this.#shown = { columns, history };
    this.#stale = null;
    this.#forgetOldest();
    if (changed || this.#outline() !== before) this.#become(version);
    return 'taken';
  }

  /** Says why the lines may be out of date. */
  goStale(reason: string): void {
    if (this.#stale === reason) return;
    this.#stale = reason;
    this.#become(this.#version + 1);
  }

  /** The lines are those of the terminal, which has not changed. */
  isCurrent(): void {
    if (this.#stale === null) return;
    this.#stale = null;
    this.#become(this.#version + 1);
  }

  /** The message that leads from that version to this one; null where there is nothing to tell. */
  since(version: number): Uint8Array | null {
    if (version === this.#version) return null;
    const known = this.#encoded.get(version);
    if (known !== undefined) return known;
    const lines = this.#lines.flatMap(({ json, version: changed }, index) =>
      changed > version && !(version === 0 && json === EMPTY)
        ? [`{"n":${this.#first + index},"runs":${json}}`]
        : [],
    );
    const head: Omit<ScreenMessage, 'lines'> = {
      state: 'screen',
      ...{ first: this.#first, top: Math.max(this.#top, this.#first), end: this.#end },
      ...{ columns: this.#shown?.columns ?? 0, stale: this.#stale },
    };
    const bytes = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"lines":[${lines.join(',')}]}`);
    this.#encoded.set(version, bytes);
    return bytes;
  }

  get #end(): number {
    return this.#first + this.#lines.length;
  }

  /** Whether the capture continues the lines that are kept: nothing lies between, and what both have is the same. */
  #goesOn({ columns, history, first, lines }: Capture): boolean {
    const shown = this.#shown;
    if (shown === null || shown.columns !== columns || first > shown.history) return false;
    let compared = 0;
    for (let index = first; index < Math.min(shown.history, history); index += 1) {
      const kept = this.#lines[this.#oldest + index - this.#first];
      if (kept === undefined) continue;
      if (kept.json !== lines[index - first]) return false;
      compared += 1;
    }
    // Where the history is shorter than before, only a line that both have shows that it is the same one.
    return history >= shown.history || compared > 0;
  }

  /**
   * A full history loses many of its oldest lines at once, so that every line has another place in it. The number of the
   * oldest line is then told by where the captured history is among the lines that are kept; null where it is not.
   */
  #oldestAfterTrim({ columns, history, first, lines }: Capture): number | null {
    if (this.#shown?.columns !== columns) return null;
    const kept = this.#lines.slice(0, Math.max(0, this.#top - this.#first));
    const captured = lines.slice(0, Math.max(0, history - first));
    for (let at = 0; kept.length - at >= LEAST_SAME; at += 1) {
      const same = Math.min(kept.length - at, captured.length);
      if (same < LEAST_SAME) return null;
      if (kept[at]?.json !== captured[0]) continue;
      if (captured.slice(0, same).every((json, index) => kept[at + index]?.json === json))
        return this.#first + at - first;
    }
    return null;
  }

  #startAnew({ first }: Capture): void {
    this.#first = this.#end;
    this.#oldest = this.#first - first;
    this.#lines = [];
    this.#bytes = 0;
  }

  #write(number: number, json: string, version: number): boolean {
    const index = number - this.#first;
    if (index < 0) return false;
    while (this.#lines.length <= index) this.#lines.push({ json: EMPTY, bytes: 2, version });
    const before = this.#lines[index];
    if (before === undefined || before.json === json) return false;
    const bytes = Buffer.byteLength(json);
    this.#bytes += bytes - before.bytes;
    this.#lines[index] = { json, bytes, version };
    return true;
  }

  #shorten(end: number): void {
    for (const { bytes } of this.#lines.splice(Math.max(0, end - this.#first))) this.#bytes -= bytes;
  }

  #forgetOldest(): void {
    let drop = Math.max(0, this.#lines.length - MOST_LINES);
    for (const { bytes } of this.#lines.slice(0, drop)) this.#bytes -= bytes;
    for (; this.#bytes > MOST_BYTES && drop < this.#lines.length; drop += 1)
      this.#bytes -= this.#lines[drop]?.bytes ?? 0;
    this.#lines.splice(0, drop);
    this.#first += drop;
  }

  #outline(): string {
    return JSON.stringify([this.#first, this.#end, this.#top, this.#shown?.columns, this.#stale]);
  }

  #become(version: number): void {
    this.#version = version;
    this.#encoded.clear();
  }
}
