import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { takeContext } from '../../../src/cli/hook/take-context.cjs';
import { CONTEXT_LIMITS, mailboxFolder } from '../../../src/harness/hooks/context-mailbox.cjs';
import { ContextMailbox } from '../../../src/messages/context-mailbox.ts';

const ADDRESS = { host: 'here', harness: 'claude', native_id: 's-1' } as const;

/**
 * A session whose agent shows what its hooks print, and writes its transcript late. It is resumed after each death, with
 * what the transcript has.
 */
class Conversation {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-context-'));
  readonly transcript = join(this.folder, 'transcript.jsonl');
  readonly mailbox = new ContextMailbox(this.folder);
  /** What the agent was shown and did not write yet. */
  unwritten: string[] = [];
  agent = 1_000;

  put(id: string, length: number): void {
    const marker = `[message ${id} from `;
    const text = `${marker}ada] ${'x'.repeat(length)}`;
    if (this.mailbox.full(ADDRESS, { message_id: id, text }) !== null) return;
    const place = { transcript: this.transcript, offset: 0, created_at: Date.now() };
    this.mailbox.put(ADDRESS, { message_id: id, marker, text, ...place });
  }

  /** One hook; `dies`: it was killed after it took and before it printed. */
  async hook({ dies = false } = {}): Promise<void> {
    const folder = mailboxFolder(this.folder, ADDRESS.harness, ADDRESS.native_id)!;
    const texts = await takeContext(folder, {
      session: ADDRESS.native_id,
      transcript: this.transcript,
      taker: async () => ({ pid: this.agent, start: '1' }),
      hasEnded: async ({ pid }) => pid !== this.agent,
    });
    expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(CONTEXT_LIMITS.output_bytes);
    if (!dies) this.unwritten.push(...texts);
  }

  write(): void {
    for (const text of this.unwritten.splice(0))
      appendFileSync(this.transcript, `${JSON.stringify({ text })}\n`);
  }

  /** What was not written is not in the conversation that is resumed. */
  dieAndResume(): void {
    this.unwritten = [];
    this.agent += 1;
  }

  /** How often the conversation, as the agent has it, shows a message. */
  times(id: string): number {
    const written = existsSync(this.transcript) ? readFileSync(this.transcript, 'utf8') : '';
    const all = [written, ...this.unwritten].join('\n');
    return all.split(`[message ${id} from `).length - 1;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

it('[MSG-2] context is never shown twice in one conversation, and never lost, whoever dies when', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('put' as const),
      id: fc.integer({ min: 1, max: 6 }),
      length: fc.constantFrom(0, 10, 4_000, 8_000),
    }),
    fc.record({ kind: fc.constantFrom('hook', 'hook', 'killed', 'two', 'write', 'dies') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 24 }), async (steps) => {
      const session = new Conversation();
      const put = new Set<string>();
      const atMostOnce = () => {
        for (const id of put) expect(session.times(id)).toBeLessThanOrEqual(1);
      };
      try {
        for (const one of steps) {
          if (one.kind === 'put' && 'id' in one) {
            const id = `c-${one.id}`;
            // The record of the message keeps an id from being put again once it was.
            if (!put.has(id)) session.put(id, one.length);
            put.add(id);
          } else if (one.kind === 'hook') await session.hook();
          else if (one.kind === 'killed') await session.hook({ dies: true });
          else if (one.kind === 'two') await Promise.all([session.hook(), session.hook()]);
          else if (one.kind === 'write') session.write();
          else session.dieAndResume();
          atMostOnce();
        }
        session.dieAndResume();
        for (let turns = 0; turns <= put.size; turns += 1) {
          await session.hook();
          session.write();
          atMostOnce();
        }
        for (const id of put) expect([id, session.times(id)]).toEqual([id, 1]);
        await session.hook();
        expect(readdirSync(join(session.folder, 'context'))).toEqual([]);
      } finally {
        session.remove();
      }
    }),
    { numRuns: 60 },
  );
});

it('context whose transcript cannot be read is not shown again', async () => {
  const session = new Conversation();
  try {
    session.put('c-1', 10);
    await session.hook();
    session.dieAndResume();
    // A folder can be opened, and not read.
    rmSync(session.transcript, { force: true });
    session.put('c-2', 10);
    mkdirSync(session.transcript);
    await session.hook();
    expect(session.unwritten).toHaveLength(1);
    rmSync(session.transcript, { recursive: true });
    writeFileSync(session.transcript, '');
    await session.hook();
    expect(session.unwritten.map((text) => text.slice(0, 13))).toEqual(['[message c-2 ', '[message c-1 ']);
  } finally {
    session.remove();
  }
});
