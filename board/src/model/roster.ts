import type { Roster } from './wire.ts';

/** A roster as lines that a person edits: `reviewer: birch, oak`. */
export function printRoster(roster: Roster | undefined): string {
  return Object.entries(roster ?? {})
    .map(([role, names]) => (names.length === 0 ? role : `${role}: ${names.join(', ')}`))
    .join('\n');
}

/** The roster that such lines name. The daemon judges its names; only a role that comes twice is refused here. */
export function parseRoster(text: string): { roster: Roster } | { fault: string } {
  const roster: Roster = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [role = '', ...rest] = line.split(':');
    const name = role.trim();
    if (Object.hasOwn(roster, name))
      return { fault: `The role “${name}” is there twice; write its names in one line.` };
    const names = rest
      .join(':')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    Object.defineProperty(roster, name, {
      value: names,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { roster };
}
