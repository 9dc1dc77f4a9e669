import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { printAddress } from '../../src/contract/session-address.ts';
import { type RealAppServer, startRealAppServer } from './app-server.ts';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';

export const WITHIN = { timeout: 60_000, interval: 100 };
/** What is sent unless a test says otherwise. */
export const TEXT = 'Please look at the last commit.';

/** A worker of the fiber `listens` on the app surface, in its first turn until `idle` is called. */
export type ListeningApp = {
  one: RealDaemon;
  server: RealAppServer;
  thread_id: string;
  /** Sends a message; on one that was sent with this id it asks what became of it. */
  send(id: string, options?: { text?: string; files?: string[] }): Promise<Receipt>;
  /** Lets the first turn end, and waits until it has. */
  idle(): Promise<void>;
  /** How often the conversation holds a message as something that the user said. */
  timesGiven(id: string): Promise<number>;
  stop(): Promise<void>;
};

/** `args` are those of the agent where they are not the usual ones. */
export async function startListeningApp({ args }: { args?: string[] } = {}): Promise<ListeningApp> {
  let server: RealAppServer | undefined;
  const one = await startRealDaemon('codex', {
    async prepare({ home, root, env }) {
      const agents = [{ id: 'codex', harness: 'codex', cli: 'codex', args }];
      if (args !== undefined)
        writeFileSync(join(root, 'config', 'agents.json'), JSON.stringify({ builtins: 'layer', agents }));
      server = await startRealAppServer(root, env);
      return { SVC_APP_SERVER: server.setting, HOME: home };
    },
  });
  const go = join(one.project_dir, 'go');
  const stop = async () => {
    await server?.stop();
    await one.stop();
  };
  const thread_id = await beginTurn(one, go).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // A fiber without a worker has no session to write to any more.
  const address = printAddress({ host: 'test-host', harness: 'codex', native_id: thread_id });
  return {
    one,
    server: server!,
    thread_id,
    async send(id, { text = TEXT, files = [] } = {}) {
      const given = files.flatMap((file) => ['--file', file]);
      return receiptSchema.parse(
        JSON.parse(await one.svc('send', address, text, '--id', id, '--json', ...given)),
      );
    },
    async idle() {
      writeFileSync(go, '');
      await one.rowWhere('listens', ({ runtime }) => runtime?.phase === 'waiting');
    },
    async timesGiven(id) {
      const lines = (await one.transcriptOf(thread_id)).split('\n');
      return lines.filter((line) => line.includes(`[message ${id} (`) && /"role":"user"/.test(line)).length;
    },
    stop,
  };
}

/** Starts the conversation, whose first turn waits for a file; answers the id of its thread. */
async function beginTurn(one: RealDaemon, go: string): Promise<string> {
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
  return thread_id;
}
