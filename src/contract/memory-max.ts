import { z } from 'zod';

const UNITS = { MB: 1e6, GB: 1e9, TB: 1e12 } as const;
const FORM = /^(\d+(?:\.\d+)?)\s*(MB|GB|TB|%)$/;
/** The minimum with which a program can start, in bytes. */
const LEAST_BYTES = 16 * UNITS.MB;

/** A memory limit as the operator files write it: a size, a share of the machine's memory, or `off`. */
export const memoryMaxSchema = z
  .string()
  .refine(
    (text) => text === 'off' || isLimit(text),
    'must be a size such as "12 GB", a share of the machine’s memory such as "50%", or "off"',
  );

function isLimit(text: string): boolean {
  const bytes = memoryBytes(text, 100 * LEAST_BYTES);
  return bytes !== null && bytes >= LEAST_BYTES && (!text.endsWith('%') || Number.parseFloat(text) <= 100);
}

/** The limit in bytes on a machine with this much memory; null for `off` and for an invalid value. */
export function memoryBytes(text: string, machine_bytes: number): number | null {
  const [, number, unit] = FORM.exec(text) ?? [];
  if (number === undefined || unit === undefined) return null;
  return Math.floor(
    Number(number) * (unit === '%' ? machine_bytes / 100 : UNITS[unit as keyof typeof UNITS]),
  );
}

/** A figure in GB with one decimal, or in MB below one GB; units as in `memoryBytes`. */
export function showBytes(bytes: number): string {
  return bytes >= UNITS.GB ? `${(bytes / UNITS.GB).toFixed(1)} GB` : `${Math.round(bytes / UNITS.MB)} MB`;
}
