import { z } from 'zod';
import { isCoded } from '../../base/errors.ts';
import { commitPatchSchema, type PatchFile, patchFileSchema } from '../../contract/http/commit-patch.ts';
import { type LifeCommit, lifeCommitSchema, lifeSchema, MOST_ENTRIES } from '../../contract/http/life.ts';
import { type Uncommitted, uncommittedSchema } from '../../contract/http/uncommitted.ts';
import { count, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT, type Outcome } from '../command-line/verb.ts';
import type { DaemonClient } from '../daemon-client/client.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';
import { commitHead, commitTable, uncommittedPage } from './diff/diff-page.ts';
import { patchText } from './diff/patch-text.ts';

/** What `--patch` adds to a commit; `fault` where its repository cannot show it any more. */
type CommitLines = { files: PatchFile[] | null; truncated: boolean; fault: string | null };

/** `svc diff <fiber>`: what its sessions committed (TMP-3), and what lies uncommitted in its folder. */
export const verb = defineVerb({
  summary: 'Show what the workers of a fiber changed, committed and not',
  arguments: { fiber: SERVED_FIBER },
  options: {
    stat: option('--stat', 'how much changed in each file, which is the default'),
    patch: option('-p, --patch', 'the lines that changed'),
    lines: count('-n, --lines <count>', 'how many of the newest commits to show', 20),
    host: ON_HOST,
  },
  examples: [
    ['svc diff say-hello', 'its commits, and the files that have changed since'],
    ['svc diff say-hello --patch -n 1', 'the lines of its newest commit, and of what is not committed'],
  ],
  page: 'ledgers.md',
  json: uncommittedSchema.extend({
    commits: z.array(
      lifeCommitSchema.extend({
        changes: z
          .object({
            files: z.array(patchFileSchema).nullable(),
            truncated: z.boolean(),
            fault: z.string().nullable(),
          })
          .optional(),
      }),
    ),
  }),
  run: (context, { fiber, patch, lines, host, json }) =>
    askForFiber(context, { fiber, host }, async ({ daemon, fiber: meant }): Promise<Outcome> => {
      const asked = `/uncommitted?fiber=${encodeURIComponent(meant)}${patch === true ? '&patch=1' : ''}`;
      const now = await daemon.get(asked, uncommittedSchema);
      const commits = now.uid === null ? [] : await newestCommits(daemon, now.uid, lines);
      if (patch !== true) {
        const page = `${commitTable(commits, now.work, { width: context.width, now: context.clock.now() })}${uncommittedPage(now)}`;
        return { json: { ...now, commits }, text: page };
      }
      if (json !== true) return printPatches(context, daemon, now, commits);
      const told = [];
      for (const commit of commits) told.push({ ...commit, changes: await linesOf(daemon, commit) });
      return { json: { ...now, commits: told }, text: '' };
    }),
});

/** The newest commits of the fiber's sessions, oldest first. */
async function newestCommits(daemon: DaemonClient, uid: string, most: number): Promise<LifeCommit[]> {
  let commits: LifeCommit[] = [];
  for (let before = ''; commits.length < most; ) {
    const query = `uid=${encodeURIComponent(uid)}&limit=${MOST_ENTRIES}${before}`;
    const { entries, earlier } = await daemon.get(`/fiber-life?${query}`, lifeSchema);
    commits = [...entries.filter((entry) => entry.kind === 'commit'), ...commits];
    const [first] = entries;
    if (first === undefined || earlier === 0) break;
    before = `&before_ms=${first.at}`;
  }
  return commits.slice(Math.max(0, commits.length - most));
}

/** Prints one commit after the other, so that no more than one is held. */
async function printPatches(
  context: CliContext,
  daemon: DaemonClient,
  now: Uncommitted,
  commits: readonly LifeCommit[],
): Promise<Outcome> {
  for (const commit of commits) {
    const { files, truncated, fault } = await linesOf(daemon, commit);
    context.show(`${commitHead(commit, context.clock.now())}${fault === null ? '' : `  ${fault}\n`}\n`);
    if (files !== null) context.out(`${patchText(files, truncated)}\n`);
  }
  context.show(uncommittedPage(now));
  if (now.work.state === 'read') context.out(patchText(now.work.files, now.work.truncated));
  return EXIT.ok;
}

async function linesOf(daemon: DaemonClient, { sha }: LifeCommit): Promise<CommitLines> {
  try {
    const { files, truncated } = await daemon.get(`/commits/patch?sha=${sha}`, commitPatchSchema);
    return { files, truncated, fault: null };
  } catch (error) {
    if (!isCoded(error, 'not_found')) throw error;
    return { files: null, truncated: false, fault: error.message };
  }
}
