import { within } from '../base/clock.ts';
import { sha256Of } from '../base/digest.ts';
import { CodedError, isCoded } from '../base/errors.ts';
import type { Origin } from '../contract/http/composite.ts';
import type { AskedRead, RemoteRead } from '../contract/threads/fleet.ts';
import type { Pieces } from '../http/pieces.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** Every question names those of its feed. */
const MOST_KEPT = 1_000;
const MOST_TOLD = 32;

/** The fleet thread ends its waiting by itself; where it does not so much later, it has no processor. */
const LATER_MS = 1_000;

/** What the fleet thread tells of all other hosts, or `deadline_exceeded` where it does not in time for an answer. */
export async function inTime<T>(
  { clock, remote_answer_ms }: Pick<RouteContext, 'clock' | 'remote_answer_ms'>,
  told: Promise<T>,
): Promise<T> {
  if (await within(clock, remote_answer_ms + LATER_MS, told)) return told;
  const seconds = remote_answer_ms / 1_000;
  throw new CodedError(
    'deadline_exceeded',
    `Nothing was told of other hosts within ${seconds} s; ask again.`,
  );
}

/** What a composite holds of another host: how fresh its read is, and the bytes of that. */
export type RemotePart = {
  name: string;
  origin: Omit<Origin, 'read'>;
  read: Uint8Array | Pieces | null;
  /** Names the bytes; null where there are none. */
  digest: string | null;
};

/**
 * The parts of other hosts in composites. The fleet thread reads and checks them, and sends only the bytes that are not here
 * yet. Those that were wanted longest ago make room for others.
 */
export class RemoteParts {
  readonly #fleet: Callers['fleet'];
  readonly #host: string;
  #remotes: readonly string[] = [];
  /** By digest. */
  readonly #kept = new Map<string, { feed: AskedRead['feed']; bytes: Uint8Array }>();
  #bytes = 0;
  /** What was told last of each question, the one longest unwanted first. */
  readonly #told = new Map<string, readonly RemoteRead[]>();
  readonly #context: Pick<RouteContext, 'clock' | 'remote_answer_ms'>;

  constructor(fleet: Callers['fleet'], context: Pick<RouteContext, 'host' | 'clock' | 'remote_answer_ms'>) {
    const { host } = context;
    this.#fleet = fleet;
    this.#host = host;
    this.#context = context;
    fleet.onEvent('remotes_changed', ({ remotes }) => {
      this.#remotes = remotes.map(({ name }) => name).filter((name) => name !== this.#host);
    });
  }

  /** One part for each configured remote, whatever it answers, in time for an answer; never rejects. */
  async read(asked: AskedRead): Promise<RemotePart[]> {
    if (this.#remotes.length === 0) return [];
    try {
      // What comes later is for the next answer.
      return await inTime(this.#context, this.#ask(asked));
    } catch (error) {
      if (!isCoded(error)) throw error;
      const silent = silentParts(this.#remotes, error);
      return isCoded(error, 'deadline_exceeded') ? this.#lastOf(asked, silent) : silent;
    }
  }

  async #ask(asked: AskedRead): Promise<RemotePart[]> {
    // Others may make room for theirs while the thread answers.
    const had = new Map([...this.#kept].filter(([, { feed }]) => feed === asked.feed));
    const known = [...had.keys()];
    const { value, bulk } = await this.#fleet.exchange('remote_reads', { asked, known });
    this.#remember(asked, value.reads);
    let at = 0;
    return value.reads.map((read) => {
      const bytes = read.length === null ? null : (bulk?.subarray(at, at + read.length) ?? null);
      at += read.length ?? 0;
      if (bytes !== null && bytes.length !== read.length)
        throw new CodedError('internal', 'the fleet thread left out bytes of a read');
      return this.#partOf(asked.feed, read, bytes ?? had.get(read.digest ?? '')?.bytes ?? null);
    });
  }

  #remember(asked: AskedRead, reads: readonly RemoteRead[]): void {
    const question = JSON.stringify(asked);
    this.#told.delete(question);
    this.#told.set(question, reads);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MOST_TOLD) this.#told.delete(oldest!);
  }

  /** What was told last of those hosts, with why there is no word of them now. */
  #lastOf(asked: AskedRead, silent: readonly RemotePart[]): RemotePart[] {
    const told = this.#told.get(JSON.stringify(asked)) ?? [];
    return silent.map((part) => {
      const last = told.find(({ name }) => name === part.name);
      const read = this.#kept.get(last?.digest ?? '')?.bytes;
      if (last === undefined || read === undefined) return part;
      const { state, last_ok_at, build, digest } = last;
      return { ...part, origin: { state, last_ok_at, error: part.origin.error, build }, read, digest };
    });
  }

  #partOf(feed: AskedRead['feed'], read: RemoteRead, bytes: Uint8Array | null): RemotePart {
    const { name, state, last_ok_at, error, build, digest } = read;
    if (digest !== null && bytes !== null) this.#keep(digest, feed, bytes);
    return { name, origin: { state, last_ok_at, error, build }, read: bytes, digest };
  }

  #keep(digest: string, feed: AskedRead['feed'], bytes: Uint8Array): void {
    if (!this.#kept.delete(digest)) this.#bytes += bytes.length;
    this.#kept.set(digest, { feed, bytes });
    for (const [oldest, { bytes: old }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT_BYTES && this.#kept.size <= MOST_KEPT) return;
      this.#kept.delete(oldest);
      this.#bytes -= old.length;
    }
  }
}

/** The parts of hosts that nobody can tell of now, with the reason. */
export function silentParts(
  names: readonly string[],
  { code, message }: { code: string; message: string },
): RemotePart[] {
  const origin = { state: 'no_answer', last_ok_at: null, error: { code, message }, build: null } as const;
  return names.map((name) => ({ name, origin, read: null, digest: null }));
}

/** Names what a composite holds of other hosts, but for the times; empty without any. */
export function tagOfParts(parts: readonly RemotePart[]): string {
  if (parts.length === 0) return '';
  const told = parts.map(({ name, origin: { state, error, build }, digest }) => [
    ...[name, state, error?.code, build, digest],
  ]);
  return sha256Of(JSON.stringify(told));
}
