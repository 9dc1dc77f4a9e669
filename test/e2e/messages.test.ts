import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Conversation } from '../../src/contract/http/conversation.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';

let daemon: TestDaemon;
let host: string;

beforeAll(async () => {
  daemon = await startTestDaemon();
  ({ host } = (await daemon.http.get<{ host: string }>('/version')).body);
});
afterAll(() => daemon.dispose());

const ledger = () => join(daemon.home.data, 'messages.jsonl');
const told = async (query: string) => (await daemon.http.get<Conversation>(`/messages?${query}`)).body;

/** Writes to a session that no worker has: the daemon keeps the message and rejects it. */
async function send(session: string, message_id: string): Promise<Receipt> {
  const body = {
    address: `svc://${host}/claude/${session}`,
    text: `Text of ${message_id}.`,
    from: 'ada',
    message_id,
  };
  return (await daemon.http.post<Receipt>('/messages', body)).body;
}

describe('the messages of a real daemon', () => {
  it('are told with their texts and stages, in pages, also after the ledger lost lines in a crash', async () => {
    for (const id of ['m-1', 'm-2', 'm-3'])
      expect(await send('s-1', id)).toMatchObject({ status: 'rejected', reason: 'session_not_found' });
    await send('s-2', 'm-4');
    const page = await told('session=s-1&limit=2');
    expect(page.messages).toMatchObject([
      { message_id: 'm-2', status: 'rejected', text: 'Text of m-2.', from: 'ada' },
      { message_id: 'm-3', status: 'rejected', text: 'Text of m-3.', from: 'ada' },
    ]);
    const first = await told(`session=s-1&limit=2&before=${page.before}`);
    expect(first).toMatchObject({ messages: [{ message_id: 'm-1' }], before: null });
    expect(readFileSync(ledger(), 'utf8')).not.toContain('Text of');

    await daemon.kill9();
    const lines = readFileSync(ledger(), 'utf8').split('\n');
    writeFileSync(ledger(), `${lines.slice(0, -3).join('\n')}\n{"torn`);
    await daemon.start();
    await expect
      .poll(async () => (await told('session=s-2')).messages)
      .toMatchObject([{ message_id: 'm-4', status: 'rejected', text: 'Text of m-4.' }]);

    await daemon.kill9();
    rmSync(ledger());
    await daemon.start();
    await expect.poll(async () => (await told('session=s-1')).messages).toHaveLength(3);
  });
});
