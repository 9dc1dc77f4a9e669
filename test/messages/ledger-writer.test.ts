import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type MessageLine, messageLineSchema } from '../../src/contract/ledger.ts';
import { ROTATE_BYTES } from '../../src/ledgers/append-line.ts';
import { writeMissingLines } from '../../src/messages/ledger-recovery.ts';
import { stageOf } from '../../src/messages/ledger-writer.ts';
import type { MessagesService } from '../../src/messages/messages-service.ts';
import { ADDRESS, FakeSession, message, RUNNING } from './fake-world.ts';

let session: FakeSession;
let service: MessagesService;

beforeEach(() => {
  session = new FakeSession();
  service = session.service();
});

afterEach(() => {
  service.stop();
  session.remove();
});

function lines(): MessageLine[] {
  if (!existsSync(session.ledger_file)) return [];
  const text = readFileSync(session.ledger_file, 'utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => messageLineSchema.parse(JSON.parse(line)));
}

const stages = (id: string) =>
  lines()
    .filter((line) => line.id === id)
    .map(({ status, transport }) => `${status} ${transport}`);

/** What a daemon does when it starts after another one. */
function recover(): Promise<void> {
  return writeMissingLines({
    ...{ ledger: session.ledger, store: session.store(), logger: silentLogger },
    now: Date.now() + 1_000,
  });
}

describe('the messages ledger', () => {
  it('[EVT-4] has a line for each stage, once, without the text', async () => {
    session.stage = null;
    await service.send(message('m-1', { text: 'A secret of 21 bytes.' }));
    session.stage = 'submitted';
    await service.send(message('m-1', { text: 'A secret of 21 bytes.' }));
    await service.send(message('m-1', { text: 'A secret of 21 bytes.' }));
    expect(stages('m-1')).toEqual(['queued held', 'unknown terminal', 'submitted terminal']);
    expect(lines().at(-1)).toMatchObject({
      ...{ id: 'm-1', from: 'ada', to: ADDRESS, bytes: 21, wake: true },
      ...{ fiber: RUNNING.fiber_id, uid: RUNNING.uid },
    });
    expect(lines()[0]).toMatchObject({ fiber: null, uid: null, sent_at: lines()[0]?.at });
    expect(readFileSync(session.ledger_file, 'utf8')).not.toContain('secret');
    expect(statSync(session.ledger_file).mode & 0o777).toBe(0o600);
  });

  it('[TMP-1] adds one event of attention when a worker is given what a person wrote, and none for an agent', async () => {
    session.target = { kind: 'none' };
    await service.send(message('m-0'));
    expect(existsSync(session.events_file)).toBe(false);
    session.target = RUNNING;
    session.stage = null;
    await service.send(message('m-1'));
    session.stage = 'submitted';
    await service.send(message('m-1'));
    await service.send({ ...message('m-2'), from: 'svc://here/claude/s-2' });
    const events = readFileSync(session.events_file, 'utf8').trim().split('\n');
    expect(events.map((line) => JSON.parse(line))).toMatchObject([
      {
        type: 'message',
        timestamp: lines()[2]?.sent_at,
        sessionId: 's-1',
        harness: 'claude',
        originName: 'here',
      },
    ]);
  });

  it('names the reason of a rejection', async () => {
    session.target = { kind: 'none' };
    await service.send(message('m-1'));
    expect(lines().at(-1)).toMatchObject({ status: 'rejected', reason: 'session_not_found', fiber: null });
  });

  it('does not fail a delivery when it cannot be written, and has the stage after the next start', async () => {
    mkdirSync(session.ledger_file);
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'submitted' });
    rmdirSync(session.ledger_file);
    await recover();
    expect(stages('m-1')).toEqual(['submitted terminal']);
  });

  it('gets the last lines again that a crash took, and no line twice', async () => {
    await service.send(message('m-1'));
    await service.send(message('m-2'));
    const whole = readFileSync(session.ledger_file, 'utf8');
    const kept = whole.split('\n').slice(0, -2).join('\n');
    truncateSync(session.ledger_file, kept.length + 20);
    await recover();
    await recover();
    const told = readFileSync(session.ledger_file, 'utf8').split('\n');
    expect(told.filter((line) => line.includes('"m-2"') && line.endsWith('}'))).toHaveLength(3);
    expect(told.filter((line) => line.includes('"m-1"'))).toHaveLength(3);
  });

  it('reads no records that were not changed since the last line', async () => {
    await service.send(message('m-old'));
    rmSync(session.ledger_file);
    session.ledger.add(lineFor('m-new'));
    const long_ago = new Date(Date.now() - 3_600_000);
    for (const name of readdirSync(session.folder, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.json')) utimesSync(join(session.folder, name), long_ago, long_ago);
    const whole = readFileSync(session.ledger_file, 'utf8');
    await recover();
    expect(readFileSync(session.ledger_file, 'utf8')).toBe(whole);
  });

  it('begins again at 64 MiB, and keeps the file before', () => {
    session.ledger.add(lineFor('m-1'));
    truncateSync(session.ledger_file, ROTATE_BYTES);
    session.ledger.add(lineFor('m-2'));
    expect(existsSync(session.ledger_file)).toBe(false);
    session.ledger.add(lineFor('m-3'));
    expect(session.ledger.since(0).map(({ id }) => id)).toEqual(['m-2', 'm-3']);
  });

  it('tells the lines since a time, over a torn one', async () => {
    session.ledger.add({ ...lineFor('m-1'), at: 1_000 });
    appendFileSync(session.ledger_file, '{"at":1500,"id"');
    session.ledger.add({ ...lineFor('m-2'), at: 2_000 });
    expect(session.ledger.since(0).map(stageOf)).toHaveLength(2);
    expect(session.ledger.since(1_001).map(({ id }) => id)).toEqual(['m-2']);
  });
});

function lineFor(id: string): MessageLine {
  return {
    ...{ at: 1, id, sent_at: 1, from: 'ada', to: ADDRESS, fiber: null, uid: null },
    ...{ status: 'queued', transport: 'held', bytes: 4, wake: true, hops: 0 },
  };
}
