import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { LedgerStamps } from '../../src/contract/ledger-tags.ts';
import { type LedgersService, ledgerFiles, startLedgersService } from '../../src/ledgers/ledgers-service.ts';
import { until } from '../kit/until.ts';

let dir: string;
let service: LedgersService | null = null;
let told: LedgerStamps[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-ledgers-'));
  told = [];
});
afterEach(async () => {
  await service?.stop();
  service = null;
  rmSync(dir, { recursive: true, force: true });
});

const AT_DEFAULT = { events_file: null, sessions_file: null, commits_file: null };
function start(more: Partial<Parameters<typeof startLedgersService>[0]> = {}): LedgersService {
  service = startLedgersService({
    ...ledgerFiles({ ...AT_DEFAULT, data_dir: dir }),
    epoch: 'epoch',
    clock: new FakeClock(),
    logger: silentLogger,
    onChanged: (stamps) => told.push(stamps),
    ...more,
  });
  return service;
}

const append = (name: string, line: object) => appendFileSync(join(dir, name), `${JSON.stringify(line)}\n`);
const session = (at: number, uid: string, more: object = {}) => ({
  ...{ fiber: `work/${uid}`, uid, session: `s-${uid}`, thread_id: null, harness: 'claude' },
  ...{ host: 'host-a', mux: `m-${uid}`, at, kind: 'dispatch', ...more },
});
const push = (at: number, more: object = {}) => ({
  ...{ timestamp: at, type: 'pre_tool_use', tool: 'SendUserFile', toolInput: { files: ['a.png'] } },
  ...{ sessionId: 's-u1', cwd: '/srv', tmuxSession: null, harness: 'claude', ...more },
});
const commit = (at: number, sha: string) => ({
  ...{ at, kind: 'commit', sha: sha.repeat(40), subject: 'Add', repo: '/srv', files: 1, insertions: 2 },
  ...{ deletions: 0, session: 's-u1', mux: null, cwd: '/srv' },
});
const json = async (body: Promise<{ bytes: Uint8Array }>) =>
  JSON.parse(Buffer.from((await body).bytes).toString());
/** The buckets of the whole first minute, all of whose pieces come: only the comma before them is too much. */
const buckets = async (of: LedgersService) => {
  const { bytes } = await of.activityBody(WINDOW);
  return JSON.parse(bytes.toString().replace('[,', '[')).buckets;
};
const host = 'host-a';
const WINDOW = { host, from_ms: 0, to_ms: 60_000, known: null };

describe('the ledgers service', () => {
  it('answers with the current content of the files, and counts it', async () => {
    const running = start();
    const none = { entries: 0, malformed: 0, bytes: 0 };
    expect(await running.state()).toEqual({ sessions: none, commits: none, messages: null, events: null });
    append('sessions.jsonl', session(1, 'u1'));
    appendFileSync(join(dir, 'sessions.jsonl'), 'x\n');
    append('events.jsonl', push(1));
    appendFileSync(join(dir, 'events.jsonl'), '{"timestamp":1}\n{"timestamp":');
    expect(await running.sessions('u1')).toHaveLength(1);
    expect(await buckets(running)).toEqual([{ m: 0, s: 's-u1', cwd: '/srv', k: 'agent', n: 1 }]);
    expect(await running.state()).toMatchObject({
      sessions: { entries: 1, malformed: 1 },
      events: { entries: 1, malformed: 1, buckets: 1 },
    });
  });

  it.each([
    { what: 'a named pipe', make: (path: string) => execFileSync('mkfifo', [path]) },
    { what: 'a device', make: (path: string) => symlinkSync('/dev/zero', path) },
  ])('neither blocks on nor reads $what at the path of a ledger', async ({ what, make }) => {
    const running = start();
    for (const name of ['events.jsonl', 'sessions.jsonl', 'commits.jsonl']) {
      make(join(dir, name));
      await expect(running.activityBody(WINDOW)).rejects.toMatchObject({
        code: 'not_a_file',
        message: expect.stringContaining(`${name} is ${what}`),
      });
      rmSync(join(dir, name));
    }
    expect(await buckets(running)).toEqual([]);
  });

  it('survives an unreadable file, and reports it when queried', async () => {
    const clock = new FakeClock();
    mkdirSync(join(dir, 'events.jsonl'));
    mkdirSync(join(dir, 'sessions.jsonl'));
    const running = start({ clock });
    expect(() => clock.advance(10_000)).not.toThrow();
    await expect(running.state()).rejects.toThrow(/is a folder, not a regular file/);
    await expect(running.activityBody(WINDOW)).rejects.toThrow(/is a folder, not a regular file/);
  });

  it('finds each file by its own setting, else in the data dir', () => {
    const own = { events_file: '/l/e', sessions_file: '/l/s', commits_file: '/l/c', data_dir: '/d' };
    expect(ledgerFiles(own)).toMatchObject({
      events_file: '/l/e',
      sessions_file: '/l/s',
      commits_file: '/l/c',
    });
    expect(ledgerFiles({ ...AT_DEFAULT, data_dir: '/d' })).toMatchObject({
      events_file: '/d/events.jsonl',
      sessions_file: '/d/sessions.jsonl',
      commits_file: '/d/commits.jsonl',
    });
  });

  it('[TMP-3] returns each commit once, and counts malformed lines', async () => {
    for (const line of [commit(1, 'a'), commit(2, 'b'), { ...commit(3, 'a'), session: null }, { at: 1 }])
      append('commits.jsonl', line);
    const running = start();
    const { commits } = await json(running.commitsBody({ host }));
    expect(commits).toEqual([commit(1, 'a'), commit(2, 'b')]);
    expect((await running.state()).commits).toMatchObject({ entries: 2, malformed: 1 });
  });

  it('[TMP-4] [EVT-5] returns all sent files with the fiber of their session at that time', async () => {
    append('sessions.jsonl', session(10, 'u1'));
    append('sessions.jsonl', session(50, 'u2', { session: 's-u1' }));
    append('sessions.jsonl', session(60, 'u3', { session: null }));
    append('events.jsonl', push(20));
    append('events.jsonl', push(70, { cwd: null }));
    append('events.jsonl', push(80, { sessionId: 'other', tmuxSession: 'm-u3' }));
    append('events.jsonl', push(90, { sessionId: 'other' }));
    append('events.jsonl', push(91, { type: 'post_tool_use' }));
    const { sent_files } = await json(start().sentFilesBody({ host }));
    expect(sent_files.map(({ uid, files }: { uid: string; files: string[] }) => [uid, ...files])).toEqual([
      ['u1', '/srv/a.png'],
      ['u2', 'a.png'],
      ['u3', '/srv/a.png'],
      [null, '/srv/a.png'],
    ]);
  });

  it('[TMP-5] [TMP-7] [LIM-12] shows the newest 50 pushes of one fiber, until the second rotation', async () => {
    append('sessions.jsonl', session(1, 'u1'));
    append('events.jsonl.1', push(1));
    for (let at = 2; at <= 30; at += 1) append('events.jsonl', push(at));
    const running = start();
    const trail = async () =>
      (await json(running.sentFilesBody({ host, uid: 'u1' }))).sent_files.map(({ at }: { at: number }) => at);
    expect(await trail()).toHaveLength(30);
    for (let at = 31; at <= 60; at += 1) append('events.jsonl', push(at));
    expect(await trail()).toEqual(Array.from({ length: 50 }, (_, nth) => nth + 11));
    rmSync(join(dir, 'events.jsonl.1'));
    writeFileSync(join(dir, 'events.jsonl'), '');
    expect(await trail()).toEqual([]);
  });

  it('reports a change soon, with the tag of the next body', async () => {
    append('events.jsonl', push(1));
    const running = start({ clock: systemClock });
    await until('the first word', () => told.length > 0);
    const { value: first } = await running.activityBody(WINDOW);
    append('events.jsonl', push(2));
    await until('word of a change', () => told.length > 1);
    const { value: second } = await running.activityBody(WINDOW);
    expect(second.etag).not.toBe(first.etag);
    expect(second.etag).toBe(`W/"a.0.60000.${told.at(-1)?.events}"`);
  });

  it('writes a checkpoint of its index when it stops', async () => {
    append('events.jsonl', push(1));
    await start().activityBody(WINDOW);
    await service?.stop();
    expect(existsSync(join(dir, 'events.index'))).toBe(true);
  });
});
