import { z } from 'zod';
import { HARNESS_NAMES } from '../harness-name.ts';

/** An id as the agent programs give them; it becomes part of a file name. */
export const sessionIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
  error: 'must be the id of a session: letters, digits, dots, hyphens and underscores',
});

/** `GET /transcript` and `GET /transcript/raw` (RPL-12, RPL-13); `host` is the one that holds the transcript. */
export const transcriptQuerySchema = z.object({ session: sessionIdSchema, host: z.string().optional() });

/** Where a transcript is (REC-5). What is not known of one is null. */
export const transcriptReceiptSchema = z.object({
  session: z.string(),
  availability: z.enum([
    'available_local',
    'available_remote',
    'transcript_missing',
    'host_unreachable',
    'identity_pending',
  ]),
  host: z.string(),
  harness: z.enum(HARNESS_NAMES).nullable(),
  /** Absolute path on `host`. */
  source_path: z.string().nullable(),
  byte_count: z.number().int().nullable(),
  /** Hex digest of those bytes. */
  sha256: z.string().nullable(),
});
export type TranscriptReceipt = z.infer<typeof transcriptReceiptSchema>;

export const BYTE_COUNT_HEADER = 'X-Transcript-Byte-Count';
export const SHA256_HEADER = 'X-Transcript-SHA256';

/** Most sessions of one request (LIM-9). */
export const MOST_LINKED_SESSIONS = 50;
/** How long a session without a transcript is remembered as such, in milliseconds (LIM-10). */
export const MISSING_MEMORY_MS = 60_000;

/** `GET /sessions/links?sessions=a,b&host=` (RPL-14). */
export const linksQuerySchema = z.object({
  sessions: z
    .string()
    .transform((text) => text.split(',').map((id) => id.trim()))
    .pipe(
      z
        .array(sessionIdSchema)
        .min(1)
        .max(MOST_LINKED_SESSIONS, {
          error: `at most ${MOST_LINKED_SESSIONS} sessions may be asked about at a time`,
        }),
    ),
  host: z.string().optional(),
});

/** The way to a session in a browser (REC-6); `url` is null where there is none. */
export const sessionLinkSchema = z.object({
  session: z.string(),
  availability: z.enum(['available_local', 'transcript_missing', 'host_unreachable']),
  harness: z.enum(HARNESS_NAMES).nullable(),
  url: z.string().nullable(),
});
export type SessionLink = z.infer<typeof sessionLinkSchema>;

/** One entry for each session, in the order of the request. */
export const linksReplySchema = z.object({ host: z.string(), links: z.array(sessionLinkSchema) });
export type LinksReply = z.infer<typeof linksReplySchema>;

/** The host of the pages that show a session of Claude Code. */
const BRIDGE_HOST = 'claude.ai';
const MOST_URL_CHARS = 2_048;

/** The address as it is when it is an `https://` one on the bridge host, else null (RPL-14). */
export function bridgeUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MOST_URL_CHARS || !URL.canParse(value)) return null;
  const { protocol, host, username, password } = new URL(value);
  const plain = username === '' && password === '' && !/[\s\\]/.test(value);
  return protocol === 'https:' && host === BRIDGE_HOST && plain ? value : null;
}

/** A link as another host told it: only what tells the session and where it is has to be well-formed. */
const toldLinkSchema = sessionLinkSchema.extend({
  harness: sessionLinkSchema.shape.harness.catch(null),
  url: z.unknown(),
});
const toldLinksSchema = z.object({ links: z.array(z.unknown()) });

/**
 * What a remote host said about some sessions, made safe (RPL-23): an entry for each session that was asked about,
 * in that order; others are dropped, and addresses of another shape are null. Of a session that the host did not
 * speak of, nothing is known.
 */
export function recheckLinks(asked: readonly string[], answer: unknown): SessionLink[] {
  const told = new Map<string, z.output<typeof toldLinkSchema>>();
  for (const entry of toldLinksSchema.safeParse(answer).data?.links ?? []) {
    const link = toldLinkSchema.safeParse(entry).data;
    if (link !== undefined) told.set(link.session, link);
  }
  return asked.map((session) => {
    const link = told.get(session);
    if (link === undefined) return { session, availability: 'host_unreachable', harness: null, url: null };
    const { availability, harness, url } = link;
    return { session, availability, harness, url: bridgeUrl(url) };
  });
}
