import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MessageLine } from '../../src/contract/ledger.ts';
import { conversationOf, messagesOfFiber } from '../../src/ledgers/conversation.ts';
import { MessagesLedger } from '../../src/ledgers/messages-ledger.ts';
import { SessionsLedger } from '../../src/ledgers/sessions-ledger.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-ledgers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const address = (session: string) => `svc://host-a/claude/${session}`;

function line(id: string, sent_at: number, more: Partial<MessageLine> = {}): MessageLine {
  return {
    ...{ at: sent_at, id, sent_at, from: 'ada', to: address('s-1'), fiber: null, uid: null },
    ...{ status: 'queued', transport: 'held', bytes: 4, wake: true, hops: 0, ...more },
  };
}

const text = (lines: readonly object[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');
const messages_file = () => join(dir, 'messages.jsonl');
const sessions_file = () => join(dir, 'sessions.jsonl');

function owns(at: number, session: string, uid: string): object {
  return {
    ...{ fiber: `work/${uid}`, uid, session, thread_id: null, harness: 'claude', host: 'host-a' },
    ...{ mux: null, at, kind: 'dispatch' },
  };
}

async function ledgers() {
  const messages = new MessagesLedger({ path: messages_file() });
  const sessions = new SessionsLedger({ path: sessions_file() });
  await messages.refresh();
  await sessions.refresh();
  return { messages, sessions };
}

const ids = (page: { messages: { id: string }[] }) => page.messages.map(({ id }) => id);

describe('a conversation', () => {
  it('has each message once, with its furthest stage, to and from the session', async () => {
    writeFileSync(
      messages_file(),
      text([
        line('m-1', 1),
        line('m-2', 2, { from: address('s-1'), to: address('s-2') }),
        line('m-3', 3, { to: address('s-3') }),
        line('m-1', 1, { at: 4, status: 'submitted', transport: 'terminal' }),
      ]),
    );
    const page = conversationOf(await ledgers(), { session: 's-1', limit: 10 });
    expect(page).toMatchObject({ before: null, known: true });
    expect(page.messages.map(({ id, status }) => [id, status])).toEqual([
      ['m-1', 'submitted'],
      ['m-2', 'queued'],
    ]);
  });

  it('of a fiber has the messages of its sessions while they worked on it, by its uid or its id', async () => {
    writeFileSync(
      sessions_file(),
      text([owns(10, 's-1', 'u-1'), owns(20, 's-1', 'u-2'), owns(30, 's-2', 'u-1')]),
    );
    writeFileSync(
      messages_file(),
      text([line('m-1', 12), line('m-2', 22), line('m-3', 32, { from: address('s-2'), to: address('s-9') })]),
    );
    const both = await ledgers();
    expect(ids(conversationOf(both, { fiber: 'u-1', limit: 10 }))).toEqual(['m-1', 'm-3']);
    expect(ids(conversationOf(both, { fiber: 'work/u-2', limit: 10 }))).toEqual(['m-2']);
    expect(conversationOf(both, { fiber: 'u-1', limit: 10 }).messages[0]).toMatchObject({
      ...{ fiber: 'work/u-1', uid: 'u-1' },
    });
    expect(conversationOf(both, { fiber: 'nobody', limit: 10 })).toMatchObject({
      known: false,
      messages: [],
    });
  });

  it('goes on over a rotation, and tells a message of an id that is used again from the one before', async () => {
    writeFileSync(messages_file(), text([line('m-1', 1), line('m-2', 2)]));
    const both = await ledgers();
    expect(ids(conversationOf(both, { session: 's-1', limit: 10 }))).toEqual(['m-1', 'm-2']);
    renameSync(messages_file(), `${messages_file()}.1`);
    appendFileSync(messages_file(), text([line('m-2', 2, { status: 'accepted' }), line('m-1', 9)]));
    await both.messages.refresh();
    const page = conversationOf(both, { session: 's-1', limit: 10 });
    expect(page.messages.map(({ id, sent_at, status }) => [id, sent_at, status])).toEqual([
      ['m-1', 1, 'queued'],
      ['m-2', 2, 'accepted'],
      ['m-1', 9, 'queued'],
    ]);
    expect(both.messages.counts).toMatchObject({ entries: 4, malformed: 0 });
  });

  it('comes in pages of at most 4 MiB of text, but for a single larger one', async () => {
    const large = { bytes: 3 * 1024 * 1024 };
    writeFileSync(
      messages_file(),
      text([line('m-1', 1, large), line('m-2', 2, large), line('m-3', 3, { bytes: 5 * 1024 * 1024 })]),
    );
    const both = await ledgers();
    const last = conversationOf(both, { session: 's-1', limit: 10 });
    expect(ids(last)).toEqual(['m-3']);
    const before = conversationOf(both, { session: 's-1', limit: 10, before: last.before! });
    expect(ids(before)).toEqual(['m-2']);
    const first = conversationOf(both, { session: 's-1', limit: 10, before: before.before! });
    expect(first).toMatchObject({ messages: [{ id: 'm-1' }], before: null });
  });

  it('is whole in pages of any size, also where messages came at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(6), stages: fc.integer({ min: 1, max: 3 }), own: fc.boolean() }), {
          maxLength: 25,
        }),
        fc.integer({ min: 1, max: 5 }),
        async (sent, limit) => {
          const all = sent
            .map(({ at, stages, own }, nth) => ({ id: `m-${nth}`, sent_at: at, stages, own }))
            .sort((a, b) => a.sent_at - b.sent_at);
          const lines = all.flatMap(({ id, sent_at, stages, own }) =>
            Array.from({ length: stages }, (_, stage) =>
              line(id, sent_at, { at: sent_at + stage, to: address(own ? 's-1' : 's-2') }),
            ),
          );
          writeFileSync(messages_file(), text(lines));
          const both = await ledgers();
          const told: string[] = [];
          for (let before: string | undefined; ; ) {
            const page = conversationOf(both, { session: 's-1', limit, before });
            expect(page.messages.length).toBeLessThanOrEqual(limit);
            told.unshift(...ids(page));
            if (page.before === null) break;
            expect(page.messages.length).toBeGreaterThan(0);
            before = page.before;
          }
          const expected = all.filter(({ own }) => own);
          expect(told.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
          const times = new Map(all.map(({ id, sent_at }) => [id, sent_at]));
          expect(told.map((id) => times.get(id))).toEqual(expected.map(({ sent_at }) => sent_at));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('the messages of a fiber', () => {
  it('are the newest before a time, with the count of the older ones', async () => {
    writeFileSync(sessions_file(), text([owns(0, 's-1', 'u-1')]));
    writeFileSync(messages_file(), text([1, 2, 3, 4, 5].map((at) => line(`m-${at}`, at))));
    const page = messagesOfFiber(await ledgers(), { uid: 'u-1', limit: 2, before_ms: 5 });
    expect(ids(page)).toEqual(['m-3', 'm-4']);
    expect(page.older).toBe(2);
  });
});
