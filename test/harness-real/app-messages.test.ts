import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { type RealAppServer, startRealAppServer } from './app-server.ts';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
let server: RealAppServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await daemon?.stop();
  daemon = undefined;
});

const WITHIN = { timeout: 60_000, interval: 100 };
const TEXT = 'Please look at the last commit.';

/** A worker of the fiber `listens` on the app surface, in its first turn until `go` exists. */
async function listening() {
  daemon = await startRealDaemon('codex', {
    async prepare({ home, root, env }) {
      server = await startRealAppServer(root, env);
      return { SVC_APP_SERVER: server.setting, HOME: home };
    },
  });
  const one = daemon;
  const go = join(one.project_dir, 'go');
  const began = join(one.project_dir, 'began');
  one.stub.script({
    match: 'Fiber: listens',
    steps: [{ shell: `touch ${began}; while [ ! -e ${go} ]; do sleep 0.1; done` }, { text: 'Ready.' }],
  });
  one.stub.script({ match: 'Please look at the last', steps: [{ text: 'Understood.' }] });
  await one.release();
  await one.add('listens');
  const { path } = await one.rowWhere('listens', () => true);
  const svc = `svc:\n  kind: oneshot\n  host: test-host\n  surface: app\n  agent: codex\n  project_dir: ${one.project_dir}`;
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\n---\n/, `\n${svc}\n---\n`));
  await one.rowWhere('listens', (row) => row.svc?.surface === 'app');
  const { status, body } = await one.post('/dispatch', { fiber_id: 'listens' });
  expect(status, JSON.stringify(body)).toBe(200);
  const { thread_id } = body as { thread_id: string };
  await expect.poll(() => existsSync(began), WITHIN).toBe(true);
  const send = async (id: string, ...files: string[]): Promise<Receipt> => {
    const given = files.flatMap((path) => ['--file', path]);
    return receiptSchema.parse(
      JSON.parse(await one.svc('send', 'listens', TEXT, '--id', id, '--json', ...given)),
    );
  };
  return {
    one,
    thread_id,
    send,
    async idle() {
      writeFileSync(go, '');
      await one.rowWhere('listens', ({ runtime }) => runtime?.phase === 'waiting');
    },
    status: (id: string) => expect.poll(async () => (await send(id)).status, WITHIN),
    async timesGiven(id: string) {
      const lines = (await one.transcriptOf(thread_id)).split('\n');
      return lines.filter((line) => line.includes(`[message ${id} from `) && /"role":"user"/.test(line))
        .length;
    },
  };
}

describe('a message to a worker in the real app', () => {
  it('[WPL-23] [MSG-3] [MDS-1] starts a turn of an idle conversation once, however often its id comes', async () => {
    const { idle, send, status, timesGiven } = await listening();
    await idle();
    const receipts = await Promise.all(['m-1', 'm-2', 'm-1', 'm-2'].map((id) => send(id)));
    for (const receipt of receipts) expect(receipt.transport).toBe('app-server');
    for (const id of ['m-1', 'm-2']) {
      await status(id).toBe('accepted');
      expect(await timesGiven(id)).toBe(1);
    }
  });

  it('[MSG-4] [RCP-4] names its files once each, which are there for their owner alone', async () => {
    const { one, thread_id, idle, send } = await listening();
    await idle();
    for (const name of ['a.log', 'b.log']) writeFileSync(join(one.project_dir, name), `in ${name}`);
    const files = ['a.log', 'b.log'];
    await expect.poll(async () => (await send('m-1', ...files)).status, WITHIN).toBe('accepted');
    const said = (await one.transcriptOf(thread_id))
      .split('\n')
      .filter((line) => line.includes('[message m-1 from ') && /"role":"user"/.test(line))
      .join('\n');
    for (const { name, path, size, sha256 } of (await send('m-1', ...files)).files!) {
      expect(said.split(`[file ${path} (${size} bytes, sha256 ${sha256})]`)).toHaveLength(2);
      expect(readFileSync(path, 'utf8')).toBe(`in ${name}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });

  it('[MSG-2] [MSG-5] is never context alone, for an app conversation has no hooks of ours', async () => {
    const { one, thread_id } = await listening();
    const { code, out } = await one.svcMayFail('send', 'listens', TEXT, '--context', '--json');
    expect(code).not.toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: 'rejected', reason: 'wake_required' });
    expect(await one.transcriptOf(thread_id)).not.toContain(TEXT);
  });

  it('[MSG-3] [MDS-1] is taken in by a running turn', async () => {
    const { idle, send, status, timesGiven } = await listening();
    const first = await send('m-1');
    expect(first).toMatchObject({
      transport: 'app-server',
      status: expect.stringMatching(/unknown|submitted/),
    });
    await idle();
    await status('m-1').toBe('accepted');
    expect(await timesGiven('m-1')).toBe(1);
  });

  it('[MSG-3] waits while the app server is down, also over kill -9, and then arrives once in the stored conversation', async () => {
    const { one, idle, send, status, timesGiven } = await listening();
    await idle();
    await server!.stop();
    await one.rowWhere('listens', ({ runtime }) => runtime?.phase === 'unknown');
    expect(await send('m-1')).toMatchObject({ status: 'queued', transport: 'held' });
    await one.killAndRestart();
    expect(await timesGiven('m-1')).toBe(0);
    await server!.restart();
    await status('m-1').toBe('accepted');
    await one.killAndRestart();
    expect(await send('m-1')).toMatchObject({ status: 'accepted' });
    expect(await timesGiven('m-1')).toBe(1);
  });

  it('[MSG-3] [P13] arrives once at most when the daemon is killed while it is sent', async () => {
    const { one, idle, send, timesGiven } = await listening();
    await idle();
    const sending = send('m-1').catch(() => null);
    await expect.poll(() => timesGiven('m-1').catch(() => 0), WITHIN).toBe(1);
    await one.killAndRestart();
    await sending;
    await expect.poll(async () => (await send('m-1')).status, WITHIN).toBe('accepted');
    expect(await timesGiven('m-1')).toBe(1);
  });
});
