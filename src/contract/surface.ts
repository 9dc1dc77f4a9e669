import { z } from 'zod';
import { APP_HARNESS, type HarnessName } from './harness-name.ts';

/** What is fixed of a surface. */
export type SurfaceRules = {
  /** Its workers live in sessions of the multiplexer, and their transcripts and hooks tell what they do. */
  in_terminal: boolean;
  /** The agent of a fiber that names none; null for the default agent of the host. */
  agent: string | null;
  /** The only harness that has this surface; null where all have it. */
  harness: HarnessName | null;
  /** How a fiber with this surface runs, and what may be its worker, as sentences have it. */
  runs: string;
  worker: string;
  workers: string;
};

/** The agent of the app surface for a fiber that names none. */
export const APP_AGENT = APP_HARNESS;

const RULES = {
  app: {
    in_terminal: false,
    agent: APP_AGENT,
    harness: APP_HARNESS,
    runs: 'as an app conversation',
    worker: 'an app conversation',
    workers: 'app conversations',
  },
  cli: {
    in_terminal: true,
    agent: null,
    harness: null,
    runs: 'in a terminal',
    worker: 'a terminal session',
    workers: 'terminal sessions',
  },
} satisfies Record<string, SurfaceRules>;

/** Where workers run: each way has its object below `src/dispatch/surfaces/`. */
export type Surface = keyof typeof RULES;
export const SURFACE_RULES: Record<Surface, SurfaceRules> = RULES;
export const SURFACES = Object.keys(RULES) as Surface[];
export const surfaceSchema = z.enum(SURFACES);

/** The surface of a fiber or request that names none. */
export const DEFAULT_SURFACE: Surface = 'cli';

/** The surface that a conversation was begun on: those of the app have an id of their own. */
export function surfaceOfConversation({ thread_id }: { thread_id?: string | undefined }): Surface {
  return thread_id === undefined ? DEFAULT_SURFACE : 'app';
}
