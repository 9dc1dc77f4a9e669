/** Waits until `condition` gives something and gives that; fails after `most_ms`, naming what did not happen. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  most_ms = 60_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + most_ms;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${most_ms} ms`);
    await pause(20);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
