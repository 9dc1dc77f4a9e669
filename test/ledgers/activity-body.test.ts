import { appendFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { ledgerFiles, startLedgersService } from '../../src/ledgers/ledgers-service.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { readPlainly, sorted } from './plain-reading.ts';

const MINUTE = 60_000;
let scratch: ScratchFolder;
let path: string;
beforeEach(() => {
  scratch = scratchFolder();
  path = join(scratch.path, 'events.jsonl');
});
afterEach(() => scratch.remove());

function start() {
  const settings = { events_file: null, sessions_file: null, commits_file: null, data_dir: scratch.path };
  return startLedgersService({
    ...ledgerFiles(settings),
    ...{ checkpoint_file: null, clock: new FakeClock(), logger: silentLogger },
    onChanged: () => undefined,
  });
}

function append(count: number, minute: (nth: number) => number): void {
  const lines = Array.from({ length: count }, (_, nth) => ({
    ...{ timestamp: minute(nth) * MINUTE, type: 'stop', sessionId: `s-${nth % 7}`, cwd: '/srv' },
    harness: 'claude',
  }));
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('the body of activity', () => {
  it('[TMP-1] has a new tag and the new buckets after one more event', async () => {
    const service = start();
    append(5_000, (nth) => nth);
    const window = { host: 'host-a', from_ms: 0, to_ms: 6_000 * MINUTE };
    const before = await service.activityBody(window);
    append(1, () => 5_000);
    const after = await service.activityBody(window);
    await service.stop();
    expect(after.etag).not.toBe(before.etag);
    const count = ({ bytes }: { bytes: Uint8Array }) =>
      JSON.parse(Buffer.from(bytes).toString()).buckets.length;
    expect(count(after)).toBe(count(before) + 2);
  });

  it('[TMP-1] [REC-9] always equals a plain read of both files, whatever was requested before', async () => {
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
        const service = start();
        for (const one of steps) {
          if (one.do === 'append') append(one.count, (line) => one.from + line);
          else if (one.do === 'rotate') {
            append(1, () => nth);
            renameSync(path, `${path}.1`);
          } else {
            const [from_ms, to_ms] = [one.from * MINUTE, (one.from + one.minutes) * MINUTE];
            const { bytes } = await service.activityBody({ host: 'host-a', from_ms, to_ms });
            const { buckets, ...head } = JSON.parse(bytes.toString());
            expect(head).toEqual({ host: 'host-a', from_ms, to_ms });
            const all = readPlainly(path).buckets;
            expect(sorted(buckets)).toEqual(all.filter(({ m }) => m >= from_ms && m < to_ms));
          }
        }
        await service.stop();
      }),
      { numRuns: 40 },
    );
  });
});
