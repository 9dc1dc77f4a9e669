import type { FileStamp } from '../contract/threads/pool.ts';
import { encodedReply } from '../http/prepared-reply.ts';
import type { Reply } from '../http/row.ts';
import type { Files } from './callers.ts';

/** Answers are mostly a few kB, and few are asked for again and again. */
const MOST_KEPT = 1_000;
const MOST_KEPT_BYTES = 8 * 1024 * 1024;
/** A write this close before a look may be followed by one with the same time stamp, in milliseconds. */
const SETTLING_MS = 2_000;

/** The state of everything that an answer is made from; `settled`: the next change makes another `text`. */
export type Mark = { text: string; settled: boolean };

/**
 * Encoded answers, each kept for as long as what it was made from bears the same mark. The mark is taken anew for each
 * question, so no answer is older than the question; the oldest answers make room for others.
 */
export class KeptReplies {
  readonly #kept = new Map<string, { mark: string; reply: Reply; bytes: number }>();
  #bytes = 0;

  /**
   * The kept answer, or the one that is made now. It is kept when the mark was the same before and after it was made;
   * `mark` may answer null for what cannot be told.
   */
  async read(
    key: string,
    mark: () => Mark | null | Promise<Mark | null>,
    make: () => Promise<Reply>,
  ): Promise<Reply> {
    const before = await mark();
    const kept = before === null ? undefined : this.#kept.get(key);
    if (kept !== undefined && kept.mark === before?.text) return kept.reply;
    const reply = encodedReply(await make());
    if (before?.settled === true && (await mark())?.text === before.text) this.#keep(key, before.text, reply);
    return reply;
  }

  #keep(key: string, mark: string, reply: Reply): void {
    if (!('bytes' in reply) || reply.status !== 200) return;
    const bytes = reply.bytes.length + 2 * (key.length + mark.length);
    this.#drop(key);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MOST_KEPT && this.#bytes + bytes <= MOST_KEPT_BYTES) break;
      this.#drop(oldest);
    }
    if (bytes > MOST_KEPT_BYTES) return;
    this.#kept.set(key, { mark, reply, bytes });
    this.#bytes += bytes;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

/** The mark of files by what the file system tells of them; a file that is not there is a state too. */
export async function markOfFiles(
  files: Pick<Files, 'look'>,
  paths: readonly string[],
  now: number,
): Promise<Mark> {
  const looks = await Promise.all(paths.map((path) => files.look(path)));
  const marks = looks.map((look): Mark => {
    if (look.kind === 'file') return markOfStamp(look.stamp, now);
    return { text: look.kind, settled: look.kind === 'missing' };
  });
  return {
    text: marks.map(({ text }) => text).join('|'),
    settled: marks.every(({ settled }) => settled),
  };
}

/** The mark of one file; nothing can be written to it without moving `ctime`. */
export function markOfStamp({ dev, ino, size, mtime_ns, ctime_ns }: FileStamp, now: number): Mark {
  return {
    text: `${dev} ${ino} ${size} ${mtime_ns} ${ctime_ns}`,
    settled: Number(ctime_ns) / 1e6 + SETTLING_MS < now,
  };
}
