import type { Seeded } from '../../faults/seeded.ts';

/** An input, and the one rule of the grammar that was repeated many times in it, or null. */
export type Generated = { input: Buffer; pump: string | null };

/** Something that reads what people and programs write. */
export type Target = {
  name: string;
  /**
   * Makes an input of the grammar; the same numbers make the same input. `turn` chooses the rule that is repeated
   * and how often; null for none.
   */
  generate(random: Seeded, turn: number | null): Generated;
  /** The work whose time and memory are judged; what it throws, but for a `CodedError`, is a finding. */
  run(input: Buffer): unknown | Promise<unknown>;
  /**
   * What is wrong with what `run` answered, one sentence each; a slow reader that is known to be right may be asked
   * here. Only called for inputs that were read in good time.
   */
  judge?(input: Buffer, answer: unknown): string[] | Promise<string[]>;
};
