import { InvalidArgumentError } from 'commander';

/** Parses an option that takes a count; anything else is a usage error. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It takes a whole number.');
  return value;
}
