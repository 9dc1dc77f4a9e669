import { z } from 'zod';
import type { Logger } from '../../base/logger.ts';
import { StateFile } from './state-file.ts';

/** A usage limit that an account is over. Times are milliseconds. */
const limitSchema = z.object({
  account: z.string(),
  /** Family of models that alone is over it; null for the whole account. */
  family: z.string().nullable(),
  /** The agent that met it, and the program's own sentence. */
  agent: z.string(),
  notice: z.string(),
  at: z.number(),
  /** No start on this account before this time. */
  until: z.number(),
  /** The program reported when it ends; otherwise `until` is estimated from the setting. */
  told: z.boolean(),
});
export type AccountLimit = z.infer<typeof limitSchema>;
const bookSchema = z.object({ version: z.literal(1), limits: z.array(limitSchema) });

/** Whose limits count: an agent's account and model. */
export type Payer = { account: string; model: string | null };

/** An answer that was already under way when the limit was reached does not prove that the limit is over. */
const IN_FLIGHT_MS = 120_000;

/** The usage limits in force, kept in one file so that they survive a restart (P10). */
export class UsageLimitBook {
  readonly #file: StateFile<z.infer<typeof bookSchema>>;
  #limits: AccountLimit[];

  /** Reads the file; logs one that cannot be read, and learns the limits again. */
  constructor(options: { path: string; logger: Logger }) {
    const words = { what: 'the usage limits', instead: 'they are learned again' };
    this.#file = new StateFile({ ...options, schema: bookSchema, ...words });
    this.#limits = this.#file.read()?.limits ?? [];
  }

  /** True while nothing is limited, so that nobody needs to be asked on whose account it works. */
  get isEmpty(): boolean {
    return this.#limits.length === 0;
  }

  /** The limit that keeps this agent back the longest; null when none does. */
  of(payer: Payer, now: number): AccountLimit | null {
    return this.#limits
      .filter((one) => one.until > now && concerns(one, payer))
      .reduce<AccountLimit | null>((most, one) => (one.until > (most?.until ?? 0) ? one : most), null);
  }

  /** Notes a limit; false when it was known. Those that have run out are forgotten. */
  note(limit: AccountLimit, now: number): boolean {
    const isSame = (one: AccountLimit) => one.account === limit.account && one.family === limit.family;
    const known = this.#limits.find(isSame);
    if (limit.until <= now || (known !== undefined && known.at >= limit.at)) return false;
    this.#limits = [...this.#limits.filter((one) => one.until > now && !isSame(one)), limit];
    this.#write();
    return true;
  }

  /** The account worked at this time: limits noted before are over. */
  lift(payer: Payer, at: number): boolean {
    const left = this.#limits.filter((one) => one.at + IN_FLIGHT_MS >= at || !concerns(one, payer));
    if (left.length === this.#limits.length) return false;
    this.#limits = left;
    this.#write();
    return true;
  }

  #write(): void {
    this.#file.write({ version: 1, limits: this.#limits });
  }
}

/** An agent whose model is not named may use any of them. */
function concerns({ account, family }: AccountLimit, payer: Payer): boolean {
  if (account !== payer.account) return false;
  return family === null || payer.model === null || payer.model.toLowerCase().includes(family);
}
