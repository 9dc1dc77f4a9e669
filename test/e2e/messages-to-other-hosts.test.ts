import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/contract/http/conversation.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** The daemon that is given the messages, and the one whose sessions they are for. */
let hub: TestDaemon;
let owner: TestDaemon;
let session: string;
beforeAll(async () => {
  [hub, owner] = await Promise.all([
    startTestDaemon({ settings: { SVC_HOST: 'host-a' } }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b' },
      prepare(home) {
        home.fiber('far-away', { agent: 'talks', svc: { host: 'host-b' } });
      },
    }),
  ]);
  session = (await owner.running('far-away')).runtime.session_uuid!;
  await configure();
});
afterAll(async () => {
  await Promise.all([hub.dispose(), owner.dispose()]);
});

async function configure(): Promise<void> {
  hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url: `http://${owner.address}` }] });
  await until('the remote', async () => (await hub.http.get('/agents?origin=host-b')).status === 200);
}

const message = (message_id: string, more: object = {}) => ({
  address: `svc://host-b/claude/${session}`,
  text: `Text of ${message_id}.`,
  from: 'ada',
  message_id,
  ...more,
});
const send = (message_id: string, more: object = {}) =>
  hub.http.post<Receipt>('/messages', message(message_id, more));
/** The messages of a session, as a daemon has them. */
const kept = async (daemon: TestDaemon) =>
  (await daemon.http.get<Conversation>(`/messages?session=${session}`)).body.messages ?? [];

describe('a message to a session of another host', () => {
  it('[MSG-1] [MSG-3] is taken by the owner in its address, once for each id, and by no other', async () => {
    const first = await send('m-1');
    expect(first).toMatchObject({ status: 200, headers: { 'svc-host': 'host-b' } });
    expect(first.body).toMatchObject({ message_id: 'm-1', address: message('').address });
    const again = await send('m-1');
    expect(again.body).toMatchObject({ message_id: 'm-1', status: expect.not.stringMatching('rejected') });
    expect((await send('m-1', { text: 'Another text.' })).status).toBe(409);
    const direct = await owner.http.post<Receipt>('/messages', message('m-1'));
    expect(direct.body).toMatchObject({ message_id: 'm-1' });
    await until('the message', async () => (await kept(owner)).length > 0);
    expect(await kept(owner)).toMatchObject([{ message_id: 'm-1', text: 'Text of m-1.' }]);
    expect(await kept(hub)).toEqual([]);
  });

  it('[MSG-1] [MSG-5] is refused where the address names no host that is known, or none at all', async () => {
    const nowhere = await send('m-2', { address: 'svc://nowhere/claude/s-1' });
    expect(nowhere).toMatchObject({ status: 400, body: { error: 'wrong_host' } });
    expect(await send('m-2', { address: 'host-b/claude/s-1' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_address' },
    });
    expect(await send('m-2', { origin: 'host-b', address: 'svc://host-a/claude/s-1' })).toMatchObject({
      status: 400,
      body: { error: 'wrong_host' },
      headers: { 'svc-host': 'host-b' },
    });
    expect(await kept(owner)).toHaveLength(1);
  });

  it('[MSG-1] is taken by the session whose id alone the command names', async () => {
    const sent = await hub.home.svc('send', session, 'Look.', '--id', 'm-by-id', '--json');
    expect(JSON.parse(sent.stdout)).toMatchObject({ message_id: 'm-by-id', address: message('').address });
  });

  it('[MSG-4] brings its files there', async () => {
    const bytes = Buffer.alloc(3_000_000, 'x');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const body = message('m-3', { attachments: [{ name: 'a.txt', data: bytes.toString('base64'), sha256 }] });
    const answer = await hub.http.post<Receipt>('/messages/files', body);
    expect(answer.status).toBe(200);
    const path = answer.body.files?.[0]?.path ?? '';
    expect(path.startsWith(owner.home.data)).toBe(true);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('[MSG-3] [MSG-5] is not taken while that host is away, and is once it is back, by the same id', async () => {
    await owner.kill9();
    expect(await send('m-4')).toMatchObject({
      status: 503,
      body: {
        error: 'remote_unreachable',
        origin: 'host-b',
        message: expect.stringContaining('Nothing was sent'),
      },
    });
    const cli = await hub.home.svc('send', message('').address, 'Hello.', '--id', 'm-5');
    expect(cli.code).toBeGreaterThan(0);
    expect(cli.stderr).toContain('Nothing was sent');
    await owner.start();
    await configure();
    for (let time = 0; time < 2; time += 1)
      expect(await send('m-4')).toMatchObject({ status: 200, body: { message_id: 'm-4' } });
    const sent = await hub.home.svc('send', message('').address, 'Hello.', '--id', 'm-5', '--json');
    expect(JSON.parse(sent.stdout)).toMatchObject({ message_id: 'm-5', address: message('').address });
    const ids = await until('all messages', async () => {
      const all = (await kept(owner)).map(({ message_id }) => message_id);
      return all.includes('m-5') ? all : null;
    });
    expect(ids).toEqual(['m-1', 'm-by-id', 'm-3', 'm-4', 'm-5']);
  });
});
