import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/contract/http/conversation.ts';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import type { Life } from '../../src/contract/http/life.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { run } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const COMPOSER = new URL('../faults/composer-agent.mjs', import.meta.url).pathname;

/** The host that a person sits at, and another one that it shows. */
let here: TestDaemon;
let there: TestDaemon;
beforeAll(async () => {
  [here, there] = await Promise.all([
    startTestDaemon({
      settings: { SVC_HOST: 'host-a' },
      prepare(home) {
        home.fiber('supervised', { agent: 'talks', svc: { host: 'host-a' } });
        home.fiber('not-armed', { front: { status: 'open' }, svc: { host: 'host-a' } });
      },
    }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b', SVC_MESSAGE_OBSERVE_MS: '1000' },
      prepare(home) {
        home.fiber('listener', { svc: { host: 'host-b', agent: 'composer' } });
        const composer = {
          ...{ id: 'composer', harness: 'claude', cli: process.execPath, default: true, effort_levels: [] },
          ...{ args: [COMPOSER, home.path('witness.jsonl')], prompt: 'argument' },
          env: { CLAUDE_CONFIG_DIR: home.claude },
        };
        home.write('config/agents.json', { version: 1, builtins: 'restrict', agents: [composer] });
      },
    }),
  ]);
  here.home.write('config/remotes.json', {
    remotes: [{ name: 'host-b', url: `http://${there.address}` }],
  });
});
afterAll(async () => {
  await Promise.all([here?.dispose(), there?.dispose()]);
});

/** Has the worker of `supervised` run a command in its session; resolves to what that printed. */
async function order(command: string): Promise<string> {
  const { home } = here;
  const folder = home.project('supervised');
  renameSync(home.write('projects/supervised/orders.new', command), join(folder, 'orders'));
  return until('the answer of the worker', () => {
    try {
      const answer = join(folder, 'answer');
      const text = readFileSync(answer, 'utf8');
      renameSync(answer, join(folder, 'answer.read'));
      return { text };
    } catch {
      return null;
    }
  }).then(({ text }) => text);
}
const ledger = (name: string) =>
  readFileSync(join(here.home.data, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('the service as a whole', () => {
  it('[SVC-2] starts a session of an agent for a due fiber of a polled store, and for no other', async () => {
    const { runtime, uid } = await here.running('supervised');
    expect(await here.home.sessions()).toEqual([`supervised-${uid}-svc`]);
    expect(runtime.mux_session).toBe(`supervised-${uid}-svc`);
    await here.ticks();
    expect((await here.row('not-armed'))?.runtime).toBeUndefined();
  });

  it('[SVC-1] supervises it: what the worker does is in the ledgers, and its end in the document', async () => {
    const { runtime, uid } = await here.running('supervised');
    const folder = here.home.project('supervised');
    const ran = await run('git', ['init', '--quiet', folder], here.home.env);
    expect(ran.code).toBe(0);
    const who = '-c user.name=Ada -c user.email=ada@example.org';
    await order(`git ${who} commit --quiet --allow-empty -m "Greet the reader" && svc hook commit\n`);
    const sessions = [{ fiber: 'supervised', uid, session: runtime.session_uuid, kind: 'dispatch' }];
    const commits = [{ subject: 'Greet the reader', session: runtime.session_uuid }];
    expect(ledger('sessions.jsonl')).toMatchObject(sessions);
    expect(ledger('commits.jsonl')).toMatchObject(commits);
    const life = await here.http.get<Life>(`/fiber-life?uid=${uid}`);
    expect(life.text).toContain('Greet the reader');
  });

  it('[SVC-3] is written to and read by its API and by its command line alike', async () => {
    const body = { fiber: 'not-armed', action: 'install', agent: 'stays' };
    const project_dir = here.home.project('not-armed');
    expect(await here.http.post('/lifecycle', { ...body, project_dir })).toMatchObject({ status: 200 });
    await here.running('not-armed');
    const shown = JSON.parse((await here.home.svc('ps', '--json')).stdout);
    expect(shown).toMatchObject([{ fiber_id: 'supervised' }, { fiber_id: 'not-armed' }]);
    expect((await here.home.svc('kill', 'not-armed', '--yes')).code).toBe(0);
    await here.rowWhen('not-armed', 'without a worker', (row) => row.runtime === undefined);
    expect((await here.state()).running).toMatchObject([{ fiber_id: 'supervised' }]);
  });

  it('[SVC-6] merges what this host reads with what it reads of another one', async () => {
    const composite = async () => (await here.http.get<FibersComposite>('/fibers/composite')).body.origins;
    const origins = await until('both hosts', async () => {
      const both = await composite();
      return both['host-b']?.state === 'fresh' ? both : null;
    });
    const idsOf = (host: string) => {
      const read = origins[host]?.read;
      return read == null ? [] : ('fibers' in read ? read.fibers : read.rows).map(({ id }) => id);
    };
    expect(idsOf('host-a')).toEqual(['not-armed', 'supervised']);
    expect(idsOf('host-b')).toEqual(['listener']);
  });

  it('[SVC-5] delivers the message of a session here to one on another host, once, and tells how far it came', async () => {
    const from = (await here.running('supervised')).runtime.session_uuid!;
    const { runtime } = await there.running('listener');
    const address = `svc://host-b/claude/${runtime.session_uuid}`;
    const sent = await order(
      `CLAUDE_CODE_SESSION_ID=${from} svc send ${address} "The gauges are read." --id gauges-1 --json\n`,
    );
    expect(JSON.parse(sent)).toMatchObject({ message_id: 'gauges-1', address });
    const folder = there.home.project('listener').replace(/[^a-zA-Z0-9]/g, '-');
    const path = join(there.home.claude, 'projects', folder, `${runtime.session_uuid}.jsonl`);
    const transcript = await until('the message in the conversation', () => {
      const text = readFileSync(path, 'utf8');
      return text.includes('The gauges are read.') ? text : null;
    });
    expect(transcript.split('The gauges are read.')).toHaveLength(2);
    const kept = async () =>
      (await there.http.get<Conversation>(`/messages?session=${runtime.session_uuid}`)).body.messages;
    await expect
      .poll(kept)
      .toMatchObject([{ message_id: 'gauges-1', from: `svc://host-a/claude/${from}`, status: 'accepted' }]);
  });

  it('[SVC-7] names the build whose surface it serves, all of it under one prefix', async () => {
    const { git_short_sha, booted_at } = await here.version();
    expect(git_short_sha).toMatch(/^\S+$/);
    expect(booted_at).toBeTruthy();
    const { body } = await here.http.get<{ paths: Record<string, unknown> }>('/openapi.json');
    const paths = Object.keys(body.paths);
    expect(paths.length).toBeGreaterThan(50);
    // What a browser and a monitor open by themselves.
    const own = ['/', '/assets/{name}', '/manifest.webmanifest', '/metrics', '/phone', '/sw.js'];
    expect(paths.filter((path) => !path.startsWith('/api/v1/')).sort()).toEqual(own);
  });
});
