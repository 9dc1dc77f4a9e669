import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type LiveMessage, liveMessageSchema } from '../../src/contract/http/live.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

describe('a client of GET /live', () => {
  it.each(['auto', 'node'])(
    'is notified of an edited document, a grown ledger, and the end: %s',
    async (http) => {
      daemon = await startTestDaemon({
        prepare(home) {
          home.env.SVC_HTTP = http;
          home.fiber('edited', { front: { status: 'open', outcome: 'before' } });
        },
      });
      const outcome = async () => (await daemon!.fibers())[0]?.outcome;
      await until('the listing', async () => (await outcome()) === 'before');
      const told: LiveMessage[] = [];
      const client = new WebSocket(`ws://${daemon.address}/api/v1/live?alive=true`);
      client.on('message', (data) => told.push(liveMessageSchema.parse(JSON.parse(String(data)))));
      await until('the tag of the feed', () => told.length > 0);

      const tags = () => told.flatMap((one) => ('tag' in one ? [one.tag] : []));
      const before = tags().at(-1);
      writeFileSync(
        daemon.home.documentPath('edited'),
        daemon.home.document('edited').replace('before', 'after'),
      );
      await until('the edited row', () =>
        told.some((one) => 'rows' in one && one.since === before && one.rows[0]?.outcome === 'after'),
      );
      const { headers } = await fetch(`http://${daemon.address}/api/v1/fibers`);
      expect(headers.get('etag')).toContain(tags().at(-1));
      await until('the edited row', async () => (await outcome()) === 'after');

      const line = { timestamp: Date.now(), type: 'prompt', sessionId: 's', cwd: '/srv', harness: 'claude' };
      appendFileSync(join(daemon.home.data, 'events.jsonl'), `${JSON.stringify(line)}\n`);
      await until('the hint', () => told.some((one) => one.feed === 'events' && 'seq' in one));

      const closed = once(client, 'close');
      await daemon.stop();
      expect((await closed).map(String)).toEqual(['1001', 'The daemon stops.']);
    },
  );
});
