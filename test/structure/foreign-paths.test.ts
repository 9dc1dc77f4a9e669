import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fileCallsIn } from '../kit/file-calls.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Functions that follow links, or wait for the disk of a folder. */
const FOLLOWING = new Set([
  'access',
  'accessSync',
  'existsSync',
  'opendir',
  'opendirSync',
  'readdir',
  'readdirSync',
  'realpath',
  'realpathSync',
  'stat',
  'statSync',
  'statfs',
  'statfsSync',
]);

/** Where paths come from that other programs write: documents and folders of stores, and what they name. */
const FOREIGN = /^src\/(fibers|dispatch|lifecycle|routes|http)\//;

/** Who may call them there, and which, each with the reason. */
const NAMED: Readonly<Record<string, { uses: readonly string[]; reason: string }>> = {
  'src/dispatch/poller.ts': { uses: ['existsSync'], reason: 'the folder of runs in the data folder' },
  'src/dispatch/run-directory/phase-signs.ts': {
    uses: ['statSync'],
    reason: 'a file of a run, in the data folder',
  },
  'src/dispatch/run-directory/claimed-panes.ts': { uses: ['existsSync'], reason: 'a run in the data folder' },
  'src/dispatch/run-directory/svc-command.ts': {
    uses: ['existsSync'],
    reason: 'the command in the data folder',
  },
  'src/dispatch/run-directory/run-directory.ts': {
    uses: ['readdirSync', 'statSync'],
    reason: 'the runs in the data folder',
  },
  'src/dispatch/run-directory/past-session-retention.ts': {
    uses: ['statSync'],
    reason: 'past sessions in the data folder',
  },
  'src/dispatch/run-directory/capture-directory.ts': {
    uses: ['existsSync'],
    reason: 'a capture in the data folder',
  },
  'src/dispatch/stores/folder-hints.ts': {
    uses: ['readdirSync'],
    reason: 'lists a folder after `hasFolder` found no link on its way and an answering disk',
  },
  'src/fibers/attachments/sweep-attachments.ts': {
    uses: ['readdirSync'],
    reason: 'the attachments in the data folder',
  },
  'src/fibers/identify-store.ts': {
    uses: ['statSync'],
    reason: 'runs in a pool thread with a deadline, or after the store was opened',
  },
  'src/fibers/init-project.ts': {
    uses: ['realpathSync', 'statSync'],
    reason: 'runs in a pool thread with a deadline, after the folder answered a check',
  },
  'src/fibers/nest.ts': {
    uses: ['readdirSync'],
    reason: 'lists a folder that was just moved, or is known to be free',
  },
  'src/fibers/store-away.ts': {
    uses: ['opendirSync'],
    reason: 'opens `.fibers` itself after its disk answered a check',
  },
  'src/fibers/store.ts': {
    uses: ['readdirSync'],
    reason: 'lists the folder of a document that `requireOwn` judged',
  },
  'src/fibers/unlisted.ts': {
    uses: ['readdirSync'],
    reason: 'lists a folder after `hasFolder` found no link on its way and an answering disk',
  },
  'src/fibers/sweep.ts': {
    uses: ['readdirSync', 'statSync'],
    reason: 'follows `.fibers` alone, whose disk answered, and lists folders that it found to be no links',
  },
};

function sources(): string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name}`)
    .filter((name) => FOREIGN.test(name) && /\.(ts|cjs|mjs)$/.test(name));
}

const WHAT_TO_DO =
  'a path that another program writes may lead to a disk that never answers: look at it by lstat, KnownMounts (src/platform/foreign-mounts.ts), DocumentReader, or Disks';

describe('every path that another program writes', () => {
  it('is followed only where its disk was asked before', () => {
    expect(sources().length).toBeGreaterThan(200);
    for (const file of sources())
      expect(
        fileCallsIn(readFileSync(join(ROOT, file), 'utf8'), FOLLOWING),
        `${file}: ${WHAT_TO_DO}`,
      ).toEqual([...(NAMED[file]?.uses ?? [])].sort());
  });

  it('has exceptions that exist, each with its reason', () => {
    for (const [file, { reason }] of Object.entries(NAMED)) {
      expect(sources()).toContain(file);
      expect(reason.length, file).toBeGreaterThan(15);
    }
  });
});
