import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import type { SessionLine } from '../../src/contract/ledger.ts';
import { BORN, FIXTURE_HOMES } from '../harness/fixture-homes.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let scratch: ScratchFolder;
let lines: SessionLine[];
beforeEach(async () => {
  scratch = scratchFolder();
  vi.stubEnv('HOME', join(scratch.path, 'home'));
  served = await serveRoutes({ home: scratch.path });
  lines = [];
  served.callers.ledgers.answers.lines_of_session = ({ session }: { session: string }) => ({
    lines: lines.filter((line) => line.session === session || line.thread_id === session),
  });
});
afterEach(async () => {
  await served.stop();
  vi.unstubAllEnvs();
  scratch.remove();
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const uuid = (index: number, harness: (typeof HARNESS_NAMES)[number] = 'claude') =>
  FIXTURE_HOMES[harness].uuid(index);
const write = (index: number, harness: (typeof HARNESS_NAMES)[number] = 'claude') =>
  FIXTURE_HOMES[harness].writeTranscript(scratch, 'home', {
    session_uuid: uuid(index, harness),
    cwd: '/srv/my.project',
    prompt: 'Say hello',
    at: BORN,
  });
const line = (more: Partial<SessionLine>): SessionLine => ({
  fiber: 'work/loader',
  uid: '01K',
  session: null,
  thread_id: null,
  harness: 'claude',
  host: 'host-a',
  mux: null,
  at: 1,
  kind: 'dispatch',
  ...more,
});
const receipt = async (session: string, more = '') =>
  (await served.get(`/api/v1/transcript?session=${session}${more}`)).json;
const raw = (session: string, headers = {}) =>
  served.get(`/api/v1/transcript/raw?session=${session}`, headers);
const searches = () => served.callers.pool.jobs.filter((job) => job === 'find_transcripts').length;

describe('GET /transcript', () => {
  it.each(HARNESS_NAMES)(
    '[RPL-12] [REC-5] returns the location and metadata of the transcript of a %s session',
    async (harness) => {
      const path = write(1, harness);
      const bytes = readFileSync(path);
      const expected = {
        session: uuid(1, harness),
        availability: 'available_local',
        host: 'host-a',
        harness,
        source_path: path,
        byte_count: bytes.length,
        sha256: sha256(bytes),
      };
      expect(await receipt(uuid(1, harness))).toEqual(expected);
      expect(await receipt(uuid(1, harness), '&host=host-a')).toEqual(expected);
      expect(searches()).toBe(1);
    },
  );

  it('[RPL-12] is transcript_missing if there is none, and finds one that is written later', async () => {
    lines = [line({ session: uuid(1), harness: 'claude-code' })];
    expect(await receipt(uuid(1))).toEqual({
      session: uuid(1),
      availability: 'transcript_missing',
      host: 'host-a',
      harness: 'claude',
      source_path: null,
      byte_count: null,
      sha256: null,
    });
    const path = write(1);
    expect(await receipt(uuid(1))).toMatchObject({ availability: 'available_local' });
    rmSync(path);
    expect(await receipt(uuid(1))).toMatchObject({ availability: 'transcript_missing' });
  });

  it('[RPL-12] [WRK-5] is that of the native identity of an app conversation, pending until that is known', async () => {
    lines = [line({ thread_id: 'thread-1', harness: 'codex' })];
    expect(await receipt('thread-1')).toMatchObject({ availability: 'identity_pending', harness: 'codex' });
    expect((await raw('thread-1')).json).toMatchObject({ error: 'identity_pending' });
    const path = write(1, 'codex');
    lines.push(line({ thread_id: 'thread-1', session: uuid(1, 'codex'), harness: 'codex' }));
    expect(await receipt('thread-1')).toMatchObject({ availability: 'available_local', source_path: path });
  });

  it('[RPL-12] [RTE-4] of another host is that host’s answer', async () => {
    const theirs = { ...(await receipt(uuid(1))), host: 'host-b', availability: 'host_unreachable' };
    served.callers.fleet.answers.transcript = () => theirs;
    expect(await receipt(uuid(1), '&host=host-b')).toEqual(theirs);
    expect(served.callers.fleet.asked).toEqual([
      { name: 'transcript', input: { host: 'host-b', session: uuid(1), hops: [] } },
    ]);
  });

  it('refuses an invalid session id', async () => {
    for (const session of ['', '../../etc/passwd', '.hidden', 'a/b', 'x'.repeat(200), 'a%00b'])
      expect((await served.get(`/api/v1/transcript?session=${session}`)).status, session).toBe(400);
  });
});

describe('GET /transcript/raw', () => {
  it.each(HARNESS_NAMES)(
    '[RPL-13] returns the exact bytes of a %s session with their count and digest',
    async (harness) => {
      const bytes = readFileSync(write(1, harness));
      const answer = await raw(uuid(1, harness));
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          'x-transcript-byte-count': String(bytes.length),
          'x-transcript-sha256': sha256(bytes),
          'content-type': 'application/jsonl',
        },
      });
      expect(Buffer.from(answer.body, 'latin1').equals(bytes)).toBe(true);
      expect(await raw(uuid(1, harness), { 'If-None-Match': answer.headers.etag! })).toMatchObject({
        status: 304,
        body: '',
      });
    },
  );

  it('[RPL-13] sends the bytes of its headers though the transcript grows meanwhile', async () => {
    const path = write(1);
    const bytes = readFileSync(path);
    served.callers.pool.before = (job) => {
      if (job === 'digest_file') appendFileSync(path, '{"type":"user"}\n');
    };
    const answer = await raw(uuid(1));
    expect(answer.headers).toMatchObject({
      'x-transcript-byte-count': String(bytes.length),
      'x-transcript-sha256': sha256(bytes),
    });
    expect(Buffer.from(answer.body, 'latin1').equals(bytes)).toBe(true);
    expect(readFileSync(path).length).toBeGreaterThan(bytes.length);
  });

  it('[RPL-13] reads again a transcript that became shorter meanwhile', async () => {
    const path = write(1);
    served.callers.pool.before = (job) => {
      if (job === 'digest_file') writeFileSync(path, '{}\n');
    };
    expect(await raw(uuid(1))).toMatchObject({ status: 200, body: '{}\n' });
  });

  it('[RPL-13] is 404 with the receipt where there is none, and for a host that nobody configured', async () => {
    expect(await raw(uuid(1))).toMatchObject({
      status: 404,
      json: { error: 'transcript_missing', availability: 'transcript_missing', host: 'host-a' },
    });
    expect(await served.get(`/api/v1/transcript/raw?session=${uuid(1)}&host=host-b`)).toMatchObject({
      status: 404,
      json: { error: 'unknown_host', origin: 'host-b' },
    });
  });
});

describe('GET /sessions/links', () => {
  const bridge = (id: string) =>
    `${JSON.stringify({ type: 'system', subtype: 'bridge_status', url: `https://claude.ai/code/session_${id}` })}\n`;
  const links = async (...sessions: string[]) =>
    (await served.get(`/api/v1/sessions/links?sessions=${sessions.join(',')}`)).json.links as {
      session: string;
      availability: string;
      url: string | null;
    }[];
  const scans = () => served.callers.pool.jobs.filter((job) => job === 'find_bridge_urls').length;

  it('[RPL-14] [REC-6] has one entry for each session, in the order of the request', async () => {
    appendFileSync(write(1), bridge('a'));
    write(2);
    appendFileSync(write(3, 'pi'), bridge('c'));
    const missing = uuid(9);
    expect(await links(uuid(3, 'pi'), missing, uuid(1), uuid(2), uuid(1))).toEqual([
      { session: uuid(3, 'pi'), availability: 'available_local', harness: 'pi', url: null },
      { session: missing, availability: 'transcript_missing', harness: null, url: null },
      {
        session: uuid(1),
        availability: 'available_local',
        harness: 'claude',
        url: 'https://claude.ai/code/session_a',
      },
      { session: uuid(2), availability: 'available_local', harness: 'claude', url: null },
      {
        session: uuid(1),
        availability: 'available_local',
        harness: 'claude',
        url: 'https://claude.ai/code/session_a',
      },
    ]);
  });

  it('[RPL-23] reads a transcript again only if its time or size changed', async () => {
    const path = write(1);
    appendFileSync(path, bridge('a'));
    for (let asked = 0; asked < 3; asked += 1) expect((await links(uuid(1)))[0]!.url).toMatch(/_a$/);
    expect(scans()).toBe(1);
    appendFileSync(path, '{"type":"user"}\n');
    expect((await links(uuid(1)))[0]!.url).toMatch(/_a$/);
    appendFileSync(path, bridge('b'));
    expect((await links(uuid(1)))[0]!.url).toMatch(/_b$/);
    expect(scans()).toBe(3);
    writeFileSync(path, '{}\n');
    expect((await links(uuid(1)))[0]!.url).toBeNull();
  });

  it('[RPL-23] [LIM-10] caches for one minute that a session has no transcript', async () => {
    const now = vi.spyOn(served.context.clock, 'now');
    const start = Date.now();
    now.mockReturnValue(start);
    expect((await links(uuid(1)))[0]!.availability).toBe('transcript_missing');
    write(1);
    now.mockReturnValue(start + 59_999);
    expect((await links(uuid(1)))[0]!.availability).toBe('transcript_missing');
    expect(searches()).toBe(1);
    now.mockReturnValue(start + 60_000);
    expect((await links(uuid(1)))[0]!.availability).toBe('available_local');
    now.mockRestore();
  });

  it('[RPL-23] [LIM-10] forgets that a session has no transcript when the clock is set back', async () => {
    const now = vi.spyOn(served.context.clock, 'now');
    const start = Date.now();
    now.mockReturnValue(start);
    expect((await links(uuid(1)))[0]!.availability).toBe('transcript_missing');
    write(1);
    now.mockReturnValue(start - 6 * 3_600_000);
    expect((await links(uuid(1)))[0]!.availability).toBe('available_local');
    now.mockRestore();
  });

  it('[RPL-14] [LIM-9] accepts fifty sessions and refuses one more', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => uuid(index + 1));
    expect(await links(...many(50))).toHaveLength(50);
    expect(await served.get(`/api/v1/sessions/links?sessions=${many(51).join(',')}`)).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
    for (const wrong of ['', 'a,,b', '../x']) {
      const { status } = await served.get(`/api/v1/sessions/links?sessions=${wrong}`);
      expect(status, wrong).toBe(400);
    }
  });

  it('[RTE-4] of another host are that host’s answer', async () => {
    const theirs = {
      host: 'host-b',
      links: [{ session: uuid(1), availability: 'host_unreachable', harness: null, url: null }],
    };
    served.callers.fleet.answers.session_links = () => theirs;
    const answer = await served.get(`/api/v1/sessions/links?sessions=${uuid(1)}&host=host-b`);
    expect(answer.json).toEqual(theirs);
  });
});
