import { afterEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import { FILE_MESSAGE, sentFile } from '../fibers/attachments/message-files.ts';
import { ask, exchangeRaw } from '../http/raw-exchange.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const PATH = '/api/v1/messages/files';
const FILES = [sentFile('note.md', 'Hello.\n'), sentFile('data.bin', Buffer.alloc(300_000, 7))];
const STORED = FILES.map(({ name, sha256 }) => ({ name, path: `/kept/${name}`, sha256, size: 1 }));
const RECEIPT = {
  message_id: 'm-1',
  address: FILE_MESSAGE.address,
  status: 'submitted' as const,
  transport: 'terminal',
  detail: 'the conversation shows it as a turn of the user',
  at: 1,
  files: STORED,
};

let served: ServedRoutes;
afterEach(() => served.stop());

/** The routes with a component that takes every message. */
async function serve(options: Parameters<typeof serveRoutes>[0] = {}): Promise<void> {
  served = await serveRoutes(options);
  served.callers.messages.answers.send = () => ({ value: RECEIPT, bulk: null });
}
const post = (attachments: unknown, more: object = {}) =>
  served.post(PATH, { ...FILE_MESSAGE, attachments, ...more });

describe('POST /messages/files', () => {
  it('[WPL-24] [MSG-4] [RCP-4] hands the message and the bytes of its files over, and answers with the receipt', async () => {
    await serve();
    const answer = await post(FILES);
    expect(answer).toMatchObject({ status: 200, json: RECEIPT });
    const [asked] = served.callers.messages.asked;
    expect(asked).toMatchObject({ name: 'send', input: { ...FILE_MESSAGE, wake: true } });
    expect((asked!.input as { files: unknown }).files).toEqual([
      { ...named(0), kept_as: 'note.md', offset: 0, size: 7 },
      { ...named(1), kept_as: 'data.bin', offset: 7, size: 300_000 },
    ]);
    expect(served.callers.messages.bulks.map((bytes) => bytes?.length)).toEqual([300_007]);
  });

  it('[RDY-3] answers while the daemon starts', async () => {
    await serve({ ready_ms: null });
    expect(await post(FILES)).toMatchObject({ status: 200 });
  });

  it.each([
    ['invalid_address', 400],
    ['preflight_failed', 400],
    ['message_id_conflict', 409],
    ['store_unavailable', 503],
  ])('[MSG-5] [ERR-7] [ERR-13] answers %s with %i', async (code, status) => {
    await serve();
    served.callers.messages.answers.send = () => {
      throw new CodedError(code, 'why');
    };
    expect(await post(FILES)).toMatchObject({ status, json: { error: code } });
  });

  it.each([
    ['no files', []],
    ['nine files', Array.from({ length: 9 }, (_, index) => sentFile(`${index}`))],
    ['a path as a name', [{ ...FILES[0], name: '../../.ssh/authorized_keys' }]],
    ['two files of one name', [FILES[0], { ...FILES[0], name: 'NOTE.md' }]],
    ['data that is not base64', [{ ...FILES[0], data: 'SGVsbG8' }]],
    ['the digest of other bytes', [{ ...FILES[0], sha256: FILES[1]!.sha256 }]],
    ['21 MiB', [sentFile('a', Buffer.alloc(21 * 1024 * 1024))]],
  ])('[MSG-4] [LIM-8] [ERR-7] refuses %s as an invalid_request, and asks nobody', async (_, attachments) => {
    await serve();
    expect(await post(attachments)).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(served.callers.messages.asked).toEqual([]);
  });

  it('[LIM-8] refuses a longer body by its announced length, before it comes', async () => {
    await serve();
    const head = [
      `POST ${PATH} HTTP/1.1`,
      ...['Host: 127.0.0.1', 'Content-Type: application/json', `Content-Length: ${40 * 1024 * 1024}`],
    ];
    const heard = await exchangeRaw({ port: served.port }, [`${head.join('\r\n')}\r\n\r\n`], (text) =>
      text.includes('body_too_large'),
    );
    expect(heard.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(served.callers.pool.jobs).toEqual([]);
  });

  it('accepts only JSON', async () => {
    await serve();
    const rest = { body: '{}', headers: { 'Content-Type': 'text/plain' } };
    expect(await ask({ port: served.port }, 'POST', PATH, rest)).toMatchObject({ status: 415 });
  });

  it('rehearses with dry_run', async () => {
    await serve();
    served.callers.messages.answers.send = () => ({
      value: rehearsal('type it into loader-svc'),
      bulk: null,
    });
    expect(await post(FILES, { dry_run: true })).toMatchObject({ status: 200, json: { dry_run: true } });
    expect(served.callers.messages.asked).toMatchObject([{ input: { dry_run: true } }]);
  });
});

function named(index: number): { name: string; sha256: string } {
  const { name, sha256 } = FILES[index]!;
  return { name, sha256 };
}
