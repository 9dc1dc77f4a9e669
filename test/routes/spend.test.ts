import { appendFileSync } from 'node:fs';
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
    lines: lines.filter((line) => line.session === session),
  });
  served.callers.ledgers.answers.sessions = ({ uid }: { uid?: string }) => ({
    sessions: lines.filter((line) => uid === undefined || line.uid === uid),
  });
});
afterEach(async () => {
  await served.stop();
  vi.unstubAllEnvs();
  scratch.remove();
});

type Harness = (typeof HARNESS_NAMES)[number];
const uuid = (index: number, harness: Harness) => FIXTURE_HOMES[harness].uuid(index);
const at = '2026-11-21T09:00:00.000Z';

/** A session that the ledger knows, with the records of one answer in its transcript. */
function session(index: number, harness: Harness, answer: object | null): string {
  const session_uuid = uuid(index, harness);
  const path = FIXTURE_HOMES[harness].writeTranscript(scratch, 'home', {
    ...{ session_uuid, cwd: '/srv/project', prompt: 'Say hello', at: BORN },
  });
  if (answer !== null) appendFileSync(path, `${JSON.stringify(answer)}\n`);
  lines.push({
    ...{ fiber: 'work/loader', uid: 'U1', session: session_uuid, thread_id: null, harness },
    ...{ host: 'host-a', mux: null, at: 1_000 + index, kind: 'dispatch' },
  });
  return session_uuid;
}

const ANSWERS: Record<Harness, object> = {
  claude: {
    ...{ type: 'assistant', uuid: 'u1', timestamp: at },
    message: {
      ...{ id: 'm1', model: 'sonnet', content: [{ type: 'text', text: 'Hello from claude' }] },
      usage: {
        input_tokens: 1,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 3,
        output_tokens: 4,
      },
    },
  },
  codex: {
    type: 'token_usage_record',
    payload: {
      ...{ turn_id: 't', response_id: 'r' },
      usage: { input_tokens: 30, cached_input_tokens: 20, cache_write_input_tokens: 0, output_tokens: 7 },
    },
  },
  pi: {
    ...{ type: 'message', id: 'p', timestamp: at },
    message: {
      ...{ role: 'assistant', model: 'stub', content: [{ type: 'text', text: 'Hello from pi' }] },
      usage: { input: 100, output: 200, cacheRead: 300, cacheWrite: 400 },
    },
  },
};

describe('GET /spend', () => {
  it('[P25] adds up the usage of a fiber’s sessions, and counts those without data', async () => {
    for (const [index, harness] of HARNESS_NAMES.entries()) session(index + 1, harness, ANSWERS[harness]);
    const silent = session(9, 'claude', null);
    lines.push({ ...lines[0]!, session: 'gone', at: 5_000 }, { ...lines[0]!, uid: 'other', session: 'x' });
    const { json } = await served.get('/api/v1/spend?uid=U1');
    expect(json).toMatchObject({
      host: 'host-a',
      total: { input: 111, cache_read: 323, cache_write: 402, output: 211 },
      unknown: 2,
    });
    const sessions = json.sessions as Record<string, unknown>[];
    expect(sessions.map((one) => [one.session, one.harness, one.unknown])).toEqual([
      [uuid(1, 'claude'), 'claude', null],
      [uuid(2, 'codex'), 'codex', null],
      [uuid(3, 'pi'), 'pi', null],
      [silent, 'claude', 'no_counts'],
      ['gone', 'claude', 'transcript_missing'],
    ]);
  });

  it('[P25] returns one session, also one that the ledger does not know', async () => {
    const known = session(1, 'pi', ANSWERS.pi);
    expect((await served.get(`/api/v1/spend?session=${known}`)).json).toMatchObject({
      sessions: [{ session: known, harness: 'pi', began_at: 1_001, answers: 1, models: ['stub'] }],
      total: { output: 200 },
      unknown: 0,
    });
    lines = [];
    served.become({});
    expect((await served.get(`/api/v1/spend?session=${known}`)).json).toMatchObject({
      sessions: [{ session: known, harness: 'pi', began_at: null }],
      total: { output: 200 },
    });
  });

  it('[P25] is unknown, not zero, for a fiber without sessions', async () => {
    expect((await served.get('/api/v1/spend?uid=nobody')).json).toMatchObject({
      ...{ sessions: [], total: null, unknown: 0 },
    });
  });

  it.each(['', '?uid=a&session=b'])(
    'refuses a query that does not name exactly one of the two: %s',
    async (query) => {
      expect(await served.get(`/api/v1/spend${query}`)).toMatchObject({
        status: 400,
        json: { error: 'invalid_request' },
      });
    },
  );
});

describe('GET /moment', () => {
  it('shows what was said around a time', async () => {
    const known = session(1, 'claude', ANSWERS.claude);
    const moment = await served.get(`/api/v1/moment?session=${known}&at=${Date.parse(at) + 30_000}`);
    expect(moment).toMatchObject({
      status: 200,
      json: {
        ...{ host: 'host-a', session: known, harness: 'claude', more: false },
        words: [{ who: 'agent', tool: null, text: 'Hello from claude' }],
      },
    });
    const later = await served.get(`/api/v1/moment?session=${known}&at=${Date.parse(at) + 90_000}`);
    expect(later.json.words).toEqual([]);
    const wide = await served.get(
      `/api/v1/moment?session=${known}&at=${Date.parse(at) + 90_000}&within_ms=120000`,
    );
    expect(wide.json.words).toHaveLength(1);
  });

  it('reports the session that has no transcript here', async () => {
    expect(await served.get('/api/v1/moment?session=gone&at=1')).toMatchObject({
      status: 422,
      json: { error: 'transcript_missing', session: 'gone', host: 'host-a' },
    });
  });

  it.each(['session=a', 'at=1', 'session=a&at=x', 'session=a&at=1&within_ms=0'])(
    'refuses %s',
    async (query) => {
      expect((await served.get(`/api/v1/moment?${query}`)).status).toBe(400);
    },
  );
});

describe('GET /transcript/words', () => {
  it('tells what was said, and nothing more after its end', async () => {
    const known = session(1, 'claude', ANSWERS.claude);
    const { status, json } = await served.get(`/api/v1/transcript/words?session=${known}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ host: 'host-a', session: known, harness: 'claude', from: 0 });
    expect((json.words as unknown[]).at(-1)).toMatchObject({
      who: 'agent',
      tool: null,
      text: 'Hello from claude',
    });
    expect(json.to).toBe(json.size);
    const later = await served.get(`/api/v1/transcript/words?session=${known}&after_byte=${json.to}`);
    expect(later.json).toMatchObject({ from: json.to, to: json.to, words: [] });
  });

  it('reports the session that has no transcript here', async () => {
    expect(await served.get('/api/v1/transcript/words?session=gone')).toMatchObject({
      status: 422,
      json: { error: 'transcript_missing' },
    });
  });

  it.each(['', 'session=a&before_byte=x', 'session=a&before_byte=1&after_byte=2'])(
    'refuses %s',
    async (query) => {
      expect((await served.get(`/api/v1/transcript/words?${query}`)).status).toBe(400);
    },
  );
});
