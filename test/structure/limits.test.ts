import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { findBounds } from '../../ops/scripts/limits.mjs';
import { LIMITS } from '../../ops/scripts/limits-table.mjs';
import { FakeClock } from '../../src/base/clock.ts';
import { isCoded } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { readOperatorText } from '../../src/config/operator-text.ts';
import { meetingMarkSchema } from '../../src/contract/http/meeting.ts';
import { bridgeUrl } from '../../src/contract/http/transcripts.ts';
import { recorderStateSchema } from '../../src/contract/recorder.ts';
import { spokenLines } from '../../src/contract/spoken-lines.ts';
import { deathOf } from '../../src/dispatch/end/death.ts';
import { readPhaseSigns } from '../../src/dispatch/run-directory/phase-signs.ts';
import { RunDirectories } from '../../src/dispatch/run-directory/run-directories.ts';
import { endOfFile } from '../../src/dispatch/run-directory/run-file-end.ts';
import { buildRunScript } from '../../src/dispatch/run-directory/run-script.ts';
import { checkAttachments } from '../../src/fibers/attachments/check-attachments.ts';
import { checkMessageFiles } from '../../src/fibers/attachments/check-message-files.ts';
import { isSafeId, slugFromName } from '../../src/fibers/fiber-id.ts';
import { snippetsOf } from '../../src/fibers/search/snippets.ts';
import { termsOf } from '../../src/fibers/search/terms.ts';
import { PROMPT } from '../../src/harness/adapter.ts';
import { eventLine, failedTurnLine } from '../../src/harness/hooks/event-line.ts';
import { phaseLine } from '../../src/harness/hooks/phase-line.ts';
import { lastSaid } from '../../src/harness/transcripts/last-said.ts';
import { readMoment } from '../../src/harness/transcripts/moment.ts';
import { readTranscriptPage } from '../../src/harness/transcripts/transcript-page.ts';
import { scanRecords } from '../../src/harness/transcripts/transcript-scan.ts';
import { readTail } from '../../src/harness/transcripts/transcript-tail.ts';
import { parseListenAddress } from '../../src/http/listen-address.ts';
import { OpenSockets } from '../../src/http/open-sockets.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { parsePatch } from '../../src/ledgers/commit-patch.ts';
import { CommitsLedger } from '../../src/ledgers/commits-ledger.ts';
import { showCommit } from '../../src/ledgers/show-commit.ts';
import { Tailer } from '../../src/ledgers/tailer.ts';
import { readUncommitted } from '../../src/ledgers/uncommitted.ts';
import { titleOf } from '../../src/meetings/meeting-name.ts';
import { MeetingFiles } from '../../src/meetings/meeting-record.ts';
import { workerSessionName } from '../../src/mux/session-name.ts';
import { AppendOnlyFile } from '../../src/platform/append-only-file.ts';
import { createGitWorktrees } from '../../src/platform/git-worktrees.ts';
import type { ProcessRunner } from '../../src/platform/process.ts';
import { apiPath, describeApi } from '../../src/routes/api-description.ts';
import { Lane } from '../../src/routes/lane.ts';
import { bodyOf, sentImage } from '../fibers/attachments/images.ts';
import { fileMessageBody, sentFile } from '../fibers/attachments/message-files.ts';
import { runVerb } from '../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';
import { ask } from '../http/raw-exchange.ts';
import { type ServedRoutes, serveRoutes } from '../routes/served-routes.ts';

type Way = 'file' | 'API' | 'CLI' | 'hook';
/** `takes` does what a caller does with `size` of it: true when all of it is taken. */
type Probe = { limit: string; way: Way; takes(size: number): boolean | Promise<boolean> };

const require = createRequire(import.meta.url);
const READ_INPUT = require.resolve('../../src/cli/hook/read-input.cjs');
const ROOT = new URL('../..', import.meta.url).pathname;
const UID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8A';
const AT = Date.UTC(2026, 0, 5);
const values = new Map(findBounds().map(({ file, name, value }) => [`${file} ${name}`, value]));

let temp: TempStore;
let served: ServedRoutes;
let written = 0;
beforeAll(async () => {
  temp = createTempStore();
  served = await serveRoutes({ home: temp.root });
  served.callers.poller.answers.catalogue = () => ({ value: { catalogue: 'c' }, bulk: null });
});
afterAll(async () => {
  await served.stop();
  temp.remove();
});

const x = (size: number) => 'x'.repeat(size);
/** True when the report of a death shows the whole of this screen. */
function shownAtDeath(screen: string): boolean {
  const run = { run_id: 'r', agent: 'a', fiber_id: 'f', project_dir: '/p' };
  const exit = { code: 1, signal: null };
  return deathOf({ run, reason: 'exited', detail: null, exit, screen, at: AT })?.screen === screen;
}
/** A file of these lines; answers its path. */
function fileOf(...lines: (string | object)[]): string {
  written += 1;
  const path = join(temp.root, `lines-${written}.jsonl`);
  writeFileSync(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return path;
}
/** The code of what a call throws; null when it throws nothing. */
function codeOf(call: () => unknown): string | null {
  try {
    call();
    return null;
  } catch (error) {
    if (!isCoded(error)) throw error;
    return error.code;
  }
}
/** True when so many WebSockets of a path can be open at one time. */
async function connects(path: string, count: number): Promise<boolean> {
  const clients: WebSocket[] = [];
  // In turn: all handshakes at once may take longer than the server gives each, and one by one longer than a test may.
  let opened = true;
  while (opened && clients.length < count) {
    const next = Array.from({ length: Math.min(32, count - clients.length) }, () => {
      const client = new WebSocket(`ws://127.0.0.1:${served.port}${path}`);
      client.on('error', () => undefined);
      return client;
    });
    clients.push(...next);
    const opens = next.map((client) =>
      once(client, 'open').then(
        () => true,
        () => false,
      ),
    );
    opened = (await Promise.all(opens)).every((one) => one);
  }
  const gone = clients.map((client) => client.readyState === WebSocket.CLOSED || once(client, 'close'));
  for (const client of clients) client.terminate();
  await Promise.all(gone);
  return opened;
}
const listed = (path: string) =>
  temp.store.list().documents.find((document) => document.path === path)?.error === undefined;
const claudeWords = (text: string, at = AT) => ({
  type: 'assistant',
  timestamp: new Date(at).toISOString(),
  message: { role: 'assistant', content: [{ type: 'text', text }] },
});
const hook = (name: string, more: object) => ({ hook_event_name: name, session_id: 's', ...more });
const around = { id: 'i', now: 1, harness: 'claude', mux_session: null, host: null };
const inputOf = (tool_input: unknown) =>
  eventLine(hook('PreToolUse', { tool_name: 'Write', tool_input }), around)!;
const attached = (...images: ReturnType<typeof sentImage>[]) =>
  codeOf(() => checkAttachments(bodyOf(images))) === null;
const withFiles = (...files: ReturnType<typeof sentFile>[]) =>
  codeOf(() => checkMessageFiles(fileMessageBody(files))) === null;
/** Whether the command takes it for an id. No fiber has it, and some documents of this store cannot be read. */
async function isIdByCli(id: string): Promise<boolean> {
  const { err, error } = await runVerb(['fiber', 'edit', id, '--name', 'x'], {
    env: { SVC_STORES: temp.root },
  });
  expect([err, error]).toEqual([
    err,
    expect.stringMatching(/^(fiber_not_found|store_unavailable|invalid_request)$/),
  ]);
  return error !== 'invalid_request';
}
/** As many requests as a lane lets wait, behind one that never ends. */
async function waiting(limit: string, size: number): Promise<boolean> {
  const lane = new Lane(values.get(limit) ?? 0);
  void lane.run(() => new Promise(() => {}));
  await Promise.resolve();
  return codeOf(() => Array.from({ length: size }, () => lane.run(async () => {}))) === null;
}

const PROBES: Probe[] = [
  {
    limit: 'contract/document-limits.ts DOCUMENT_LIMITS.bytes',
    way: 'file',
    takes(size) {
      const head = '---\nname: x\n---\n';
      return listed(temp.write('large/large.md', head + x(size - head.length)));
    },
  },
  {
    limit: 'contract/document-limits.ts DOCUMENT_LIMITS.bytes',
    way: 'CLI',
    async takes(size) {
      temp.write('edited/edited.md', `---\nid: ${UID}\nname: x\nstatus: open\n---\n`);
      const edit = (text: string) =>
        runVerb(['fiber', 'edit', 'edited', '--body', '-'], {
          env: { SVC_STORES: temp.root },
          stdin: text,
        });
      expect(await edit('x')).toMatchObject({ code: 0 });
      const { code, error } = await edit(x(size - sizeOf('edited') + 1));
      expect(code === 0 ? sizeOf('edited') : error).toBe(code === 0 ? size : 'body_too_large');
      return code === 0;
    },
  },
  {
    limit: 'contract/document-limits.ts DOCUMENT_LIMITS.frontmatter_chars',
    way: 'file',
    takes(size) {
      const head = 'name: x\n# ';
      return listed(temp.write('front/front.md', `---\n${head}${x(size - head.length - 1)}\n---\n`));
    },
  },
  {
    limit: 'fibers/fiber-id.ts MAX_ID_CHARS',
    way: 'API',
    takes: (size) =>
      isSafeId(
        'a/'
          .repeat(size)
          .slice(0, size - 1)
          .replace(/\/$/, 'a')
          .concat('a'),
      ),
  },
  {
    limit: 'fibers/fiber-id.ts MAX_COMPONENT_BYTES',
    way: 'API',
    takes: (size) => codeOf(() => temp.store.locate(`a/${x(size)}`)) === null,
  },
  {
    limit: 'fibers/fiber-id.ts MAX_ID_CHARS',
    way: 'CLI',
    takes: (size) =>
      isIdByCli(
        'a/'
          .repeat(size)
          .slice(0, size - 2)
          .concat('aa')
          .slice(-size),
      ),
  },
  {
    limit: 'fibers/fiber-id.ts MAX_COMPONENT_BYTES',
    way: 'CLI',
    takes: (size) => isIdByCli(`a/${x(size)}`),
  },
  {
    limit: 'fibers/fiber-id.ts MAX_SLUG_CHARS',
    way: 'API',
    takes: (size) => codeOf(() => temp.store.planCreate({ name: 'x', slug: x(size) })) === null,
  },
  ...(['API', 'CLI'] as const).map((way) => ({
    limit: 'fibers/fiber-id.ts MAX_NAMED_SLUG_BYTES',
    way,
    takes: (size: number) => {
      const name = `${'x'.repeat(size % 4)}${'𠮷'.repeat(size / 4)}`;
      return Buffer.byteLength(slugFromName(name)) === size;
    },
  })),
  {
    limit: 'fibers/fiber-id.ts MAX_NAMED_SLUG_CHARS',
    way: 'API',
    takes: (size) => temp.store.planCreate({ name: x(size) }).document.leaf === x(size),
  },
  {
    limit: 'fibers/fiber-id.ts MAX_SLUG_CHARS',
    way: 'CLI',
    async takes(size) {
      const env = { SVC_STORES: temp.root };
      const { code, error } = await runVerb(['fiber', 'add', 'Name', '--slug', x(size)], { env });
      expect([code, error]).toEqual(error === null ? [0, null] : [null, 'invalid_request']);
      return error === null;
    },
  },
  {
    limit: 'fibers/fiber-id.ts MAX_NAMED_SLUG_CHARS',
    way: 'CLI',
    takes: (size) => slugFromName(x(size)) === x(size),
  },
  {
    limit: 'contract/http/life.ts MOST_ENTRIES',
    way: 'API',
    takes: (size) => isTaken(`/api/v1/fiber-life?uid=u&limit=${size}`),
  },
  {
    limit: 'contract/http/conversation.ts MOST_MESSAGES',
    way: 'API',
    takes: (size) => isTaken(`/api/v1/messages?session=s&limit=${size}`),
  },
  {
    limit: 'contract/http/search.ts MOST_QUERY_CHARS',
    way: 'API',
    takes: (size) => isTaken(`/api/v1/search?query=${x(size)}`),
  },
  {
    limit: 'fibers/search/terms.ts MOST_TERMS',
    way: 'API',
    takes: (size) =>
      termsOf(Array.from({ length: size }, (_, word) => `word${word}`).join(' ')).length === size,
  },
  {
    limit: 'fibers/search/snippets.ts MOST_SNIPPETS',
    way: 'file',
    takes: (size) => snippetsOf(`${'\nword\n'.padEnd(2_000, 'x ')}`.repeat(size), ['word']).length === size,
  },
  {
    limit: 'platform/read-limits.ts READ_LIMITS.operator_file',
    way: 'file',
    takes: (size) => codeOf(() => readOperatorText(fileOf(x(size)))) === null,
  },
  { limit: 'routes/live.ts MOST_CLIENTS', way: 'API', takes: (size) => connects('/api/v1/live', size) },
  {
    limit: 'routes/terminal.ts MOST_VIEWERS',
    way: 'API',
    takes: (size) => connects('/api/v1/terminal?session=s', size),
  },
  {
    limit: 'contract/http/terminal.ts MOST_SESSION_CHARS',
    way: 'API',
    takes: async (size) =>
      (await ask({ port: served.port }, 'GET', `/api/v1/terminal?session=${x(size)}`)).status === 426,
  },
  {
    limit: 'contract/http/meeting.ts MOST_TAIL_LINES',
    way: 'file',
    takes: (size) => spokenLines({ text: 'S1 word\n'.repeat(size), cut: false }).length === size,
  },
  {
    limit: 'contract/http/meeting.ts MOST_MARK_CHARS',
    way: 'API',
    takes: (size) => meetingMarkSchema.safeParse({ text: x(size) }).success,
  },
  {
    limit: 'meetings/meeting-name.ts TITLE_CHARS',
    way: 'API',
    takes: (size) => titleOf(x(size)).length === size,
  },
  {
    limit: 'contract/recorder.ts MOST_TEXT_CHARS',
    way: 'file',
    takes: (size) => recorderStateSchema.shape.launch.safeParse(x(size)).success,
  },
  {
    limit: 'contract/recorder.ts RECORDER_STATE_BYTES',
    way: 'file',
    async takes(size) {
      const launch = 'launch';
      const state = { version: 1, launch, pid: 2, process_started: null, phase: 'live', started_at: 0 };
      const text = JSON.stringify({ ...state, phone: null, engine: null, error: null });
      const file = fileOf(text.padEnd(size, ' '));
      const files = new MeetingFiles({ folder: dirname(file), logger: silentLogger });
      renameSync(file, join(dirname(file), 'sized.json'));
      return (await files.recorderState({ name: 'sized', launch })).said !== null;
    },
  },
  {
    limit: 'routes/meeting-audio.ts MOST_PHONES',
    way: 'API',
    takes: (size) => connects('/api/v1/meeting/audio', size),
  },
  {
    limit: 'routes/meeting-audio.ts MESSAGE_BYTES',
    way: 'API',
    takes(size) {
      const { socket } = served.rows.find(({ path }) => path === '/api/v1/meeting/audio')!;
      return size <= socket!.takes!.most_bytes;
    },
  },
  {
    limit: 'routes/live.ts QUEUE_BYTES',
    way: 'API',
    takes(size) {
      const first = JSON.stringify({ feed: 'fibers', tag: null });
      let sent = 0;
      const send = () => {
        sent += 1;
      };
      const { socket } = served.rows.find(({ path }) => path === '/api/v1/live')!;
      const request = { query: {} } as RequestView;
      const client = socket!.open({ unsent: size - first.length, send, close: () => undefined }, request);
      client.closed?.();
      return sent === 1;
    },
  },
  {
    limit: 'http/open-sockets.ts MOST_UNANSWERED',
    way: 'API',
    takes(size) {
      const clock = new FakeClock();
      let cut = false;
      const nothing = () => undefined;
      const wire = {
        ...{ send: nothing, ping: nothing, end: nothing, buffered: () => 0 },
        cut: () => {
          cut = true;
        },
      };
      const { socket } = served.rows.find(({ path }) => path === '/api/v1/live')!;
      const sockets = new OpenSockets({ clock, logger: silentLogger, ping_ms: 1_000 });
      sockets.opened(socket!, {} as RequestView, wire).opened();
      clock.advance(size * 1_000);
      return !cut;
    },
  },
  {
    limit: 'contract/socket-path.ts SOCKET_PATH_BYTES',
    way: 'CLI',
    takes: (size) => codeOf(() => parseListenAddress(`unix:/${x(size - 1)}`)) === null,
  },
  {
    limit: 'contract/http/attachments.ts MOST_IMAGE_BYTES',
    way: 'API',
    takes: (size) => attached(sentImage('image/png', size)),
  },
  {
    limit: 'contract/http/attachments.ts MOST_IMAGES',
    way: 'API',
    takes: (size) => attached(...Array.from({ length: size }, (_, seed) => sentImage('image/png', 64, seed))),
  },
  {
    limit: 'contract/http/attachments.ts MOST_BATCH_BYTES',
    way: 'API',
    takes: (size) =>
      attached(...[0, 1, 2].map((part) => sentImage('image/png', Math.floor((size + part) / 3), part + 1))),
  },
  {
    limit: 'contract/http/message-files.ts MOST_FILES',
    way: 'API',
    takes: (size) => withFiles(...Array.from({ length: size }, (_, index) => sentFile(`${index}.txt`))),
  },
  {
    limit: 'contract/http/message-files.ts MOST_FILES_BYTES',
    way: 'API',
    takes: (size) => withFiles(sentFile('a', Buffer.alloc(size - 1)), sentFile('b', Buffer.alloc(1))),
  },
  {
    limit: 'contract/http/message-files.ts MOST_NAME_BYTES',
    way: 'API',
    takes: (size) => withFiles(sentFile(x(size))),
  },
  {
    limit: 'contract/http/transcripts.ts MOST_LINKED_SESSIONS',
    way: 'API',
    takes: (size) =>
      isTaken(
        `/api/v1/sessions/links?sessions=${Array.from({ length: size }, (_, one) => `s${one}`).join()}`,
      ),
  },
  {
    limit: 'contract/http/transcripts.ts MOST_URL_CHARS',
    way: 'file',
    takes: (size) => bridgeUrl('https://claude.ai/'.padEnd(size, 'x')) !== null,
  },
  {
    limit: 'harness/transcripts/transcript-tail.ts MOST_TAIL_BYTES',
    way: 'file',
    async takes(size) {
      const first = '{"first":1}';
      const records = [...(await readTail(fileOf(first, JSON.stringify(x(size - first.length - 3)))))];
      return records.some((record) => 'first' in record);
    },
  },
  {
    limit: 'harness/transcripts/last-said.ts MOST_SAID',
    way: 'file',
    takes: async (size) => (await lastSaid('claude', fileOf(claudeWords(x(size))))) === x(size),
  },
  {
    limit: 'harness/transcripts/moment.ts MOST_TEXT',
    way: 'file',
    takes(size) {
      const { words } = readMoment(fileOf(claudeWords(x(size)), ''), 'claude', {
        at: AT,
        within_ms: 9,
      });
      return words[0]?.text === x(size);
    },
  },
  {
    limit: 'ledgers/commit-patch.ts MOST_LINE',
    way: 'file',
    takes(size) {
      const line = `+${x(size - 1)}`;
      const told = parsePatch(
        `a\0e\x001\0m\0\n:0 1 0 1 A\0f\x001\t0\tf\0\0diff --git a/f b/f\n@@ -0,0 +1 @@\n${line}\n`,
        false,
      );
      return told?.files[0]?.hunks[0]?.lines[0] === line;
    },
  },
  {
    limit: 'ledgers/show-commit.ts MOST_PATCH',
    way: 'file',
    async takes(size) {
      const head = 'a\0e\x001\0';
      const run: ProcessRunner['run'] = async ({ max_output_bytes }) => {
        const stdout = `${head}${x(size - head.length - 1)}\0`;
        return size > max_output_bytes
          ? { kind: 'overflowed', stdout: stdout.slice(0, max_output_bytes) }
          : { kind: 'exited', code: 0, stdout, stderr: '' };
      };
      return showCommit({ repo: '/r', sha: 'a' }, { run }, {}).then(
        ({ truncated }) => !truncated,
        () => false,
      );
    },
  },
  {
    limit: 'platform/git-worktrees.ts MOST_OUTPUT_BYTES',
    way: 'file',
    async takes(size) {
      const run: ProcessRunner['run'] = async ({ args, max_output_bytes }) => {
        const stdout = args.includes('status') ? `?? ${x(size - 4)}\0` : '';
        return stdout.length > max_output_bytes
          ? { kind: 'overflowed', stdout: stdout.slice(0, max_output_bytes) }
          : { kind: 'exited', code: 0, stdout, stderr: '' };
      };
      const answer = await createGitWorktrees({ runner: { run }, env: {} })
        .requireClean({ of: '/r', path: '/r' })
        .catch(String);
      return /has changes/.test(String(answer));
    },
  },
  {
    limit: 'ledgers/uncommitted.ts MOST_CHANGES',
    way: 'file',
    async takes(size) {
      const run: ProcessRunner['run'] = async ({ args, max_output_bytes }) => {
        const stdout = args.includes('status') ? `? ${x(size - 3)}\0` : '';
        return stdout.length > max_output_bytes
          ? { kind: 'overflowed', stdout: stdout.slice(0, max_output_bytes) }
          : { kind: 'exited', code: 0, stdout, stderr: '' };
      };
      const work = await readUncommitted({ folder: '/r', patch: false }, { run }, {});
      return work.state === 'read' && !work.truncated;
    },
  },
  {
    limit: 'harness/transcripts/transcript-page.ts MOST_TEXT',
    way: 'file',
    takes(size) {
      const { words } = readTranscriptPage(fileOf(claudeWords(x(size)), ''), 'claude', {});
      return words[0]?.text === x(size);
    },
  },
  {
    limit: 'harness/transcripts/moment.ts MOST_WORDS',
    way: 'file',
    takes(size) {
      const all = Array.from({ length: size }, (_, one) => claudeWords(`word ${one}`));
      const { more } = readMoment(fileOf(...all, ''), 'claude', { at: AT, within_ms: 9 });
      return !more;
    },
  },
  {
    limit: 'harness/transcripts/transcript-scan.ts MOST_LINE_BYTES',
    way: 'file',
    takes(size) {
      const file = AppendOnlyFile.open(fileOf(`{"a":"${x(size - 8)}"}`, ''));
      const records = [...scanRecords(file, file.at())];
      file.close();
      return records.length === 1;
    },
  },
  {
    limit: 'dispatch/run-directory/phase-signs.ts MOST_BYTES',
    way: 'hook',
    takes(size) {
      const sign = JSON.stringify({ at: 1, session: 's', phase: 'idle', said: null });
      writeFileSync(join(temp.root, 'phases.jsonl'), `${sign}\n`.padEnd(size, '\n'));
      return readPhaseSigns(temp.root).length === 1;
    },
  },
  {
    limit: 'cli/hook/read-input.cjs MOST_INPUT_BYTES',
    way: 'hook',
    takes(size) {
      const script =
        'require(process.argv[1]).readInput().then(() => process.exit(0), () => process.exit(9))';
      const input = `{"a":"${x(size - 8)}"}`;
      const { status } = spawnSync(process.execPath, ['-e', script, READ_INPUT], { input });
      return status === 0;
    },
  },
  {
    limit: 'harness/hooks/event-line.ts LONGEST_INPUT',
    way: 'hook',
    takes: (size) => inputOf(x(size - 2)).truncated !== true,
  },
  {
    limit: 'harness/hooks/event-line.ts LONGEST_PATH',
    way: 'hook',
    takes: (size) => inputOf({ file_path: x(size) }).toolInput !== undefined,
  },
  {
    limit: 'harness/hooks/event-line.ts MOST_FILES',
    way: 'hook',
    takes: (size) => inputOf({ files: Array(size).fill('/f') }).toolInput!.files!.length === size,
  },
  {
    limit: 'harness/hooks/event-line.ts LONGEST_NOTICE',
    way: 'hook',
    takes: (size) =>
      failedTurnLine(hook('StopFailure', { last_assistant_message: x(size) }), 1)!.notice === x(size),
  },
  {
    limit: 'harness/hooks/phase-line.ts MOST_SAID',
    way: 'hook',
    takes: (size) => phaseLine(hook('Stop', { last_assistant_message: x(size) }), 1)!.said === x(size),
  },
  {
    limit: 'dispatch/run-directory/run-file-end.ts MOST_BYTES',
    way: 'hook',
    takes: (size) => endOfFile(fileOf(x(size))).length === size,
  },
  {
    limit: 'ledgers/tailer.ts MAX_LINE_BYTES',
    way: 'file',
    async takes(size) {
      const tailer = new Tailer({ path: fileOf(JSON.stringify(x(size - 2)), ''), parse: (value) => value });
      let lines = 0;
      const line = () => {
        lines += 1;
      };
      await tailer.read({ reset: () => {}, line });
      return lines === 1;
    },
  },
  {
    limit: 'ledgers/commits-ledger.ts MAX_ENTRIES',
    way: 'file',
    async takes(size) {
      const told = { at: 1, kind: 'commit', subject: 'x', repo: '/r', files: 1, insertions: 1, deletions: 1 };
      const commit = JSON.stringify({ ...told, session: null, mux: null, cwd: '/', sha: '' });
      const lines = Array.from({ length: size }, (_, one) =>
        commit.replace('"sha":""', `"sha":"${one.toString(16).padStart(40, '0')}"`),
      );
      const ledger = new CommitsLedger({ path: fileOf(...lines, '') });
      await ledger.refresh();
      return ledger.counts.entries === size;
    },
  },
  {
    limit: 'mux/session-name.ts LEAF_BYTES',
    way: 'file',
    takes: (size) => workerSessionName(x(size), UID).startsWith(`${x(size)}-`),
  },
  {
    limit: 'dispatch/run-directory/run-script.ts MAX_PROMPT_ARGUMENT_BYTES',
    way: 'API',
    takes: (prompt_bytes) =>
      buildRunScript({
        run_dir: '/r',
        project_dir: '/p',
        argv: ['a', PROMPT],
        env: {},
        prompt_on_stdin: false,
        memory: null,
        prompt_bytes,
      }).includes('$(command -p cat -- '),
  },
  {
    limit: 'dispatch/run-directory/run-directories.ts MOST_SCREEN',
    way: 'file',
    takes(size) {
      mkdirSync(join(temp.root, 'runs', 'one'), { recursive: true });
      const runDirectories = new RunDirectories({ data_dir: temp.root, logger: silentLogger });
      runDirectories.writeScreen('one', x(size));
      return runDirectories.readScreen('one') === x(size);
    },
  },
  {
    limit: 'contract/fiber.ts DEATH_SCREEN_LIMITS.lines',
    way: 'file',
    takes: (size) => shownAtDeath(Array(size).fill('x').join('\n')),
  },
  {
    limit: 'contract/fiber.ts DEATH_SCREEN_LIMITS.line_chars',
    way: 'file',
    takes: (size) => shownAtDeath(x(size)),
  },
  ...['search', 'attachments', 'message-files', 'digests', 'session-links', 'commits', 'uncommitted'].map(
    (file): Probe => ({
      limit: `routes/${file}.ts MOST_WAITING`,
      way: 'API',
      takes: (size) => waiting(`routes/${file}.ts MOST_WAITING`, size),
    }),
  ),
];

/** Why some limits are not tried here at their own size. A test that is named tries a smaller one. */
const ELSEWHERE: Record<string, readonly string[]> = {
  'the body of each endpoint is tried below': [
    ...[
      'attach',
      'brake',
      'capture',
      'dispatch',
      'fiber-stores',
      'fleet',
      'lifecycle',
      'meeting',
      'messages',
    ].map((one) => `routes/${one}.ts REQUEST_LIMIT`),
    'routes/attachments.ts BODY_LIMIT',
    'routes/message-files.ts BODY_LIMIT',
    'routes/config.ts TEXT_LIMIT',
    'routes/fiber-stores.ts LIST_LIMIT',
    'routes/fibers.ts DOCUMENT_LIMIT',
  ],
  'one above is served all the same, and nobody outside can tell': [
    'cli/verbs/run/begun-run.ts MOST_BYTES',
    'dispatch/stores/store-poll.ts MOST_NEW',
    'fibers/search/rank.ts MOST_COUNTED',
    'fibers/search/search-texts.ts MOST_KEPT_BYTES',
    'fibers/search/snippets.ts MOST_PLACES',
    'fibers/search/snippets.ts SNIPPET_CHARS',
    'fibers/text-diff.ts MOST_PAIRS',
    'harness/claude/transcript.ts MOST_NAME_LENGTH',
    'http/content-coding.ts MOST_KEPT_BYTES',
    'http/peer-gate.ts MOST_UNDECIDED',
    'ledgers/event-scan.ts DEEPEST',
    'ledgers/event-scan.ts LONGEST',
    'platform/file-reader.ts MOST_AT_ONCE',
    'routes/activity.ts MOST_KEPT',
    'routes/activity.ts MOST_KEPT_BYTES',
    'routes/digests.ts MOST_KEPT',
    'routes/held-files.ts MOST_FILE_BYTES',
    'routes/held-files.ts MOST_HELD_BYTES',
    'routes/ledger-bodies.ts KEPT_BYTES',
    'routes/session-links.ts MOST_KEPT',
    'routes/transcript-places.ts MOST_KNOWN',
  ],
  'test/platform/regular-file.test.ts': [
    'platform/read-limits.ts READ_LIMITS.harness_config',
    'platform/read-limits.ts READ_LIMITS.short_file',
    'platform/read-limits.ts READ_LIMITS.skill_file',
  ],
  'test/fibers/yaml-document.test.ts': [
    ...['aliases', 'anchors', 'depth', 'values', 'yaml_tags', 'yaml_tokens'].map(
      (one) => `contract/document-limits.ts DOCUMENT_LIMITS.${one}`,
    ),
    'fibers/document-parser.ts MOST_ROUNDS',
  ],
  'test/fibers/edit.test.ts': [
    'contract/document-limits.ts DOCUMENT_LIMITS.written_frontmatter_chars',
    'contract/document-limits.ts DOCUMENT_LIMITS.written_yaml_tokens',
  ],
  'test/dispatch/requests/kept-answers.test.ts': [
    'dispatch/requests/kept-answers.ts MOST_BYTES',
    'dispatch/requests/kept-answers.ts MOST_KEPT',
  ],
  'test/contract/http/write-limits.test.ts': [
    ...[
      ...['collaborator_chars', 'collaborators', 'name_chars', 'outcome_chars', 'roles', 'tag_chars', 'tags'],
      ...['on_limit', 'text_chars'],
    ].map((one) => `contract/document-limits.ts FIELD_LIMITS.${one}`),
    ...['body_chars', 'path_chars', 'prompt_chars', 'reference_chars', 'set_keys', 'unset_keys'].map(
      (one) => `contract/document-limits.ts WRITE_LIMITS.${one}`,
    ),
  ],
  'test/dispatch/stores/store-poll.test.ts': ['contract/threads/pool.ts PARSE_LIMIT_MS'],
  'test/config/operator-files.test.ts': ['config/operator-text.ts MOST_DEPTH'],
  'one above is told in short': ['dispatch/state-view.ts MOST_NAMED', 'http/request-input.ts MOST_ISSUES'],
  'test/fibers/watch.test.ts': ['fibers/watch.ts MAX_WATCHES'],
  'test/fibers/store.test.ts': ['fibers/store.ts MAX_REPLANS', 'platform/file-lock.ts DEFAULT_TIMEOUT_MS'],
  'not tried: takes files of other programs, or folders, in such numbers': [
    'cli/verbs/completion/fibers.ts MOST_FOLDERS',
    'cli/hook/run.cjs MOST_OUTPUT_BYTES',
    'ledgers/last-commit.ts MOST_GIT_BYTES',
    'fibers/search/search-texts.ts MOST_BODY_CHARS',
    'harness/claude/bridge-url.ts MOST_LINE_BYTES',
    'harness/transcripts/past-session.ts MOST_RECORDS',
    'harness/transcripts/transcript-files.ts MOST_CANDIDATES',
    'harness/transcripts/transcript-files.ts MOST_HEAD_BYTES',
  ],
  'test/cli/hook/hook.test.ts': [
    'cli/hook/run.cjs LIMIT_MS',
    'dispatch/run-directory/hook-spool.ts MOST_BYTES',
  ],
  'test/dispatch/holds/usage-limits.test.ts': ['dispatch/holds/usage-limits.ts MOST_NOTICE'],
  'test/http/request-head.test.ts': [
    'cli/verbs/daemon/run.ts MOST_HEADER_BYTES',
    'http/node-transport.ts MOST_HEADER_BYTES',
  ],
  'test/http/slow-bodies.test.ts': [
    'http/request-body.ts BODY_TIMEOUT_MS',
    'routes/attachments.ts BODY_TIMEOUT_MS',
    'routes/message-files.ts BODY_TIMEOUT_MS',
  ],
  'test/http/held-peer-gate.test.ts': ['http/peer-gate.ts MOST_HELD'],
  'test/routes/files.test.ts': ['routes/files.ts MOST_LOOKS'],
  'test/routes/transcripts.test.ts': ['routes/transcripts.ts MOST_LOOKS'],
  'test/ledgers/events-index.test.ts': [
    'ledgers/events-index.ts LONGEST_LINE_BYTES',
    'ledgers/events-segment.ts LONGEST_TOOL',
    'ledgers/events-segment.ts MOST_BUCKETS',
    'ledgers/events-segment.ts MOST_SENT',
    'ledgers/events-segment.ts MOST_SESSIONS',
  ],
  'test/contract/read-input.test.ts': [
    'contract/read-input.ts MOST_SHOWN_CHARS',
    'contract/read-input.ts MOST_SHOWN_KEYS',
  ],
  'test/ledgers/sessions-ledger.test.ts': ['ledgers/sessions-ledger.ts MAX_ENTRIES'],
  'test/ledgers/append-line.test.ts': ['ledgers/append-line.ts ROTATE_BYTES'],
};

function sizeOf(id: string): number {
  return statSync(temp.store.locate(id) ?? '').size;
}

/** Whether a request passes the checks of its row. */
async function isTaken(path: string): Promise<boolean> {
  const { status, body } = await ask({ port: served.port }, 'GET', path, {});
  if (status === 400) expect(JSON.parse(body).error).toBe('invalid_request');
  return status !== 400;
}

describe('limits', () => {
  it.each(PROBES)(
    '$limit: accepts what is at the limit by $way, and nothing above',
    async ({ limit, takes }) => {
      const most = values.get(limit) ?? Number.NaN;
      expect([await takes(most), await takes(most + 1)]).toEqual([true, false]);
    },
  );

  it('are all tested, in every way that input reaches them', () => {
    const tried = new Set(PROBES.map(({ limit, way }) => `${limit} ${way}`));
    const elsewhere = new Set(Object.values(ELSEWHERE).flat());
    const untried = LIMITS.flatMap(({ rows }) => rows)
      .filter(([file, name]) => !elsewhere.has(`${file} ${name}`))
      .flatMap(([file, name, , , , ways]) => ways.split(' ').map((way) => `${file} ${name} ${way}`))
      .filter((one) => !one.endsWith(' ') && !tried.has(one));
    expect(untried).toEqual([]);
  });

  it('are tested where the table says', () => {
    for (const [where, limits] of Object.entries(ELSEWHERE)) {
      expect(limits.filter((limit) => !values.has(limit))).toEqual([]);
      if (where.startsWith('test/')) expect(existsSync(join(ROOT, where)), where).toBe(true);
    }
  });

  it('accepts the body of every endpoint at its limit, and refuses one byte more', async () => {
    const bodies = served.rows.filter((row) => row.body !== undefined && row.body_limit > 0);
    expect(bodies.length).toBeGreaterThan(20);
    for (const { method, path, body_limit } of bodies) {
      const place = path.replaceAll(/[:*]\w+/g, 'x');
      const send = async (size: number) => {
        // Blanks after the JSON: whatever the endpoint makes of it, it has read all of them.
        const { status, body } = await ask({ port: served.port }, method, place, { body: '{}'.padEnd(size) });
        return status === 413 ? JSON.parse(body).error : 'taken';
      };
      expect([path, await send(body_limit), await send(body_limit + 1)]).toEqual([
        ...[path, 'taken', 'body_too_large'],
      ]);
    }
  });

  it('takes every field of a request at its limit, and names the one that is above', async () => {
    const { paths } = describeApi(served.rows, '');
    let fields = 0;
    for (const { method, path, body_limit, ...row } of served.rows) {
      const operation = paths[apiPath(path)]?.[method.toLowerCase()];
      const schema = operation?.requestBody?.content['application/json']?.schema;
      const example = row.example?.body ?? {};
      for (const [field, { maxLength }] of Object.entries(schema?.properties ?? {}) as [
        string,
        { maxLength?: number },
      ][]) {
        // A longer one is refused with the whole body.
        if (maxLength === undefined || maxLength >= body_limit) continue;
        fields += 1;
        const send = async (size: number) => {
          const body = JSON.stringify({ ...example, [field]: x(size) });
          const answer = await ask({ port: served.port }, method, path, { body });
          return answer.status === 400 && answer.body.includes(field) ? 'refused' : 'taken';
        };
        expect([path, field, await send(maxLength), await send(maxLength + 1)]).toEqual([
          ...[path, field, 'taken', 'refused'],
        ]);
      }
    }
    expect(fields).toBeGreaterThan(3);
  });
});
