import type { SessionLink } from '../contract/http/transcripts.ts';
import type { FileStamp } from '../contract/threads/pool.ts';
import type { Callers } from './callers.ts';
import { Lane } from './lane.ts';
import type { TranscriptPlace, TranscriptPlaces } from './transcript-places.ts';

type Found = Extract<TranscriptPlace, { kind: 'found' }>;
type Kept = { stamp: FileStamp; url: string | null };

const MOST_KEPT = 5_000;
const MOST_WAITING = 32;

/** The bridge addresses of sessions of this host, kept for as long as time and size of a transcript are the same (RPL-23). */
export class SessionLinks {
  readonly #pool: Callers['pool'];
  readonly #places: TranscriptPlaces;
  readonly #lane = new Lane(MOST_WAITING);
  readonly #kept = new Map<string, Kept>();

  constructor(pool: Callers['pool'], places: TranscriptPlaces) {
    this.#pool = pool;
    this.#places = places;
  }

  /** One link for each session, in order. */
  async of(sessions: readonly string[]): Promise<SessionLink[]> {
    const places = await this.#places.find(sessions, { believe: true });
    const moved = new Map<string, Found>();
    for (const place of places)
      if (place.kind === 'found' && place.linked && !this.#isKept(place)) moved.set(place.path, place);
    if (moved.size > 0) await this.#lane.run(() => this.#read([...moved.values()]));
    return places.map((place, index) => {
      const session = sessions[index]!;
      const { harness } = place;
      if (place.kind !== 'found') return { session, availability: 'transcript_missing', harness, url: null };
      const url = this.#kept.get(place.path)?.url ?? null;
      return { session, availability: 'available_local', harness, url };
    });
  }

  #isKept(place: Found): boolean {
    const kept = this.#kept.get(place.path)?.stamp;
    return kept !== undefined && isSame(kept, place.stamp) && kept.mtime_ns === place.stamp.mtime_ns;
  }

  /** A transcript only grows: of one that is known, what has come since is read. */
  async #read(places: readonly Found[]): Promise<void> {
    const files = places.map(({ harness, path, stamp }) => ({
      harness,
      path,
      seen: this.#seen(path, stamp),
      to: stamp.size,
    }));
    const { urls } = (await this.#pool.run('find_bridge_urls', { files })).value;
    for (const [index, { path, stamp }] of places.entries()) {
      const earlier = files[index]!.seen > 0 ? (this.#kept.get(path)?.url ?? null) : null;
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(path, { stamp, url: urls[index] ?? earlier });
    }
  }

  #seen(path: string, stamp: FileStamp): number {
    const kept = this.#kept.get(path)?.stamp;
    const grown =
      kept !== undefined && kept.dev === stamp.dev && kept.ino === stamp.ino && kept.size < stamp.size;
    return grown ? kept.size : 0;
  }
}

function isSame(a: FileStamp, b: FileStamp): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size;
}
