import type { Verb } from './verb.ts';

/** Headings of the help, in its order. */
export const VERB_GROUPS = ['Start here', 'Tasks', 'Workers', 'This machine'] as const;
export type VerbGroup = (typeof VERB_GROUPS)[number];

/**
 * A verb that can be listed without loading it, so that each command pays only for its own modules. One without a
 * group is for programs and not listed.
 */
export type VerbRow = { name: string; summary: string; group: VerbGroup | null; load(): Promise<Verb> };
