import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { checkMessageFiles } from '../../src/fibers/attachments/check-message-files.ts';
import { createFileKeeper } from '../../src/messages/message-files.ts';
import type { MessagesService } from '../../src/messages/messages-service.ts';
import { fileMessageBody, sentFile } from '../fibers/attachments/message-files.ts';
import { until } from '../kit/until.ts';
import { ADDRESS, APP_ADDRESS, CONVERSATION, FakeSession } from './fake-world.ts';

let session: FakeSession;
let kept: string;
const services: MessagesService[] = [];

beforeEach(() => {
  session = new FakeSession();
  kept = join(session.folder, 'attachments');
});
afterEach(() => {
  for (const service of services.splice(0)) service.stop();
  session.remove();
});

function daemon(limits: Parameters<FakeSession['service']>[0] = {}): MessagesService {
  const service = session.service(limits);
  services.push(service);
  service.start();
  return service;
}

const TWO = [sentFile('note.md', 'Hello.\n'), sentFile('data.bin', Buffer.alloc(2_000, 7))];

async function send(service: MessagesService, files = TWO, more: object = {}): Promise<Receipt> {
  const { checked, bytes } = checkMessageFiles(fileMessageBody(files, { address: ADDRESS, ...more }));
  return (await service.send(checked, bytes)) as Receipt;
}

/** Everything below the folder of attachments that is a file. */
function filesKept(): string[] {
  if (!existsSync(kept)) return [];
  return readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
}

describe('a message with files', () => {
  it('[MSG-4] [RCP-4] [WPL-24] has its files on this host, for its owner alone, before it is given', async () => {
    let there: string[] = [];
    session.giving = async (moment) => {
      if (moment === 'before') there = filesKept();
    };
    const receipt = await send(daemon());
    expect(receipt).toMatchObject({ status: 'submitted' });
    expect(receipt.files).toEqual(
      TWO.map(({ name, data, sha256 }) => ({
        name,
        path: expect.stringMatching(new RegExp(`^${kept}/message-[0-9a-f]{32}/${name}$`)),
        sha256,
        size: Buffer.from(data, 'base64').length,
      })),
    );
    expect(there).toHaveLength(2);
    for (const [index, { path }] of receipt.files!.entries()) {
      expect(readFileSync(path).toString('base64')).toBe(TWO[index]!.data);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    }
  });

  it.each(['terminal', 'app-server'])(
    '[MSG-4] names each file once in the text, with size and digest, through the %s',
    async (transport) => {
      const app = transport === 'app-server';
      if (app) session.target = CONVERSATION;
      const { files } = await send(daemon(), TWO, app ? { address: APP_ADDRESS } : {});
      const [text] = app ? session.given.map((one) => one.text) : session.typed;
      for (const { path, size, sha256 } of files!)
        expect(text!.split(`[file ${path} (${size} bytes, sha256 ${sha256})]\n`)).toHaveLength(2);
      expect(text).toMatch(/\n\[n1 end of message m-1\]$/);
    },
  );

  it('[MSG-3] is answered with its receipt when its id comes again, and nothing is written again', async () => {
    const service = daemon();
    const first = await send(service);
    const { ino, mtimeMs } = statSync(first.files![0]!.path);
    expect(await send(service)).toEqual(first);
    expect(await send(daemon())).toEqual(first);
    expect(statSync(first.files![0]!.path)).toMatchObject({ ino, mtimeMs });
    expect(session.typed).toHaveLength(1);
  });

  it.each([
    ['other bytes', [sentFile('note.md', 'Bye.\n'), TWO[1]!]],
    ['another name', [{ ...TWO[0]!, name: 'other.md' }, TWO[1]!]],
    ['another order', TWO.toReversed()],
    ['a file less', TWO.slice(1)],
  ])(
    '[MSG-3] [MSG-4] is a conflict under its id with %s, and its files stay as they are',
    async (_, files) => {
      const service = daemon();
      const first = await send(service);
      await expect(send(service, files)).rejects.toMatchObject({ code: 'message_id_conflict' });
      expect(filesKept()).toHaveLength(2);
      for (const [index, { path }] of first.files!.entries())
        expect(readFileSync(path).toString('base64')).toBe(TWO[index]!.data);
    },
  );

  it('[MSG-3] is a conflict under the id of a message without files', async () => {
    const service = daemon();
    const { checked } = checkMessageFiles(fileMessageBody(TWO, { address: ADDRESS }));
    await service.send({ ...checked, files: [] });
    await expect(send(service)).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect(filesKept()).toEqual([]);
  });

  it('[MSG-3] is a conflict under its id while the files of the first are being written', async () => {
    const service = daemon();
    const first = send(service);
    await expect(send(service, TWO.slice(1))).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect((await first).files).toHaveLength(2);
  });

  it('[MSG-3] is kept and given once when 50 equal requests come at the same time', async () => {
    const service = daemon();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(service)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(session.typed).toHaveLength(1);
    expect(filesKept()).toHaveLength(2);
  });

  it('is held with its files over a restart of the daemon', async () => {
    session.screen = 'draft';
    const first = daemon();
    const held = await send(first);
    expect(held).toMatchObject({ status: 'queued', transport: 'held', files: [{}, {}] });
    first.stop();
    const second = daemon();
    session.screen = 'ready';
    await until('the message is typed', () => session.typed.length === 1);
    for (const { path } of held.files!) {
      expect(session.typed[0]).toContain(path);
      expect(existsSync(path)).toBe(true);
    }
    await until('its receipt', async () => (await send(second)).status === 'submitted');
    expect((await send(second)).files).toEqual(held.files);
  });

  it('[MSG-2] [MSG-4] without a wake has them named in the context, and refused context keeps none', async () => {
    const service = daemon();
    const { files } = await send(service, TWO, { wake: false });
    const mailbox = join(session.folder, 'messages', 'context', 'claude-s-1');
    const [entry = ''] = readdirSync(mailbox);
    const { text } = JSON.parse(readFileSync(join(mailbox, entry), 'utf8'));
    for (const { path } of files!) expect(text).toContain(`[file ${path} (`);
    const long = { wake: false, message_id: 'm-2', text: 'x'.repeat(10_000) };
    await expect(send(service, TWO, long)).rejects.toMatchObject({ code: 'preflight_failed' });
    expect(filesKept()).toHaveLength(2);
  });

  it('is rehearsed with the paths, and nothing is written', async () => {
    const { checked, bytes } = checkMessageFiles(fileMessageBody(TWO, { address: ADDRESS, dry_run: true }));
    const service = daemon();
    expect(await service.send(checked, bytes)).toMatchObject({
      dry_run: true,
      prompt: expect.stringMatching(new RegExp(`\\[file ${kept}/message-[0-9a-f]{32}/note.md `)),
    });
    expect(existsSync(kept)).toBe(false);
  });
});

describe('of a message with files that is refused', () => {
  it('[MSG-4] [MSG-5] nothing is kept after preflight_failed, and its id is free', async () => {
    const service = daemon({ pair: 1 });
    const from = 'svc://here/codex/t-9';
    await send(service, TWO, { from, message_id: 'm-0' });
    await expect(send(service, TWO, { from })).rejects.toMatchObject({ code: 'preflight_failed' });
    expect(filesKept()).toHaveLength(2);
    expect(await send(service)).toMatchObject({ status: 'submitted' });
  });

  it('[RCP-4] the files are deleted when it is rejected', async () => {
    session.target = { kind: 'none' };
    const receipt = await send(daemon());
    expect(receipt).toMatchObject({ status: 'rejected', reason: 'session_not_found' });
    expect(receipt).not.toHaveProperty('files');
    await until('its files are gone', () => readdirSync(kept).length === 0);
  });

  it('[MSG-4] nothing is kept where a file cannot be written, and its id is free', async () => {
    const [first] = (await send(daemon(), TWO, { message_id: 'm-0' })).files!;
    const folder = await folderOf('m-1');
    mkdirSync(join(folder, 'data.bin', 'in-the-way'), { recursive: true });
    await expect(send(daemon())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(readdirSync(folder)).toEqual(['data.bin']);
    expect(session.typed).toHaveLength(1);
    expect(await send(daemon(), TWO.slice(0, 1))).toMatchObject({ status: 'submitted' });
    expect(existsSync(first!.path)).toBe(true);
  });

  it('[MSG-4] nothing is kept where its record cannot be written', async () => {
    const service = daemon();
    // Links that lead nowhere in the places of the folders of records.
    for (let folder = 0; folder < 256; folder += 1)
      symlinkSync('nowhere', join(session.folder, 'messages', folder.toString(16).padStart(2, '0')));
    await expect(send(service)).rejects.toThrow();
    // The folder of all attachments was made when they were kept.
    expect(readdirSync(kept)).toEqual([]);
    expect(readdirSync(join(session.folder, 'messages', 'open'))).toEqual([]);
    expect(session.typed).toEqual([]);
  });

  it('[MSG-4] a symlink in the place of its folder is not followed', async () => {
    const folder = await folderOf('m-1');
    const elsewhere = join(session.folder, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(kept);
    symlinkSync(elsewhere, folder);
    await expect(send(daemon())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('[MSG-4] a symlink in the place of a file is replaced, and its target is left alone', async () => {
    const folder = await folderOf('m-1');
    mkdirSync(folder, { recursive: true });
    const precious = join(session.folder, 'precious');
    writeFileSync(precious, 'keep me');
    symlinkSync(precious, join(folder, 'note.md'));
    await send(daemon());
    expect(readFileSync(precious, 'utf8')).toBe('keep me');
    expect(readFileSync(join(folder, 'note.md'), 'utf8')).toBe('Hello.\n');
  });
});

async function folderOf(message_id: string): Promise<string> {
  const { files } = checkMessageFiles(fileMessageBody(TWO)).checked;
  const [place] = await session.world().files.placesOf(message_id, files);
  return join(place!.path, '..');
}

it('a message without files does not wait while those of another one are written', async () => {
  const files = createFileKeeper(kept, () => new Promise(() => {}));
  const { checked, bytes } = checkMessageFiles(fileMessageBody(TWO));
  void files.keep('m-1', { files: checked.files, bytes });
  expect(await files.keep('m-2', { files: [], bytes: null })).toEqual([]);
});
