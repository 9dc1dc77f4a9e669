import { isCoded } from '../base/errors.ts';
import { statusOf } from '../contract/error-codes.ts';
import type { Origin } from '../contract/http/composite.ts';
import { Pieces } from '../http/pieces.ts';
import type { Reply } from '../http/row.ts';
import type { RouteContext } from './context.ts';
import type { LedgerBodies, LedgerBody } from './ledger-bodies.ts';

/** The host whose read a composite holds. */
export type Here = Pick<RouteContext, 'host' | 'git_short_sha'>;

/** The composite around the body of this host's read, in the bytes that it was encoded to; `head` comes first in it. */
export function wrapRead(here: Here, read: Uint8Array | Pieces, head: object = {}): Pieces {
  const { host, git_short_sha } = here;
  const origin = { state: 'fresh', last_ok_at: null, error: null, build: git_short_sha } satisfies Omit<
    Origin,
    'read'
  >;
  const text = JSON.stringify({ ...head, host, origins: { [host]: origin } });
  const inside = read instanceof Pieces ? read.all : [read];
  return new Pieces([Buffer.from(`${text.slice(0, -END.length)},"read":`), ...inside, Buffer.from(END)]);
}

const END = '}}}';

/** The composite of a body of the ledgers, as `bodies.read` answers it. */
export function readComposite(
  here: Here,
  bodies: LedgerBodies,
  body: LedgerBody,
  if_none_match: string | undefined,
): Promise<Reply> {
  const composite = compositeBody(here, body);
  return answerComposite(here, () => bodies.read(composite, if_none_match));
}

/** Its tag covers the build, which the files do not tell. */
function compositeBody(here: Here, { tag, make }: LedgerBody): LedgerBody {
  const tagOf = (etag: string) => `W/"${here.git_short_sha}.${etag.replace(/^W\//, '').slice(1)}`;
  return {
    tag: (stamps) => tagOf(tag(stamps)),
    async make() {
      const { etag, body } = await make();
      return { etag: tagOf(etag), body: wrapRead(here, body) };
    },
  };
}

/** Answers with the composite, also where the read of this host fails: then that is told of it, with its sentence. */
export async function answerComposite(
  { host, git_short_sha }: Here,
  compose: () => Reply | Promise<Reply>,
  head: object = {},
): Promise<Reply> {
  try {
    return await compose();
  } catch (error) {
    if (!isCoded(error) || statusOf(error.code) === 500) throw error;
    const { code, message } = error;
    const origin: Origin = {
      state: 'no_answer',
      last_ok_at: null,
      error: { code, message },
      build: git_short_sha,
      read: null,
    };
    return { status: 200, json: { ...head, host, origins: { [host]: origin } } };
  }
}
