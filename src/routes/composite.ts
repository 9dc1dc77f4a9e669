import { isCoded } from '../base/errors.ts';
import { statusOf } from '../contract/error-codes.ts';
import type { Origin } from '../contract/http/composite.ts';
import type { AskedRead } from '../contract/threads/fleet.ts';
import { Pieces } from '../http/pieces.ts';
import { namesTag } from '../http/prepared-reply.ts';
import type { Reply } from '../http/reply.ts';
import type { RouteContext } from './context.ts';
import type { LedgerBodies, LedgerBody } from './ledger-bodies.ts';
import { type RemotePart, type RemoteParts, tagOfParts } from './remote-parts.ts';

/** The host whose read a composite holds. */
export type Here = Pick<RouteContext, 'host' | 'git_short_sha'>;

/**
 * The composite around the body of this host's read, in the bytes that it was encoded to, and around the parts of `others`;
 * `head` comes first in it.
 */
export function wrapRead(
  here: Here,
  read: Uint8Array | Pieces,
  head: object = {},
  others: readonly RemotePart[] = [],
): Pieces {
  return joinParts(here, { origin: originOf(here), read }, head, others);
}

/** How fresh the read of this host is: it was read for this answer, unless that failed. */
function originOf({ git_short_sha }: Here, error: Origin['error'] = null): Omit<Origin, 'read'> {
  return { state: error === null ? 'fresh' : 'no_answer', last_ok_at: null, error, build: git_short_sha };
}

type Part = { origin: Omit<Origin, 'read'>; read: Uint8Array | Pieces | null };

function joinParts({ host }: Here, own: Part, head: object, others: readonly RemotePart[]): Pieces {
  const pieces: Uint8Array[] = [];
  const within: Pieces[] = [];
  let text = `${JSON.stringify({ ...head, host, origins: {} }).slice(0, -2)}`;
  for (const { name, origin, read } of [{ name: host, ...own }, ...others]) {
    text += `${pieces.length === 0 ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(origin).slice(0, -1)},"read":`;
    const inside = read === null ? [NULL] : read instanceof Pieces ? read.all : [read];
    pieces.push(Buffer.from(text), ...inside);
    if (read instanceof Pieces) within.push(read);
    text = '}';
  }
  pieces.push(Buffer.from('}}}'));
  return new Pieces(pieces, within);
}

const NULL = Buffer.from('null');

/** The reads of the ledgers: of this host, and of all others. */
export type LedgerReads = { bodies: LedgerBodies; parts: RemoteParts };

/**
 * The composite of a body of the ledgers, as `bodies.read` answers it, and of what the remotes answer to the same question.
 * Its tag covers the build, which the files do not tell. Where the read of this host fails, that is told of it, and there is
 * no tag.
 */
export async function readComposite(
  here: Here,
  { bodies, parts }: LedgerReads,
  { body, asked }: { body: LedgerBody; asked: AskedRead },
  if_none_match: string | undefined,
): Promise<Reply> {
  const tagOf = (etag: string, others: readonly RemotePart[]) => {
    const remote = tagOfParts(others);
    const own = etag.replace(/^W\//, '').slice(1, -1);
    return `W/"${here.git_short_sha}.${own}${remote === '' ? '' : `.${remote}`}"`;
  };
  const asksOnlyForTag = if_none_match !== undefined && bodies.tagOf(body) !== null;
  const early = asksOnlyForTag ? null : settled(bodies.read(body, undefined));
  // It may fail while other hosts are waited for.
  early?.catch(() => undefined);
  const others = await parts.read(asked);
  const own_tag = bodies.tagOf(body);
  if (asksOnlyForTag && own_tag !== null && namesTag(if_none_match, tagOf(own_tag, others)))
    return { status: 304, empty: true, etag: tagOf(own_tag, others) };
  const own = await (early ?? settled(bodies.read(body, undefined)));
  const head = { status: 200, content_type: 'application/json' };
  if ('error' in own)
    return {
      ...head,
      pieces: joinParts(here, { origin: originOf(here, own.error), read: null }, {}, others),
    };
  const pieces = joinParts(here, { origin: originOf(here), read: own.read }, {}, others);
  return own.etag === null ? { ...head, pieces } : { ...head, pieces, etag: tagOf(own.etag, others) };
}

/** The bytes of a read of this host, or why there are none. */
async function settled(
  read: Reply | Promise<Reply>,
): Promise<{ read: Uint8Array | Pieces; etag: string | null } | { error: NonNullable<Origin['error']> }> {
  try {
    const reply = await read;
    const etag = reply.etag ?? null;
    if ('pieces' in reply) return { read: reply.pieces, etag };
    if ('bytes' in reply) return { read: reply.bytes, etag };
    throw new TypeError('a read of the ledgers was answered without its bytes');
  } catch (error) {
    return { error: faultIn(error) };
  }
}

/**
 * Answers with the composite, also where the read of this host fails: then that is told of it, with its sentence, beside the
 * parts of `others`.
 */
export async function answerComposite(
  here: Here,
  compose: () => Reply | Promise<Reply>,
  head: object = {},
  others: () => Promise<readonly RemotePart[]> = async () => [],
): Promise<Reply> {
  try {
    return await compose();
  } catch (error) {
    const own = { origin: originOf(here, faultIn(error)), read: null };
    const pieces = joinParts(here, own, head, await others());
    return { status: 200, pieces, content_type: 'application/json' };
  }
}

/** What is told of a read that failed; a fault of this program is thrown on. */
function faultIn(error: unknown): NonNullable<Origin['error']> {
  if (!isCoded(error) || statusOf(error.code) === 500) throw error;
  const { code, message } = error;
  return { code, message };
}
