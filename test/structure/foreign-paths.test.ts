import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fileCallsIn } from '../kit/file-calls.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Functions of the runtime that follow links, or wait for the disk of a folder. */
const FOLLOWING = new Set([
  'access',
  'accessSync',
  'createReadStream',
  'existsSync',
  'open',
  'openSync',
  'opendir',
  'opendirSync',
  'readFile',
  'readFileSync',
  'readdir',
  'readdirSync',
  'realpath',
  'realpathSync',
  'stat',
  'statSync',
  'statfs',
  'statfsSync',
  'watch',
]);
/** Our own that do the same on the thread that calls them; the asynchronous ones go through the door. */
const OWN =
  /\b(openRegularFileSync|readRegularFileSync|readRegularTextSync|realPathOfSync|folderNames|readableFolderNames|AppendOnlyFile\.open|AppendOnlyFile\.openIfThere|digestFile)\(/g;

/** Where these may be called, each with the reason. */
const FREE: readonly { where: RegExp; reason: string }[] = [
  {
    where: /^src\/platform\//,
    reason:
      'the door itself, what it is made of, and the files of the kernel; who calls its readers is judged there',
  },
  {
    where: /^src\/cli\//,
    reason:
      'a verb and a hook are processes of their own, for which no other fiber waits; svc doctor asks before it reads',
  },
  {
    where: /^src\/recorder\//,
    reason: 'a recorder is a process of its own, with the folders that its operator gave it',
  },
];

const RUNS = 'files of runs in the data folder';
const STATE = 'files of the daemon in its data folder';

/** Who else may call them, and which, each with the reason. */
const NAMED: Readonly<Record<string, { uses: readonly string[]; reason: string }>> = {
  'src/config/brake-file.ts': { uses: ['readRegularTextSync'], reason: STATE },
  'src/config/cli-validator.ts': {
    uses: ['readdirSync'],
    reason: 'the folder of an operator file whose disk was asked before the write',
  },
  'src/config/daemon-id.ts': {
    uses: ['readRegularTextSync', 'realpathSync'],
    reason: 'the data folder, and /etc/machine-id',
  },
  'src/config/data-dir-fault.ts': { uses: ['statSync'], reason: 'the data folder itself' },
  'src/config/data-dir.ts': { uses: ['realpathSync'], reason: 'the data folder itself' },
  'src/config/followed-file.ts': {
    uses: ['statSync'],
    reason: 'an operator file whose disk it has just asked',
  },
  'src/config/hold-files.ts': { uses: ['folderNames', 'readRegularTextSync'], reason: STATE },
  'src/config/operator-change.ts': {
    uses: ['readRegularFileSync'],
    reason: 'an operator file whose disk `OperatorCalls` has just asked',
  },
  'src/config/operator-files.ts': {
    uses: ['statSync'],
    reason: 'an operator file whose disk `OperatorCalls` has just asked',
  },
  'src/config/operator-text.ts': {
    uses: ['readRegularTextSync'],
    reason:
      'an operator file, whose disk the start of the daemon, `FollowedFile` or `OperatorCalls` has just asked',
  },
  'src/config/runtime-files.ts': { uses: ['realpathSync'], reason: 'the data folder and the runtime folder' },
  'src/daemon-boot.ts': { uses: ['readRegularTextSync'], reason: STATE },
  'src/daemon-listeners.ts': { uses: ['accessSync'], reason: 'the folder of its own socket' },
  'src/daemon-lock.ts': { uses: ['readRegularTextSync'], reason: STATE },
  'src/dispatch/holds/state-file.ts': { uses: ['readRegularTextSync'], reason: STATE },
  'src/dispatch/poller.ts': { uses: ['existsSync'], reason: 'the folder of runs in the data folder' },
  'src/dispatch/requests/kept-answers.ts': { uses: ['folderNames', 'readRegularTextSync'], reason: STATE },
  'src/dispatch/run-directory/capture-directory.ts': {
    uses: ['existsSync', 'folderNames', 'readRegularTextSync'],
    reason: RUNS,
  },
  'src/dispatch/run-directory/claimed-panes.ts': {
    uses: ['existsSync', 'folderNames', 'readRegularTextSync'],
    reason: RUNS,
  },
  'src/dispatch/run-directory/hook-spool.ts': {
    uses: ['existsSync', 'folderNames', 'readRegularTextSync', 'statSync', 'watch'],
    reason: 'events of hooks, runs and ledgers in the data folder',
  },
  'src/dispatch/run-directory/past-session-retention.ts': {
    uses: ['folderNames', 'statSync'],
    reason: 'past sessions in the data folder',
  },
  'src/dispatch/run-directory/phase-signs.ts': { uses: ['statSync'], reason: RUNS },
  'src/dispatch/run-directory/run-directories.ts': { uses: ['readRegularTextSync'], reason: RUNS },
  'src/dispatch/run-directory/run-directory.ts': {
    uses: ['readRegularTextSync', 'readdirSync', 'statSync'],
    reason: RUNS,
  },
  'src/dispatch/run-directory/run-file-end.ts': { uses: ['openRegularFileSync'], reason: RUNS },
  'src/dispatch/run-directory/svc-command.ts': {
    uses: ['existsSync', 'readRegularTextSync'],
    reason: 'the command in the data folder',
  },
  'src/dispatch/run-directory/worker-memory.ts': { uses: ['readRegularTextSync'], reason: RUNS },
  'src/dispatch/stores/folder-hints.ts': {
    uses: ['readdirSync'],
    reason: 'lists a folder after `hasFolder` found no link on its way and an answering disk',
  },
  'src/fibers/attachments/store-attachments.ts': {
    uses: ['openSync', 'readRegularFileSync'],
    reason: 'the folder of attachments, whose disk the pool has just asked',
  },
  'src/fibers/attachments/sweep-attachments.ts': {
    uses: ['readdirSync'],
    reason: 'the folder of attachments, whose disk the pool has just asked',
  },
  'src/fibers/document-reader.ts': {
    uses: ['openRegularFileSync', 'realPathOfSync'],
    reason: 'opens what `KnownMounts` followed to its end, and no link',
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
  'src/fibers/sweep.ts': {
    uses: ['readdirSync', 'statSync'],
    reason: 'follows `.fibers` alone, whose disk answered, and lists folders that it found to be no links',
  },
  'src/fibers/unlisted.ts': {
    uses: ['readRegularFileSync', 'readdirSync'],
    reason:
      'lists a folder after `hasFolder` found no link on its way and an answering disk, and reads no link in it',
  },
  'src/fibers/watch.ts': {
    uses: ['watch'],
    reason: 'folders that the list of the store found on answering disks',
  },
  'src/fleet/copy-files.ts': {
    uses: ['openRegularFileSync', 'readRegularFileSync', 'readableFolderNames', 'statSync'],
    reason: 'copies of remotes in the data folder',
  },
  'src/fleet/fleet-service.ts': { uses: ['stat'], reason: 'the remotes file, after the door was asked' },
  'src/harness/claude/bridge-url.ts': {
    uses: ['openRegularFileSync'],
    reason: 'a transcript, in the pool, which has just asked its disk',
  },
  'src/harness/codex/hook-trust.ts': {
    uses: ['realpathSync'],
    reason: 'a temporary folder that it has just made',
  },
  'src/harness/codex/setup.ts': {
    uses: ['realpathSync'],
    reason: 'runs in `svc setup`, a process of its own',
  },
  'src/harness/hooks/hook-state.ts': { uses: ['realpathSync'], reason: 'the launcher of this package' },
  'src/harness/transcripts/moment.ts': {
    uses: ['AppendOnlyFile.open'],
    reason: 'a transcript, in the pool, which has just asked its disk',
  },
  'src/harness/transcripts/session-spend.ts': {
    uses: ['AppendOnlyFile.open'],
    reason: 'transcripts, in the pool, after each was asked about',
  },
  'src/harness/transcripts/transcript-page.ts': {
    uses: ['AppendOnlyFile.open'],
    reason: 'a transcript, in the pool, which has just asked its disk',
  },
  'src/ledgers/append-line.ts': {
    uses: ['openSync', 'statSync'],
    reason: 'ledgers in the data folder',
  },
  'src/ledgers/events-index.ts': {
    uses: ['AppendOnlyFile.openIfThere'],
    reason: 'a ledger in the data folder',
  },
  'src/ledgers/index-checkpoint.ts': { uses: ['readRegularFileSync'], reason: STATE },
  'src/ledgers/ledgers-service.ts': { uses: ['watch'], reason: 'the folder of ledgers in the data folder' },
  'src/ledgers/messages-ledger.ts': { uses: ['openRegularFileSync'], reason: 'a ledger in the data folder' },
  'src/ledgers/tailer.ts': { uses: ['AppendOnlyFile.openIfThere'], reason: 'a ledger in the data folder' },
  'src/meetings/meeting-record.ts': {
    uses: ['readRegularTextSync', 'statfs'],
    reason: 'the folder of meetings, after `MeetingService` or the line before asked its disk',
  },
  'src/meetings/old-audio.ts': {
    uses: ['readRegularTextSync', 'readableFolderNames'],
    reason: 'the folder of meetings, whose disk it has just asked',
  },
  'src/messages/context-mailbox.ts': {
    uses: ['existsSync', 'folderNames', 'readdirSync'],
    reason: 'mailboxes, whose disk the thread of messages asks when it begins and before each call',
  },
  'src/messages/ledger-writer.ts': {
    uses: ['AppendOnlyFile.openIfThere', 'statSync'],
    reason: 'a ledger in the data folder',
  },
  'src/messages/message-store.ts': {
    uses: ['existsSync', 'readRegularTextSync', 'readdirSync', 'statSync'],
    reason:
      'the folder of messages, whose disk the thread of messages asks when it begins and before each call',
  },
  'src/mux/tmux-client.ts': { uses: ['readFileSync'], reason: 'the kernel’s table of sockets' },
  'src/threads/thread-work.ts': { uses: ['readFileSync'], reason: 'reads the kernel’s facts of a thread' },
  'src/threads/fault-injection.ts': { uses: ['openSync'], reason: 'gets stuck on purpose, in tests alone' },
  'workers/pool.ts': { uses: ['digestFile'], reason: 'asks the disk of the file in the line before' },
};

function sources(): string[] {
  return ['src', 'workers']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((name) => /\.(ts|cjs|mjs)$/.test(name) && !FREE.some(({ where }) => where.test(name)));
}

function followingIn(text: string): string[] {
  const own = [...text.matchAll(OWN)].map(([, name = '']) => name);
  return [...new Set([...fileCallsIn(text, FOLLOWING), ...own])].sort();
}

const WHAT_TO_DO =
  'a path that others control may lead to a disk that never answers: look at it by lstat, through the door (src/platform/foreign-paths.ts), or by an asynchronous reader of src/platform/regular-file.ts; of a store by KnownMounts or DocumentReader';

describe('every path that others control', () => {
  it('is followed only where its disk was asked before', () => {
    expect(sources().length).toBeGreaterThan(400);
    for (const file of sources())
      expect(followingIn(readFileSync(join(ROOT, file), 'utf8')), `${file}: ${WHAT_TO_DO}`).toEqual(
        [...(NAMED[file]?.uses ?? [])].sort(),
      );
  });

  it('is opened and read asynchronously through the door alone', () => {
    const text = readFileSync(join(ROOT, 'src/platform/regular-file.ts'), 'utf8');
    for (const [, name, body] of text.matchAll(/export async function (\w+)\([^{]*\{(.*?)^\}/gms))
      expect(body, name).toMatch(
        /await (requireAnswer|openRegularFile|readRegularFile)\(path|readRegularFile\(path/,
      );
  });

  it('has exceptions that exist, each with its reason', () => {
    for (const [file, { reason }] of Object.entries(NAMED)) {
      expect(sources()).toContain(file);
      expect(reason.length, file).toBeGreaterThan(15);
    }
  });
});
