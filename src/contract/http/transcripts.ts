import { z } from 'zod';
import { HARNESS_NAMES } from '../harness-name.ts';

/** A session id of an agent program; it becomes part of a file name. */
export const sessionIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
  error: 'must be the id of a session: letters, digits, dots, hyphens and underscores',
});

/** `GET /transcript` and `GET /transcript/raw` (RPL-12, RPL-13); `host` is the host with the transcript. */
export const transcriptQuerySchema = z.object({ session: sessionIdSchema, host: z.string().optional() });

/** Location of a transcript (REC-5). Unknown values are null. */
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

/** Maximum number of sessions of one request (LIM-9). */
const MOST_LINKED_SESSIONS = 50;
/** How long the absence of a transcript is cached, in milliseconds (LIM-10). */
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
          error: `must have at most ${MOST_LINKED_SESSIONS} sessions`,
        }),
    ),
  host: z.string().optional(),
});

/** The web address of a session (REC-6); `url` is null if there is none. */
const sessionLinkSchema = z.object({
  session: z.string(),
  availability: z.enum(['available_local', 'transcript_missing', 'host_unreachable']),
  harness: z.enum(HARNESS_NAMES).nullable(),
  url: z.string().nullable(),
});
export type SessionLink = z.infer<typeof sessionLinkSchema>;

/** One entry for each session, in the order of the request. */
export const linksReplySchema = z.object({ host: z.string(), links: z.array(sessionLinkSchema) });
export type LinksReply = z.infer<typeof linksReplySchema>;

/** The host of the web pages of Claude Code sessions. */
const BRIDGE_HOST = 'claude.ai';
const MOST_URL_CHARS = 2_048;

/** Returns an `https://` address on the bridge host unchanged, else null (RPL-14). */
export function bridgeUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MOST_URL_CHARS || !URL.canParse(value)) return null;
  const { protocol, host, username, password } = new URL(value);
  const plain = username === '' && password === '' && !/[\s\\]/.test(value);
  return protocol === 'https:' && host === BRIDGE_HOST && plain ? value : null;
}

/** A link from another host: only the session and its location must be well-formed. */
const toldLinkSchema = sessionLinkSchema.extend({
  harness: sessionLinkSchema.shape.harness.catch(null),
  url: z.unknown(),
});
const toldLinksSchema = z.object({ links: z.array(z.unknown()) });

/**
 * Sanitises the answer of a remote host about some sessions (RPL-23): one entry for each requested session, in that
 * order. Other entries are dropped, invalid addresses become null, and a session missing in the answer has only null
 * values.
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
