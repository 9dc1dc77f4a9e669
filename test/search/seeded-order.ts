import { createHash } from 'node:crypto';
import { type Seeded, seeded } from '../faults/seeded.ts';

/** Random numbers that the text of a seed gives again. */
export function seededBy(text: string): Seeded {
  return seeded(createHash('sha256').update(text).digest().readUInt32LE(0));
}

/** The same things in an order that the seed gives again. */
export function shuffled<T>(things: readonly T[], seed: string): T[] {
  return seededBy(seed).some(things, things.length);
}

/** Works on the things one after another, `lanes` at a time, until there are none or `goesOn` says no. */
export async function inLanes<T>(
  things: readonly T[],
  lanes: number,
  goesOn: () => boolean,
  work: (thing: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < things.length && goesOn()) await work(things[next++]!);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
