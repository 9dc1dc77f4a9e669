import { CodedError, isCoded } from '../base/errors.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { parseHarnessName } from '../contract/harness-name.ts';
import { MISSING_MEMORY_MS } from '../contract/http/transcripts.ts';
import type { SessionLine } from '../contract/ledger.ts';
import type { FileStamp } from '../contract/threads/pool.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** Where the transcript of a session lies now. */
export type TranscriptPlace =
  | (Known & { kind: 'found'; stamp: FileStamp; mtime_ms: number })
  | { kind: 'missing'; harness: HarnessName | null }
  /** It could not be looked at, because of its disk. */
  | { kind: 'unknown'; harness: HarnessName | null; fault: CodedError }
  /** The conversation is known, and which transcript it writes is not yet. */
  | { kind: 'pending'; harness: HarnessName | null };

/** Where it lies, or that there is none. */
type KnownPlace = Exclude<TranscriptPlace, { kind: 'unknown' }>;

/** `linked`: it may name a page that shows the session. */
type Known = { harness: HarnessName; path: string; linked: boolean };
type Identity = { session: string | null; harness: HarnessName | null; agent: string | null };

const MOST_KNOWN = 5_000;

/** Finds transcripts by the id of their session, and remembers where they lie: they never move, but may go. */
export class TranscriptPlaces {
  readonly #callers: Pick<Callers, 'ledgers' | 'pool' | 'files'>;
  readonly #context: Pick<RouteContext, 'agents_file' | 'clock'>;
  readonly #known = new Map<string, Known>();
  /** Sessions without a transcript, and until when that is believed (LIM-10). */
  readonly #missing = new Map<string, { until: number; harness: HarnessName | null }>();

  constructor(
    callers: Pick<Callers, 'ledgers' | 'pool' | 'files'>,
    context: Pick<RouteContext, 'agents_file' | 'clock'>,
  ) {
    this.#callers = callers;
    this.#context = context;
  }

  /** The place of one session; throws why it could not be looked at. */
  async findOne(session: string, options: { believe: boolean }): Promise<KnownPlace> {
    const [place] = await this.find([session], options);
    if (place!.kind === 'unknown') throw place!.fault;
    return place!;
  }

  /** One place for each session, in order. `believe`: a session that was missing a moment ago is not looked for. */
  async find(sessions: readonly string[], options: { believe: boolean }): Promise<TranscriptPlace[]> {
    const places = new Map<string, TranscriptPlace>();
    const unknown: string[] = [];
    for (const session of new Set(sessions)) {
      const place = (await this.#known_(session)) ?? (options.believe ? this.#believed(session) : null);
      if (place === null) unknown.push(session);
      else places.set(session, place);
    }
    if (unknown.length > 0) await this.#search(unknown, places);
    return sessions.map((session) => places.get(session)!);
  }

  async #known_(session: string): Promise<TranscriptPlace | null> {
    const known = this.#known.get(session);
    if (known === undefined) return null;
    const place = await this.#look(known);
    if (place === null) this.#known.delete(session);
    return place;
  }

  #believed(session: string): TranscriptPlace | null {
    const missing = this.#missing.get(session);
    if (missing === undefined) return null;
    const left = missing.until - this.#context.clock.now();
    // More than is ever left: the clock was turned back since.
    if (left > 0 && left <= MISSING_MEMORY_MS) return { kind: 'missing', harness: missing.harness };
    this.#missing.delete(session);
    return null;
  }

  async #search(sessions: readonly string[], places: Map<string, TranscriptPlace>): Promise<void> {
    const identities = await Promise.all(sessions.map((session) => this.#identify(session)));
    const wanted = identities.flatMap(({ session, harness, agent }) =>
      session === null ? [] : [{ session, harness, agent }],
    );
    const { agents_file } = this.#context;
    const found =
      wanted.length === 0
        ? []
        : (await this.#callers.pool.run('find_transcripts', { agents_file, sessions: wanted })).value
            .transcripts;
    let next = 0;
    for (const [index, session] of sessions.entries()) {
      const identity = identities[index]!;
      const { harness } = identity;
      if (identity.session === null) {
        places.set(session, { kind: 'pending', harness });
        continue;
      }
      const hit = found[next++] ?? null;
      if (hit !== null && 'fault' in hit) {
        const fault = new CodedError('file_unavailable', hit.fault);
        places.set(session, { kind: 'unknown', harness, fault });
        continue;
      }
      const place = hit === null ? null : await this.#look(hit);
      places.set(session, place ?? { kind: 'missing', harness });
      if (hit !== null && place !== null) remember(this.#known, session, hit);
      else
        remember(this.#missing, session, {
          until: this.#context.clock.now() + MISSING_MEMORY_MS,
          harness,
        });
    }
  }

  async #identify(session: string): Promise<Identity> {
    const { lines } = await this.#callers.ledgers.call('lines_of_session', { session });
    return identityOf(session, lines);
  }

  async #look(known: Known): Promise<TranscriptPlace | null> {
    try {
      const look = await this.#callers.files.stat(known.path);
      return look.kind === 'file'
        ? { kind: 'found', ...known, stamp: look.stamp, mtime_ms: look.mtime_ms }
        : null;
    } catch (error) {
      if (!isCoded(error)) throw error;
      return { kind: 'unknown', harness: known.harness, fault: error };
    }
  }
}

/**
 * What the lines of the ledger say of a session: its transcript may have another id than the conversation
 * (WRK-5), and a conversation whose transcript is not known yet has a null one.
 */
function identityOf(session: string, lines: readonly SessionLine[]): Identity {
  const last = lines.at(-1);
  const harness = last === undefined ? null : (parseHarnessName(last.harness) ?? null);
  const agent = lines.findLast((line) => line.agent !== undefined)?.agent ?? null;
  const own = lines.filter((line) => line.thread_id === session);
  if (own.length === 0 || own.some((line) => line.session === session)) return { session, harness, agent };
  return { session: own.findLast((line) => line.session !== null)?.session ?? null, harness, agent };
}

function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  const [oldest] = memory.keys();
  if (memory.size >= MOST_KNOWN && oldest !== undefined) memory.delete(oldest);
  memory.set(key, value);
}
