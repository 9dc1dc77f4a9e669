import { appendFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type LedgersService, ledgerFiles, startLedgersService } from '../../src/ledgers/ledgers-service.ts';
import { ActivityPieces } from '../../src/routes/activity.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { createInProcessCallers } from './in-process-callers.ts';

const MINUTE = 60_000;
let scratch: ScratchFolder;
let service: LedgersService;
let path: string;
beforeEach(() => {
  scratch = scratchFolder();
  path = join(scratch.path, 'events.jsonl');
  service = start('first');
});
afterEach(async () => {
  await service.stop();
  scratch.remove();
});

function start(epoch: string): LedgersService {
  const settings = { events_file: null, sessions_file: null, commits_file: null, data_dir: scratch.path };
  return startLedgersService({
    ...ledgerFiles(settings),
    ...{ checkpoint_file: null, epoch, clock: new FakeClock(), logger: silentLogger },
    onChanged: () => undefined,
  });
}

/** The reader on this side of a thread whose answers are those of the real service, and the bytes that came across. */
function reader() {
  const { ledgers } = createInProcessCallers();
  const sent: number[] = [];
  ledgers.answers.activity = async (input) => {
    const { value, bytes } = await service.activityBody(input);
    sent.push(bytes.length);
    return { value, bulk: Uint8Array.from(bytes) };
  };
  const pieces = new ActivityPieces(ledgers);
  const read = async (from_ms: number, to_ms: number) => {
    const { etag, body } = await pieces.body({ host: 'host-a', from_ms, to_ms });
    return { etag, text: Buffer.from(body.joined()).toString() };
  };
  return { read, sent };
}

function append(count: number, minute: (nth: number) => number): void {
  const lines = Array.from({ length: count }, (_, nth) => ({
    ...{
      timestamp: minute(nth) * MINUTE,
      type: 'stop',
      sessionId: `s-${nth % 7}`,
      cwd: '/srv',
      harness: 'claude',
    },
  }));
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('bodies of activity in pieces', () => {
  it('[TMP-1] bring little across after one more event, and are what a fresh reader is told', async () => {
    append(5_000, (nth) => nth);
    const kept = reader();
    const whole = await kept.read(0, 6_000 * MINUTE);
    append(1, () => 5_000);
    const after = await kept.read(0, 6_000 * MINUTE);
    expect(after.etag).not.toBe(whole.etag);
    expect(after.text).toBe((await reader().read(0, 6_000 * MINUTE)).text);
    expect(JSON.parse(after.text).buckets).toHaveLength(JSON.parse(whole.text).buckets.length + 2);
    expect(kept.sent[1]).toBeLessThan(kept.sent[0]! / 4);
  });

  it('are remembered by a bounded number of pieces, the newest ones', async () => {
    const { ledgers } = createInProcessCallers();
    const known: number[][] = [];
    let id = 0;
    ledgers.answers.activity = (input: { known: { ids: number[] } | null }) => {
      known.push(input.known?.ids ?? []);
      id += 1;
      const pieces = [{ id, skip: 0, length: 1 }];
      return { value: { etag: 'W/"a"', epoch: 'e', pieces }, bulk: Uint8Array.from([id % 256]) };
    };
    const pieces = new ActivityPieces(ledgers);
    for (let asked = 0; asked < 1_100; asked += 1)
      await pieces.body({ host: 'host-a', from_ms: 0, to_ms: 60_000 });
    expect(Math.max(...known.map(({ length }) => length))).toBe(1_000);
    expect(known.at(-1)?.at(-1)).toBe(1_099);
    expect(known.at(-1)).not.toContain(1);
  });

  it('begin again with another life of the thread', async () => {
    append(3_000, (nth) => nth);
    const kept = reader();
    await kept.read(0, 4_000 * MINUTE);
    await service.stop();
    service = start('second');
    append(2_000, (nth) => 10 * nth);
    const after = await kept.read(0, 4_000 * MINUTE);
    expect(after.text).toBe((await reader().read(0, 4_000 * MINUTE)).text);
  });

  it('[TMP-1] are always what a fresh reader is told, whatever was asked for before', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('append' as const),
        count: fc.integer({ min: 1, max: 1_500 }),
        from: fc.integer({ min: 0, max: 900 }),
      }),
      fc.record({
        do: fc.constant('read' as const),
        from: fc.integer({ min: 0, max: 1_200 }),
        minutes: fc.integer({ min: 0, max: 3_000 }),
      }),
      fc.record({ do: fc.constant('rotate' as const) }),
    );
    let nth = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        nth += 1;
        const kept = reader();
        for (const one of steps) {
          if (one.do === 'append') append(one.count, (line) => one.from + line);
          else if (one.do === 'rotate') {
            append(1, () => nth);
            renameSync(path, `${path}.1`);
          } else {
            const [from, to] = [one.from * MINUTE, (one.from + one.minutes) * MINUTE];
            const { text } = await kept.read(from, to);
            expect(text).toBe((await reader().read(from, to)).text);
            const { buckets } = JSON.parse(text) as { buckets: { m: number }[] };
            expect(buckets.every(({ m }) => m >= from && m < to)).toBe(true);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
