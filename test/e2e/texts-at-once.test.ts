import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/contract/http/conversation.ts';
import { projectFolder } from '../../src/harness/claude/transcript.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { launchesOf } from '../kit/launches.ts';
import { until } from '../kit/until.ts';

const COMPOSER = new URL('../faults/composer-agent.mjs', import.meta.url).pathname;

/** The host of the fibers, and another one that forwards to it. */
let owner: TestDaemon;
let hub: TestDaemon;
beforeAll(async () => {
  [owner, hub] = await Promise.all([
    startTestDaemon({
      settings: { SVC_HOST: 'host-b', SVC_MESSAGE_OBSERVE_MS: '500' },
      prepare(home) {
        const composer = {
          ...{ id: 'composer', harness: 'claude', cli: process.execPath, effort_levels: [], default: true },
          ...{ args: [COMPOSER, home.path('witness.jsonl')], prompt: 'argument' },
          env: { CLAUDE_CONFIG_DIR: home.claude },
        };
        home.write('config/agents.json', { version: 1, builtins: 'restrict', agents: [composer] });
        for (const id of ['delivered', 'forwarded', 'mixed', 'reopened'])
          home.fiber(id, {
            front: id === 'reopened' ? { status: 'closed' } : { status: 'open' },
            svc: { host: 'host-b', agent: 'composer' },
          });
      },
    }),
    startTestDaemon({ settings: { SVC_HOST: 'host-a' } }),
  ]);
  hub.home.write('config/remotes.json', {
    remotes: [{ name: 'host-b', url: `http://${owner.address}` }],
  });
  await until('the remote', async () => (await hub.http.get('/agents?origin=host-b')).status === 200);
});
afterAll(async () => {
  await Promise.all([owner?.dispose(), hub?.dispose()]);
});

/** Everything that the one worker of a fiber was told, its prompt first. */
async function told(id: string): Promise<string[]> {
  const { runtime, project_dir } = await owner.running(id);
  expect(launchesOf(owner.home.data, id)).toHaveLength(1);
  const folder = join(owner.home.claude, 'projects', projectFolder(project_dir ?? ''));
  return readFileSync(join(folder, `${runtime.session_uuid}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'user')
    .map(({ message }) => message.content as string);
}

/** Each text is read once, and no more than these. */
async function readOnce(id: string, texts: readonly string[]): Promise<void> {
  const all = await until('every text being read', async () => {
    const read = await told(id);
    return texts.every((text) => read.some((one) => one.includes(text))) ? read : null;
  });
  for (const text of texts) expect([text, all.filter((one) => one.includes(text)).length]).toEqual([text, 1]);
}

const textsFor = (id: string) => [1, 2, 3, 4].map((nth) => `Text ${nth} for ${id}.`);
const messagesOf = async (id: string) =>
  (await owner.http.get<Conversation>(`/messages?fiber=${id}`)).body.messages.map(({ text }) => text);

describe.concurrent('texts for one resting fiber at the same time', () => {
  it.each([
    ['delivered', () => owner, {}],
    ['forwarded', () => hub, { origin: 'host-b' }],
  ] as const)(
    '[WPL-10] [MDS-1] are each read once, and each answer says how: %s',
    async (id, asked, more) => {
      const texts = textsFor(id);
      const answers = await Promise.all(
        texts.map((text) => asked().http.post<Json>('/deliver', { fiber_id: id, text, ...more })),
      );
      expect(answers.map(({ status, body }) => [status, body.delivered])).toEqual(
        texts.map(() => [200, true]),
      );
      const asMessages = texts.filter((_, nth) => answers[nth]?.body.delivery === 'message');
      const [prompted, ...others] = answers.filter(({ body }) => body.delivery !== 'message');
      expect(prompted?.body).toMatchObject({ delivery: 'dispatch', already_running: false });
      expect(others).toEqual([]);
      const { runtime } = await owner.running(id);
      const address = `svc://host-b/claude/${runtime.session_uuid}`;
      for (const { body } of answers)
        if (body.delivery === 'message') expect(body.receipt).toMatchObject({ address });
      await readOnce(id, texts);
      expect((await messagesOf(id)).sort()).toEqual(asMessages);
    },
  );

  it('[WPL-1] [WPL-10] are each read once where two dispatches and two deliveries meet', async () => {
    const texts = textsFor('mixed');
    const answers = await Promise.all(
      texts.map((text, nth) =>
        nth % 2 === 0
          ? owner.http.post<Json>('/dispatch', { fiber_id: 'mixed', user_message: text })
          : owner.http.post<Json>('/deliver', { fiber_id: 'mixed', text }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
    const asMessages = texts.filter((_, nth) => answers[nth]?.body.receipt !== undefined);
    expect(asMessages).toHaveLength(3);
    await readOnce('mixed', texts);
    expect((await messagesOf('mixed')).sort()).toEqual(asMessages);
  });

  it('[WPL-1] [LIF-4] are each read once where the command reopens a fiber with a text twice', async () => {
    const texts = textsFor('reopened').slice(0, 2);
    const ran = await Promise.all(texts.map((text) => owner.home.svc('reopen', 'reopened', '-m', text)));
    const said = ran.map(({ code, stdout, stderr }) => [code, stdout + stderr]);
    // The later one may have found the fiber open already, and then it has said so and given nothing.
    const given = texts.filter((_, nth) => ran[nth]?.code === 0);
    expect(given.length, JSON.stringify(said)).toBeGreaterThan(0);
    await readOnce('reopened', given);
    const read = (await told('reopened')).join('\n');
    for (const text of texts) expect([text, read.includes(text)]).toEqual([text, given.includes(text)]);
  });
});
