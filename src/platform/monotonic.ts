/** Milliseconds since the start of the system, by a clock that nobody sets and that every process reads the same. */
export function systemMonotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
