import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommitLedgerLine } from '../../src/contract/ledger.ts';
import { CommitsLedger } from '../../src/ledgers/commits-ledger.ts';
import { makeRepository, type Repository } from '../fixtures/repository.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let scratch: ScratchFolder;
let repository: Repository;
let ledger: string[];
beforeEach(async () => {
  served = await serveRoutes();
  scratch = scratchFolder();
  repository = makeRepository(join(scratch.path, 'repo'));
  ledger = [];
  served.callers.ledgers.answers.commits_named = async ({ sha }: { sha: string }) => {
    const path = scratch.write('commits.jsonl', ledger.map((line) => `${line}\n`).join(''));
    const commits = new CommitsLedger({ path });
    await commits.refresh();
    return { commits: commits.named(sha) };
  };
});
afterEach(async () => {
  await served.stop();
  scratch.remove();
});

function recorded(sha: string): string {
  const line: CommitLedgerLine = {
    ...{ at: 1, kind: 'commit', sha, subject: 's', repo: repository.path, cwd: repository.path },
    ...{ files: 1, insertions: 1, deletions: 0, session: null, mux: null },
  };
  ledger.push(JSON.stringify(line));
  return sha;
}
const asked = () => served.callers.ledgers.asked.map(({ input }) => input);
const ask = (query: string) => served.get(`/api/v1/commits/patch${query}`);

describe('GET /commits/patch', () => {
  it('[TMP-3] tells what a commit of the ledger changed, by its name or the beginning of it', async () => {
    scratch.write('repo/a.txt', 'a\n');
    const sha = recorded(repository.commit('Say hello'));
    const { status, json } = await ask(`?sha=${sha}`);
    expect([status, json]).toEqual([
      200,
      {
        ...{ host: 'host-a', sha, repo: repository.path, message: 'Say hello', truncated: false },
        author: { name: 'Ada Lovelace', email: 'ada@example.org' },
        committed_at: expect.any(Number),
        files: [
          {
            ...{ path: 'a.txt', old_path: null, change: 'added', additions: 1, deletions: 0, binary: false },
            hunks: [{ old_start: 0, new_start: 1, heading: '', lines: ['+a'] }],
          },
        ],
      },
    ]);
    expect((await ask(`?sha=${sha.slice(0, 7).toUpperCase()}`)).json).toEqual(json);
    expect((await ask(`?sha=${sha}&repo=/etc`)).json).toEqual(json);
  });

  it('refuses what is no name of a commit before anything is asked', async () => {
    for (const query of [
      ...[
        '',
        '?sha=',
        '?sha=abcdef',
        '?sha=HEAD',
        '?sha=--output=/tmp/x',
        '?sha=main',
        `?sha=${'a'.repeat(65)}`,
      ],
      ...['?sha=abcdefg', '?sha=abcdef1%00', '?sha=abcdef1%0A', '?sha=abcdef1..abcdef2', '?sha=-abcdef1'],
    ])
      expect(await ask(query), query).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(asked()).toEqual([]);
  });

  it('refuses a commit that no worker made, also one of the same repository', async () => {
    recorded(repository.commit('Known'));
    const unknown = repository.commit('Of a person');
    expect(await ask(`?sha=${unknown}`)).toMatchObject({
      status: 404,
      json: { error: 'not_found', message: expect.stringContaining('GET /commits lists those that are') },
    });
  });

  it('asks for more of a name that several commits begin with', async () => {
    recorded(`abcdef1${'0'.repeat(33)}`);
    recorded(`abcdef1${'1'.repeat(33)}`);
    expect(await ask('?sha=abcdef1')).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('give more digits') },
    });
  });

  it('says that the repository is gone, or no longer has the commit', async () => {
    const lost = recorded('c'.repeat(40));
    expect(await ask(`?sha=${lost}`)).toMatchObject({
      status: 404,
      json: { error: 'not_found', message: expect.stringMatching(/^Git cannot show cccccccccccc/) },
    });
    rmSync(repository.path, { recursive: true });
    expect(await ask(`?sha=${lost}`)).toMatchObject({
      status: 404,
      json: { error: 'not_found', message: expect.stringMatching(/^the folder .*repo, .* is gone/) },
    });
  });
});
