import { CodedError } from '../base/errors.ts';
import { commitPatchQuerySchema, commitPatchSchema } from '../contract/http/commit-patch.ts';
import { commitsCompositeSchema, commitsSchema } from '../contract/http/commits.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { commitsTag } from '../contract/ledger-tags.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { type LedgerReads, readComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import { Lane } from './lane.ts';
import { type LedgerBody, wholeBody } from './ledger-bodies.ts';

/** Commits that wait to be read, each up to some seconds. */
const MOST_WAITING = 16;

/** Which session made each commit: of this host (TMP-3), and of all (TMP-6); and what one of this host changed. */
export function commitsRows(
  { ledgers, pool, files }: Pick<Callers, 'ledgers' | 'pool' | 'files'>,
  reads: LedgerReads,
  context: RouteContext,
): Row[] {
  const { host } = context;
  const { bodies } = reads;
  const lane = new Lane(MOST_WAITING);
  const commitNamed = async (sha: string) => {
    const { commits } = await ledgers.call('commits_named', { sha });
    const [commit, other] = commits;
    if (commit === undefined)
      throw new CodedError(
        'not_found',
        `no worker of ${host} is known to have made the commit ${sha}; GET /commits lists those that are`,
        { details: { sha, host } },
      );
    if (other === undefined) return commit;
    const message = `several commits of ${host} begin with ${sha}; give more digits of the one`;
    throw new CodedError('invalid_request', message);
  };
  const body: LedgerBody = {
    tag: commitsTag,
    make: () => wholeBody(ledgers.exchange('commits', { host })),
  };
  const common = {
    method: 'GET',
    page: 'ledgers.md',
    state: 'ready',
    body_limit: 0,
    shared: false,
  } as const;
  return [
    defineRow({
      ...common,
      path: '/api/v1/commits',
      summary: 'Commits that agents made',
      routing: 'host-scoped',
      query: originQuerySchema,
      replies: { 200: commitsSchema, 304: 'empty' },
      handler: ({ headers }) => bodies.read(body, headers['if-none-match']),
    }),
    defineRow({
      ...common,
      path: '/api/v1/commits/composite',
      summary: 'Commits that agents made on all hosts',
      routing: 'fan-in',
      replies: { 200: commitsCompositeSchema, 304: 'empty' },
      handler: ({ headers }) =>
        readComposite(context, reads, { body, asked: { feed: 'commits' } }, headers['if-none-match']),
    }),
    defineRow({
      ...common,
      path: '/api/v1/commits/patch',
      summary: 'What a commit that an agent made changed, file by file',
      example: { query: 'sha=4e1243bd22c66e76c2ba9eddc1f91394e57f9f83' },
      needs: 'commit',
      routing: 'host',
      shared: true,
      query: commitPatchQuerySchema,
      replies: { 200: commitPatchSchema },
      async handler({ query }) {
        // The place is the ledger's: no request names a folder.
        const { sha, repo } = await commitNamed(query.sha);
        const { kind } = await files.stat(repo);
        if (kind !== 'directory')
          throw new CodedError(
            'not_found',
            `the folder ${repo}, where a worker made ${sha.slice(0, 12)}, is gone; look for the commit where it was pushed to`,
            { details: { sha, repo } },
          );
        const { value } = await lane.run(() => pool.run('read_commit_patch', { repo, sha }));
        return { status: 200, json: { host, sha, repo, ...value } };
      },
    }),
  ];
}
