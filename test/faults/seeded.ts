/** Random numbers that a printed seed gives again. */
export type Seeded = {
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(of_one: number): boolean;
  /** `count` different ones, or all when there are fewer. */
  some<T>(from: readonly T[], count: number): T[];
};

export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    whole,
    chance: (of_one) => next() < of_one,
    some(from, count) {
      const left = [...from];
      const taken = [];
      while (taken.length < count && left.length > 0)
        taken.push(...left.splice(whole(0, left.length - 1), 1));
      return taken;
    },
  };
}
