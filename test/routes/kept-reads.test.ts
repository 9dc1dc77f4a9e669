import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { SessionLine } from '../../src/contract/ledger.ts';
import { parseRow } from '../../src/fibers/document.ts';
import { encodeCatalogue } from '../../src/fibers/search/catalogue.ts';
import { withBulk } from '../../src/threads/bulk.ts';
import { BORN, FIXTURE_HOMES } from '../harness/fixture-homes.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { runningPoller, type ServedRoutes, serveRoutes } from './served-routes.ts';

/** Everything that a test writes has settled by then. */
const LATER_MS = 10_000;

let served: ServedRoutes;
let scratch: ScratchFolder;
beforeEach(async () => {
  scratch = scratchFolder();
  vi.stubEnv('HOME', join(scratch.path, 'home'));
  served = await serveRoutes({ home: scratch.path });
  served.context.clock = { ...systemClock, now: () => Date.now() + LATER_MS };
});
afterEach(async () => {
  await served.stop();
  vi.unstubAllEnvs();
  scratch.remove();
});

const jobs = (name: string) => served.callers.pool.jobs.filter((job) => job === name).length;
const calls = (name: string) => served.callers.poller.asked.filter((call) => call.name === name).length;
/** What stands for a moment does so no longer. */
const laterOn = () => served.become({});
const get = async (path: string) => (await served.get(`/api/v1/${path}`)).json;

describe('what a transcript is asked for', () => {
  const session_uuid = FIXTURE_HOMES.claude.uuid(1);
  const at = Date.parse('2026-11-21T09:00:00.000Z');
  let path: string;
  let lines: SessionLine[];
  beforeEach(() => {
    path = FIXTURE_HOMES.claude.writeTranscript(scratch, 'home', {
      ...{ session_uuid, cwd: '/srv/project', prompt: 'Say hello', at: BORN },
    });
    lines = [];
    served.callers.ledgers.answers.lines_of_session = () => ({ lines });
    served.callers.ledgers.answers.sessions = () => ({ sessions: lines });
  });
  const say = (text: string) =>
    appendFileSync(
      path,
      `${JSON.stringify({
        ...{ type: 'assistant', uuid: text, timestamp: new Date(at).toISOString() },
        message: {
          ...{ id: text, model: 'sonnet', content: [{ type: 'text', text }] },
          usage: { input_tokens: 1, output_tokens: 10 },
        },
      })}\n`,
    );

  it('is read again when the transcript has grown, and only then', async () => {
    say('one');
    const ask = async () =>
      ((await get(`moment?session=${session_uuid}&at=${at}`)).words as { text: string }[]).map(
        ({ text }) => text,
      );
    for (let asked = 0; asked < 3; asked += 1) expect(await ask()).toEqual(['one']);
    expect(jobs('read_moment')).toBe(1);
    say('two');
    for (let asked = 0; asked < 3; asked += 1) expect(await ask()).toEqual(['one', 'two']);
    expect(jobs('read_moment')).toBe(2);
  });

  it('[P25] is counted again when it, the ledger or an agent of the session has moved', async () => {
    say('one');
    const output = async () => {
      laterOn();
      return ((await get(`spend?session=${session_uuid}`)).total as { output: number } | null)?.output;
    };
    // Which files an answer comes from is known once there was one.
    for (let asked = 0; asked < 5; asked += 1) expect(await output()).toBe(10);
    expect(jobs('read_spend')).toBe(2);
    say('two');
    for (let asked = 0; asked < 3; asked += 1) expect(await output()).toBe(20);
    expect(jobs('read_spend')).toBe(3);
    writeFileSync(join(scratch.path, 'sessions.jsonl'), '{}\n');
    await output();
    expect(jobs('read_spend')).toBe(4);
    const agents = join(path.replace(/\.jsonl$/, ''), 'subagents');
    mkdirSync(agents, { recursive: true });
    for (let asked = 0; asked < 3; asked += 1) expect(await output()).toBe(20);
    expect(jobs('read_spend')).toBe(7);
  });
});

describe('a search', () => {
  const row = (id: string) => {
    const path = join(scratch.path, '.fibers', id, `${id}.md`);
    return parseRow(Buffer.from(`---\nname: ${id}\nstatus: open\n---\nThe loader.\n`), {
      ...{ store: scratch.path, path, relativePath: `${id}/${id}.md` },
    });
  };
  let ids: string[];
  beforeEach(() => {
    ids = ['a'];
    served.callers.poller.answers.catalogue = () => ({
      value: { catalogue: `${scratch.path} ${ids.length}` },
      bulk: withBulk({}, encodeCatalogue(ids.map(row))).bytes,
    });
    for (const id of ['a', 'b'])
      scratch.write(`.fibers/${id}/${id}.md`, `---\nname: ${id}\nstatus: open\n---\nThe loader.\n`);
  });
  const total = async () => (await get('search?query=loader')).total;

  it('is made again when the feed has moved, when the poller has gone, and while nothing is known of either', async () => {
    for (let asked = 0; asked < 2; asked += 1) expect(await total()).toBe(1);
    expect(jobs('search')).toBe(2);
    served.callers.poller.notify('"1"');
    for (let asked = 0; asked < 3; asked += 1) expect(await total()).toBe(1);
    expect(jobs('search')).toBe(3);
    ids.push('b');
    served.callers.poller.notify('"2"');
    for (let asked = 0; asked < 3; asked += 1) expect(await total()).toBe(2);
    expect(jobs('search')).toBe(4);
    served.become({ components: [runningPoller('starting')] });
    for (let asked = 0; asked < 2; asked += 1) expect(await total()).toBe(2);
    expect(jobs('search')).toBe(6);
  });
});

describe('an operator file', () => {
  const file = () => join(scratch.path, 'stores.json');
  beforeEach(() => {
    served.callers.poller.answers.config_read = () => ({
      ...{
        id: 'stores',
        path: file(),
        exists: true,
        size: 1,
        mtime: 1,
        overridden_by: null,
        path_from: null,
      },
      ...{ text: String(calls('config_read')), digest: 'd', entries: [], problem: null },
    });
  });

  it('is read again when it has moved, and only then', async () => {
    const text = async () => {
      laterOn();
      return (await get('config/stores')).text;
    };
    for (let asked = 0; asked < 3; asked += 1) expect(await text()).toBe('1');
    writeFileSync(file(), '["/a"]');
    for (let asked = 0; asked < 3; asked += 1) expect(await text()).toBe('2');
    writeFileSync(file(), '["/a", "/b"]');
    expect(await text()).toBe('3');
  });
});
