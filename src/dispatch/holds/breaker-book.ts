import { z } from 'zod';
import type { Logger } from '../../base/logger.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { World } from '../world/world.ts';
import {
  afterRun,
  type BreakerEntry,
  type BreakerPolicy,
  breakerEntrySchema,
  pausedUntil,
  type RunEnd,
} from './breaker.ts';
import type { Refusals } from './refusals.ts';
import { StateFile } from './state-file.ts';

const bookSchema = z.object({ version: z.literal(1), fibers: z.record(z.string(), breakerEntrySchema) });

/** The breaker's counts by fiber key, kept in one file so that they survive a restart (P26). */
export class BreakerBook {
  readonly #file: StateFile<z.infer<typeof bookSchema>>;
  readonly #policy: BreakerPolicy;
  readonly #entries: Map<string, BreakerEntry>;

  /** Reads the file; logs one that cannot be read, and counts from zero. */
  constructor(options: { path: string; policy: BreakerPolicy; logger: Logger }) {
    const { path, policy, logger } = options;
    const words = { what: 'the loop breaker’s counts', instead: 'counting from zero' };
    this.#file = new StateFile({ path, schema: bookSchema, logger, ...words });
    this.#policy = policy;
    this.#entries = new Map(Object.entries(this.#file.read()?.fibers ?? {}));
  }

  pausedUntil(key: string, now: number): number | null {
    return pausedUntil(this.#entries.get(key), now, this.#policy);
  }

  /** Since when the fiber is held for a person, since no pause has helped; null when it is not. */
  heldSince(key: string): number | null {
    const entry = this.#entries.get(key);
    return entry?.held === true ? (entry.last_at ?? 0) : null;
  }

  /** The message about a paused or held fiber; null while the breaker is closed. `until` is null when it is held. */
  tripped(key: string, now: number): (BreakerEntry & { until: number | null }) | null {
    const entry = this.#entries.get(key);
    const until = this.pausedUntil(key, now);
    if (entry === undefined || (until === null && !entry.held)) return null;
    return { ...entry, until };
  }

  /** Counts one ended run and writes the book when it changed. */
  record(key: string, end: RunEnd, now: number, launch_id: string): void {
    const before = this.#entries.get(key);
    const after = afterRun(before, end, now, this.#policy);
    if (after === before) return;
    if (after === undefined) this.#entries.delete(key);
    else this.#entries.set(key, { ...after, launch_id });
    this.#write();
  }

  /** A forced start by a person closes the breaker of that fiber. */
  clear(key: string): void {
    if (this.#entries.delete(key)) this.#write();
  }

  #write(): void {
    this.#file.write({ version: 1, fibers: Object.fromEntries(this.#entries) });
  }
}

/**
 * Lists a fiber that the loop breaker pauses or holds as blocked, with every quick end of its workers counted and the last
 * screen of the last one (P26).
 */
export function blockWhenPaused(
  world: Pick<World, 'clock' | 'runDirectories'>,
  memory: { breaker: BreakerBook; refusals: Refusals },
  key: string,
  fiber_id: string,
): void {
  const now = world.clock.now();
  const tripped = memory.breaker.tripped(key, now);
  if (tripped === null) return;
  const { launch_id, quick_ends, deaths, until, last_at = now, first_at = last_at } = tripped;
  const screen = launch_id === undefined ? null : world.runDirectories.readScreen(launch_id);
  memory.refusals.set(key, {
    reason: 'loop_breaker',
    message: `${describeQuickEnds(tripped)}; ${
      until === null
        ? `\`svc resume ${shellWord(fiber_id)}\` lets it go on, \`svc dispatch ${shellWord(fiber_id)}\` starts it at once`
        : `\`svc dispatch ${shellWord(fiber_id)}\` tries again at once`
    }`,
    attempts: Math.max(quick_ends, deaths),
    first_attempted_at: first_at,
    attempted_at: last_at,
    retry_at: until,
    ...(screen === null ? {} : { screen }),
  });
}

/** What happened repeatedly, and what was done about it. */
export function describeQuickEnds({ deaths, quick_ends, pauses, held }: BreakerEntry): string {
  const ends =
    quick_ends > deaths
      ? `${quick_ends} workers in a row handed off or died soon after their start`
      : `${deaths} workers in a row died soon after their start`;
  if (held) return `${ends}, the last of them after a pause; it is held until a person lets it go on`;
  return pauses > 1 ? `${ends}, the last of them after a pause; each pause is longer` : ends;
}
