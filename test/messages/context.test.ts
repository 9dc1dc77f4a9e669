import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContextTarget } from '../../src/contract/threads/context-target.ts';
import { CONTEXT_LIMITS } from '../../src/harness/hooks/context-mailbox.cjs';
import { nextContextStep } from '../../src/messages/context-plan.ts';
import { newRecord } from '../../src/messages/message-record.ts';
import type { MessagesService } from '../../src/messages/messages-service.ts';
import { until } from '../kit/until.ts';
import { ADDRESS, CONTEXT, FakeSession, message } from './fake-world.ts';

let session: FakeSession;
const services: MessagesService[] = [];

beforeEach(() => {
  session = new FakeSession();
});
afterEach(() => {
  for (const service of services.splice(0)) service.stop();
  session.remove();
});

function daemon(): MessagesService {
  const service = session.service();
  services.push(service);
  service.start();
  return service;
}

const context = (id: string, text?: string) =>
  message(id, { wake: false, ...(text === undefined ? {} : { text }) });
const mailbox = () => join(session.folder, 'messages', 'context', 'claude-s-1');
const inMailbox = () =>
  readdirSync(mailbox()).map((name) => JSON.parse(readFileSync(join(mailbox(), name), 'utf8')));
const queued = { status: 'queued', transport: 'hook-mailbox' };

describe('the plan for context', () => {
  const plan = (target: ContextTarget | null, full: string | null = null) =>
    nextContextStep({ harness: 'claude', target, full });

  it.each([
    ['a worker with hooks', CONTEXT, null, { kind: 'put', session: CONTEXT }],
    ['a poller that starts', null, null, { kind: 'hold' }],
    ['a silent disk', { kind: 'unknown', detail: 'no answer' } as const, null, { kind: 'hold' }],
    ['a session of nobody', { kind: 'none' } as const, null, { reason: 'session_not_found' }],
    ['one without a transcript', { kind: 'lost' } as const, null, { reason: 'session_unavailable' }],
    ['an app conversation', { ...CONTEXT, hooks: null } as const, null, { reason: 'wake_required' }],
    ['a full mailbox', CONTEXT, 'it is full', { kind: 'refuse', detail: 'it is full' }],
  ])('[MSG-2] [MSG-5] for %s', (_what, target, full, step) => {
    expect(plan(target, full)).toMatchObject(step);
  });

  it.each(['absent', 'outdated', 'elsewhere', 'gone'] as const)(
    'for a worker whose hooks are %s names the setup that fixes it',
    (hooks) => {
      expect(plan({ ...CONTEXT, hooks })).toMatchObject({
        kind: 'refuse',
        detail: expect.stringContaining('run: svc setup claude'),
      });
    },
  );
});

it('[MSG-2] names the setup in the folder of an agent that has one of its own', () => {
  const setup = 'CLAUDE_CONFIG_DIR=/srv/team svc setup claude';
  expect(
    nextContextStep({ harness: 'claude', target: { ...CONTEXT, hooks: 'absent', setup }, full: null }),
  ).toMatchObject({
    detail: expect.stringMatching(/; run: CLAUDE_CONFIG_DIR=\/srv\/team svc setup claude$/),
  });
});

describe('a message without a wake', () => {
  it('[MSG-2] [MDS-1] waits in the mailbox, and is context_added only when the transcript shows it', async () => {
    const service = daemon();
    expect(await service.send(context('c-1'))).toMatchObject(queued);
    expect(await service.send(context('c-1'))).toMatchObject(queued);
    expect(session.typed).toEqual([]);
    expect(inMailbox()).toMatchObject([
      { message_id: 'c-1', session: 's-1', transcript: '/transcript.jsonl' },
    ]);
    session.transcript = `[message c-1 (ends with ${session.store().read('c-1')?.nonce}) from ada]`;
    const added = { status: 'context_added', transport: 'hook-mailbox' };
    expect(await service.send(context('c-1'))).toMatchObject(added);
    session.transcript = '';
    expect(await service.send(context('c-1'))).toMatchObject(added);
  });

  it('keeps its mailbox private', async () => {
    await daemon().send(context('c-1'));
    expect(statSync(mailbox()).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(mailbox()))
      expect(statSync(join(mailbox(), name)).mode & 0o777).toBe(0o600);
  });

  it('[MSG-3] is another message than the same text with a wake', async () => {
    const service = daemon();
    await service.send(context('c-1'));
    await expect(service.send(message('c-1'))).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect(session.typed).toEqual([]);
  });

  it('[MSG-3] is put once when 50 equal requests come at the same time', async () => {
    const service = daemon();
    await Promise.all(Array.from({ length: 50 }, () => service.send(context('c-1'))));
    expect(inMailbox()).toHaveLength(1);
  });

  it('[RDY-3] is held while the poller does not answer, then put', async () => {
    session.context = new Error('the poller is starting');
    const service = daemon();
    expect(await service.send(context('c-1'))).toMatchObject({ status: 'queued', transport: 'held' });
    session.context = CONTEXT;
    await until('it is in the mailbox', async () => {
      const receipt = await service.send(context('c-1'));
      return !('dry_run' in receipt) && receipt.transport === 'hook-mailbox';
    });
  });

  it('[MSG-5] is refused where its mailbox is full, and its id can be used when there is room', async () => {
    const service = daemon();
    for (let n = 0; n < CONTEXT_LIMITS.messages; n += 1) await service.send(context(`c-${n}`));
    const full = service.send(context('more'));
    await expect(full).rejects.toMatchObject({ code: 'preflight_failed' });
    session.context = { ...CONTEXT, hooks: null };
    expect(await service.send(context('more'))).toMatchObject({ reason: 'wake_required' });
    expect(inMailbox()).toHaveLength(CONTEXT_LIMITS.messages);
  });

  it('[MSG-5] is refused where one hook could not add it whole', async () => {
    const long = daemon().send(context('c-1', 'é'.repeat(CONTEXT_LIMITS.output_bytes / 2)));
    await expect(long).rejects.toMatchObject({
      code: 'preflight_failed',
      message: expect.stringContaining('write it to a file'),
    });
  });

  it('is rehearsed without being put', async () => {
    expect(await daemon().send({ ...context('c-1'), dry_run: true })).toMatchObject({
      would: 'add it to the next turn of the session as context',
      prompt: expect.stringMatching(/^\[message c-1 \(ends with \w+\) from ada\]/),
    });
    expect(() => inMailbox()).toThrow('ENOENT');
  });

  describe('whose daemon was killed', () => {
    /** As the record was when the daemon ended. */
    const left = (evidence: { transcript: string; offset: number } | null) => {
      const record = newRecord(
        { ...context('c-1'), address: ADDRESS },
        { files: [], nonce: 'n9', now: Date.now() },
      );
      session.store().write({ ...record, evidence });
    };
    const settled = (service: MessagesService, status: string) =>
      until(`it is ${status}`, async () => {
        const receipt = await service.send(context('c-1'));
        return !('dry_run' in receipt) && receipt.transport === 'hook-mailbox' && receipt.status === status;
      });

    it.each([null, { transcript: '/transcript.jsonl', offset: 0 }])(
      '[MSG-3] before it was put is put by the next one: %j',
      async (evidence) => {
        left(evidence);
        await settled(daemon(), 'queued');
        expect(inMailbox()).toHaveLength(1);
      },
    );

    it('[MSG-3] after it was put and taken is not put again', async () => {
      const first = daemon();
      await first.send(context('c-1'));
      first.stop();
      const [name = ''] = readdirSync(mailbox());
      const { created_at } = session.store().read('c-1')!;
      writeFileSync(join(mailbox(), name), JSON.stringify({ created_at }));
      const record = newRecord(
        { ...context('c-1'), address: ADDRESS },
        { files: [], nonce: 'n9', now: created_at },
      );
      const evidence = { transcript: '/transcript.jsonl', offset: 0 };
      session.store().write({ ...record, evidence });
      await settled(daemon(), 'queued');
      expect(readdirSync(mailbox())).toEqual([name]);
    });

    it('[MSG-3] after it was put and shown is not put again', async () => {
      left({ transcript: '/transcript.jsonl', offset: 0 });
      session.transcript = `[message c-1 (ends with ${session.store().read('c-1')?.nonce}) from ada]`;
      await settled(daemon(), 'context_added');
      expect(() => inMailbox()).toThrow('ENOENT');
    });
  });

  it('is removed when nobody went on with the conversation for as long as messages are kept', async () => {
    const service = daemon();
    await service.send(context('c-1'));
    const box = session.world().mailbox;
    const { created_at } = session.store().read('c-1')!;
    expect(box.removeOlder(created_at)).toBe(0);
    await until('time passes', () => Date.now() > created_at);
    await service.send(context('c-2'));
    expect(box.removeOlder(created_at + 1)).toBe(1);
    expect(inMailbox()).toMatchObject([{ message_id: 'c-2' }]);
    expect(box.removeOlder(Number.POSITIVE_INFINITY)).toBe(1);
    expect(readdirSync(join(mailbox(), '..'))).toEqual([]);
  });

  it('is not delivered in another way where its mailbox cannot be written', async () => {
    mkdirSync(join(session.folder, 'messages', 'context'), { recursive: true });
    writeFileSync(mailbox(), 'in the way');
    await expect(daemon().send(context('c-1'))).rejects.toThrow();
    expect(session.typed).toEqual([]);
  });
});
