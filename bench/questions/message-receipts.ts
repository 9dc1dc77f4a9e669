import { join } from 'node:path';
import { silentLogger } from '../../src/base/logger.ts';
import { newNonce } from '../../src/base/nonce.ts';
import type { Message } from '../../src/contract/http/messages.ts';
import { LedgerWriter } from '../../src/messages/ledger-writer.ts';
import { newRecord } from '../../src/messages/message-record.ts';
import { MessageStore } from '../../src/messages/message-store.ts';
import { countAnswers } from '../answers.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon, wait } from '../daemon.ts';
import { type Bench, judged, median, shown } from '../frame.ts';
import { memoryOf } from '../process-cost.ts';
import { withScratch } from '../scratch.ts';

const STORED = 100_000;
const ROUNDS = 5;
const ROUND_MS = 1_000;
const REST_MS = 5_000;

function message(number: number): Omit<Message, 'attachments' | 'dry_run' | 'origin'> {
  return {
    address: `svc://${BENCH_HOST}/pi/s-1`,
    text: `Please look at the last commit. ${'word '.repeat(80)}`,
    from: 'ada',
    wake: true,
    message_id: `m-${number}`,
  };
}

export const bench: Bench = {
  name: 'message-receipts',
  question: `how fast is a repeated message answered, and what do ${STORED} stored receipts cost?`,
  run: (log) =>
    withScratch(async (folder) => {
      const empty = await startDaemon({ folder: join(folder, 'e'), stores: [], measured: false });
      await wait(REST_MS);
      const before = memoryOf(empty.pid).rss;
      await empty.stop();

      const own = join(folder, 'f');
      const store = new MessageStore(
        join(own, 'data', 'messages'),
        new LedgerWriter({
          path: join(own, 'data', 'messages.jsonl'),
          events_file: join(own, 'data', 'events.jsonl'),
          logger: silentLogger,
        }),
      );
      const began = performance.now();
      for (let number = 0; number < STORED; number += 1) {
        const record = newRecord(
          { ...message(number), files: [] },
          { files: [], nonce: newNonce(), now: Date.now() },
        );
        const receipt = { ...record.receipt, status: 'accepted' as const, transport: 'terminal' };
        store.write({ ...record, state: 'sent', receipt });
      }
      const write_ms = (performance.now() - began) / STORED;
      log(`${STORED} receipts were written, ${write_ms.toFixed(2)} ms each`);

      const daemon = await startDaemon({ folder: own, stores: [], measured: false });
      try {
        await wait(REST_MS);
        const after = memoryOf(daemon.pid).rss;
        const repeated: number[] = [];
        const floor: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          floor.push(await rate(daemon, 'GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'));
          repeated.push(await rate(daemon, requestOf(message(round * 1_000))));
        }
        const answer = await daemon.json('POST', '/api/v1/messages', message(1));
        if (answer.status !== 200) throw new Error(`a repeated message was answered ${answer.status}`);
        return [
          judged(
            {
              name: 'a repeated id, answered from the store',
              value: median(repeated),
              unit: 'a second',
              against: [{ name: 'GET /version', value: median(floor), unit: 'a second' }],
            },
            { least: 5_000 },
          ),
          judged(
            {
              name: `RSS with ${STORED} receipts less that with none`,
              value: after - before,
              unit: 'MB',
              against: [{ name: 'with none', value: before, unit: 'MB' }],
            },
            { most: 10 },
          ),
          shown('a receipt written and synced', write_ms, 'ms'),
        ];
      } finally {
        await daemon.stop();
      }
    }),
};

function requestOf(body: object): string {
  const json = JSON.stringify(body);
  return `POST /api/v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

async function rate(daemon: BenchDaemon, request: string): Promise<number> {
  const load = { port: daemon.port, request, connections: 32, pipeline: 1 };
  const until = performance.now() + ROUND_MS;
  const { answers, ms } = await countAnswers(load, () => performance.now() > until);
  return (answers / ms) * 1_000;
}
