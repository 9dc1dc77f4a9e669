import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { InputScreen } from '../../src/harness/harness.ts';
import { messageRecordSchema, newRecord } from '../../src/messages/message-record.ts';
import { MessagesService } from '../../src/messages/messages-service.ts';
import { until } from '../kit/until.ts';
import { ADDRESS, APP_ADDRESS, CONTEXT, CONVERSATION, FakeSession, message } from './fake-world.ts';

let session: FakeSession;
const services: MessagesService[] = [];

beforeEach(() => {
  session = new FakeSession();
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

describe('a message to a session that is ready', () => {
  it('[MSG-3] is typed once, and the same id is answered with its receipt', async () => {
    const service = daemon();
    const first = await service.send(message('m-1'));
    expect(first).toMatchObject({ message_id: 'm-1', address: ADDRESS, status: 'submitted' });
    expect(await service.send(message('m-1'))).toEqual(first);
    expect(session.typed).toHaveLength(1);
  });

  it('[MSG-3] is delivered once when 50 equal requests come at the same time', async () => {
    const service = daemon();
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.send(message('m-1'))));
    expect(session.typed).toHaveLength(1);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('[MSG-3] [LIM-18] is unknown to an equal request 1.5 s after the first one should have its answer', async () => {
    session.giving = () => new Promise(() => {});
    const service = daemon({ observe: 50 });
    void service.send(message('m-1'));
    const from = performance.now();
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'unknown' });
    expect(performance.now() - from).toBeGreaterThan(1_500);
    expect(session.typed).toEqual([]);
  });

  it('[MDS-1] has lines that nobody knew before, though it was rehearsed', async () => {
    const service = daemon();
    const rehearsed = await service.send({ ...message('m-1'), dry_run: true });
    const shown = 'minted' in rehearsed ? rehearsed.minted.nonce : null;
    expect(rehearsed).toMatchObject({ prompt: expect.stringContaining(`(ends with ${shown}) from ada]`) });
    await service.send(message('m-1'));
    const { nonce } = session.store().read('m-1')!;
    expect(session.typed).toEqual([expect.stringContaining(`(ends with ${nonce}) from ada]`)]);
    expect(shown).not.toBe(nonce);
  });

  it('[MDS-1] is found by the lines that an earlier daemon wrote, where that kept it', async () => {
    const store = session.store();
    const old = { ...message('m-1'), address: ADDRESS };
    const record = newRecord(old, { files: [], nonce: 'unused', now: Date.now() });
    const { nonce: _none, ...kept } = { ...record, state: 'waiting' as const };
    store.begin(messageRecordSchema.parse(kept));
    const service = daemon();
    await until('it is given', async () => session.typed.length === 1);
    expect(session.typed).toEqual(['[message m-1 from ada]\nLook at the last commit.\n[end of message m-1]']);
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'submitted' });
  });

  it('[MSG-3] is refused when its id was used for another text', async () => {
    const service = daemon();
    await service.send(message('m-1'));
    const other = service.send(message('m-1', { text: 'Something else.' }));
    await expect(other).rejects.toMatchObject({ code: 'message_id_conflict' });
    expect(session.typed).toHaveLength(1);
  });

  it('[MSG-1] is known by the canonical spelling of its address', async () => {
    const service = daemon();
    await service.send(message('m-1', { address: 'svc://here/Claude-Code/s-1' }));
    expect(await service.send(message('m-1'))).toMatchObject({ address: ADDRESS });
    expect(session.typed).toHaveLength(1);
  });

  it('[MDS-1] [EVT-3] upgrades its receipt when the transcript shows more later, and sends nothing again', async () => {
    const service = daemon();
    session.stage = null;
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'unknown', transport: 'terminal' });
    session.stage = 'submitted';
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'submitted' });
    session.stage = 'accepted';
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'accepted' });
    session.stage = 'queued';
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'accepted' });
    expect(session.typed).toHaveLength(1);
  });

  it('upgrades its receipt when somebody looks again, never to less, and sends nothing again', async () => {
    const service = daemon();
    await service.send(message('m-1'));
    session.stage = 'accepted';
    await service.lookAgain(['m-1', 'm-2'], 5_000);
    session.stage = 'submitted';
    await service.lookAgain(['m-1'], 5_000);
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'accepted' });
    expect(session.typed).toHaveLength(1);
  });

  it('[RCP-5] is unknown when the terminal did not say whether it took the text', async () => {
    session.outcome = { kind: 'unknown', detail: 'tmux did not answer' };
    session.stage = null;
    expect(await daemon().send(message('m-1'))).toMatchObject({ status: 'unknown' });
  });
});

describe('a message to a session that is not ready', () => {
  it.each(['draft', 'dialog', 'unknown'] as const)(
    'is held while its screen is %s, then sent',
    async (screen) => {
      session.screen = screen;
      const service = daemon();
      expect(await service.send(message('m-1'))).toMatchObject({ status: 'queued', transport: 'held' });
      expect(session.typed).toEqual([]);
      session.screen = 'ready';
      await until('the message is typed', () => session.typed.length === 1);
      await until('its receipt', async () => {
        const receipt = await service.send(message('m-1'));
        return !('dry_run' in receipt) && receipt.status === 'submitted';
      });
    },
  );

  it('[MSG-2] is rejected as a wake when it was held too long, and never becomes context alone', async () => {
    session.screen = 'draft';
    const service = daemon({ hold: 0 });
    const receipt = await service.send(message('m-1'));
    expect(receipt).toMatchObject({ status: 'rejected', reason: 'wake_refused' });
    session.screen = 'ready';
    expect(await service.send(message('m-1'))).toEqual(receipt);
    expect(session.typed).toEqual([]);
  });

  it('[MSG-2] is held on where the next daemon starts with a clock that is years ahead', async () => {
    session.screen = 'draft';
    const hold = 86_400_000;
    const first = daemon({ hold });
    await first.send(message('m-1'));
    first.stop();
    let looks = 0;
    let screen: InputScreen = 'draft';
    Object.defineProperty(session, 'screen', {
      get: () => {
        looks += 1;
        return screen;
      },
    });
    const clock = { ...systemClock, now: () => Date.now() + 70 * 365 * hold };
    const next = new MessagesService(
      { ...session.world(), clock },
      { observe: 0, recheck: 0, hold, pair: 20 },
    );
    services.push(next);
    next.start();
    await until('a look at the session', () => looks > 1);
    screen = 'ready';
    await until('the message is typed', () => session.typed.length === 1);
  });

  it('[RDY-3] is held while the poller does not answer', async () => {
    session.target = new Error('the poller is starting');
    expect(await daemon().send(message('m-1'))).toMatchObject({ status: 'queued', transport: 'held' });
  });

  it.each([
    [{ kind: 'none' } as const, 'session_not_found'],
    [{ kind: 'past' } as const, 'session_unavailable'],
  ])('[MSG-5] is rejected where no worker is in the session: %j', async (target, reason) => {
    session.target = target;
    expect(await daemon().send(message('m-1'))).toMatchObject({ status: 'rejected', reason });
  });

  it('[MSG-5] is rejected when the session ended before it was given anything', async () => {
    session.outcome = { kind: 'gone' };
    expect(await daemon().send(message('m-1'))).toMatchObject({ reason: 'session_unavailable' });
  });
});

describe('a message to a session whose program takes messages itself', () => {
  beforeEach(() => {
    session.way_outcome = { kind: 'given' };
  });
  afterEach(() => expect(session.open_ways).toBe(0));

  it.each(['ready', 'draft', 'dialog', 'unknown'] as const)(
    '[MSG-3] is given once, while its screen is %s',
    async (screen) => {
      session.screen = screen;
      const receipt = await daemon().send(message('m-1'));
      expect(receipt).toMatchObject({ status: 'submitted', transport: 'extension' });
      expect(session.typed).toHaveLength(1);
    },
  );

  it('[MDS-1] is queued when the program says so, and submitted when the transcript does', async () => {
    session.way_outcome = { kind: 'queued' };
    session.stage = null;
    const service = daemon();
    const queued = { status: 'queued', transport: 'extension' };
    expect(await service.send(message('m-1'))).toMatchObject(queued);
    expect(await service.send(message('m-1'))).toMatchObject(queued);
    session.stage = 'submitted';
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'submitted' });
    expect(session.typed).toHaveLength(1);
  });

  it('waits while the program does not take it, then is given once', async () => {
    session.way_outcome = { kind: 'not_given', detail: 'it compacts its conversation' };
    const service = daemon();
    expect(await service.send(message('m-1'))).toMatchObject({
      status: 'queued',
      transport: 'held',
      detail: 'it compacts its conversation',
    });
    session.way_outcome = { kind: 'given' };
    await until('the message is given', () => session.typed.length === 1);
  });

  it('[RCP-5] is unknown when the program did not answer, and never given again', async () => {
    session.way_outcome = { kind: 'unknown', detail: 'it ended before it answered' };
    session.stage = null;
    const service = daemon();
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'unknown', transport: 'extension' });
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'unknown' });
    expect(session.typed).toHaveLength(1);
  });

  it('is typed where the program does not answer', async () => {
    session.way_outcome = null;
    expect(await daemon().send(message('m-1'))).toMatchObject({ transport: 'terminal' });
    expect(session.typed).toHaveLength(1);
  });
});

function appMessage(message_id: string) {
  return message(message_id, { address: APP_ADDRESS });
}

describe('a message to an app conversation', () => {
  beforeEach(() => {
    session.target = CONVERSATION;
  });

  it('[MSG-3] [MDS-1] is given once under its id, and its receipt follows the conversation', async () => {
    const service = daemon();
    session.app_stage = null;
    expect(await service.send(appMessage('m-1'))).toMatchObject({
      status: 'unknown',
      transport: 'app-server',
    });
    session.app_stage = 'submitted';
    const submitted = { status: 'submitted', transport: 'app-server' };
    expect(await service.send(appMessage('m-1'))).toMatchObject(submitted);
    session.app_stage = new Error('the app server does not answer');
    expect(await service.send(appMessage('m-1'))).toMatchObject(submitted);
    session.app_stage = 'accepted';
    expect(await service.send(appMessage('m-1'))).toMatchObject({ status: 'accepted' });
    expect(session.given).toMatchObject([
      { thread_id: 't-1', message_id: 'n1', text: expect.stringContaining('Look at the last commit.') },
    ]);
    expect(session.typed).toEqual([]);
  });

  it('[MSG-3] is given once when 50 equal requests come at the same time', async () => {
    const service = daemon();
    await Promise.all(Array.from({ length: 50 }, () => service.send(appMessage('m-1'))));
    expect(session.given).toHaveLength(1);
  });

  it.each(['starting', 'unreachable'] as const)(
    'is held while the conversation is %s, then given',
    async (app) => {
      session.target = { ...CONVERSATION, app };
      const service = daemon();
      const held = { status: 'queued', transport: 'held' };
      expect(await service.send(appMessage('m-1'))).toMatchObject(held);
      expect(session.given).toEqual([]);
      session.target = CONVERSATION;
      await until('the message is given', () => session.given.length === 1);
    },
  );

  it('is held when nothing of it reached the app server, also over a restart, then given once', async () => {
    session.app_outcome = { kind: 'not_given', detail: 'the app server is not available' };
    const first = daemon();
    expect(await first.send(appMessage('m-1'))).toMatchObject({
      status: 'queued',
      transport: 'held',
      detail: 'the app server is not available',
    });
    first.stop();
    session.app_outcome = { kind: 'given' };
    const second = daemon();
    await until('the message is given', () => session.given.length === 1);
    await until('its receipt', async () => {
      const receipt = await second.send(appMessage('m-1'));
      return !('dry_run' in receipt) && receipt.status === 'submitted';
    });
    expect(session.given).toHaveLength(1);
  });

  it('[RCP-5] is unknown when the app server did not answer, until the conversation shows it', async () => {
    session.app_outcome = { kind: 'unknown', detail: 'it did not answer' };
    session.app_stage = null;
    const service = daemon();
    expect(await service.send(appMessage('m-1'))).toMatchObject({
      status: 'unknown',
      detail: expect.stringContaining('it did not answer'),
    });
    session.app_stage = 'submitted';
    expect(await service.send(appMessage('m-1'))).toMatchObject({ status: 'submitted' });
    expect(session.given).toHaveLength(1);
  });

  it.each([
    [{ kind: 'refused', detail: 'no such model' } as const, 'wake_refused'],
    [{ kind: 'gone' } as const, 'session_unavailable'],
  ])('[MSG-2] [MSG-5] is rejected for good: %j', async (outcome, reason) => {
    session.app_outcome = outcome;
    const service = daemon();
    const receipt = await service.send(appMessage('m-1'));
    expect(receipt).toMatchObject({ status: 'rejected', transport: 'none', reason });
    session.app_outcome = { kind: 'given' };
    expect(await service.send(appMessage('m-1'))).toEqual(receipt);
    expect(session.given).toEqual([]);
  });

  it('[MSG-5] is rejected where the app server has no such conversation', async () => {
    session.target = { ...CONVERSATION, app: 'missing' };
    expect(await daemon().send(appMessage('m-1'))).toMatchObject({ reason: 'session_unavailable' });
  });

  it('is rehearsed without being given', async () => {
    expect(await daemon().send({ ...appMessage('m-1'), dry_run: true })).toMatchObject({
      would: 'give it to the app conversation t-1',
    });
    expect(session.given).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    '[MSG-3] is never given again by the daemon that follows one killed %s the text was given',
    async (moment) => {
      await session.killedAt(moment, daemon(), appMessage('m-1'));
      const receipt = await daemon().send(appMessage('m-1'));
      expect(session.given).toHaveLength(moment === 'after' ? 1 : 0);
      expect(receipt).toMatchObject({
        status: moment === 'after' ? 'submitted' : 'unknown',
        transport: 'app-server',
      });
    },
  );
});

describe('what is refused before anything is kept', () => {
  it.each([
    ['not an address', 'invalid_address'],
    ['svc://here/claude', 'invalid_address'],
    ['svc://here/unheard-of/s-1', 'unsupported_harness'],
    ['svc://elsewhere/claude/s-1', 'wrong_host'],
  ])('[ERR-7] %s is %s', async (address, code) => {
    await expect(daemon().send(message('m-1', { address }))).rejects.toMatchObject({ code });
    expect(await daemon().send(message('m-1'))).toMatchObject({ status: 'submitted' });
  });

  it('[MSG-1] names how to find or add the host of an address that is not known', async () => {
    await expect(
      daemon().send(message('m-1', { address: 'svc://elsewhere/claude/s-1' })),
    ).rejects.toMatchObject({
      message: expect.stringMatching(
        /no remote of this one, here\. .*svc remotes list; .*svc remotes add <user>@<host>$/,
      ),
    });
  });

  it('[MSG-5] preflight_failed lets the id be used again', async () => {
    session.context = { ...CONTEXT, hooks: 'absent' };
    await expect(daemon().send(message('m-1', { wake: false }))).rejects.toMatchObject({
      code: 'preflight_failed',
    });
    expect(await daemon().send(message('m-1'))).toMatchObject({ status: 'submitted' });
  });

  it('a rehearsal refuses what would be one too many between two sessions, and counts nothing', async () => {
    const service = daemon({ pair: 1 });
    const from = 'svc://here/claude/s-2';
    const rehearsed = (id: string) => service.send({ ...message(id), from, dry_run: true });
    expect(await rehearsed('m-1')).toMatchObject({ would: 'type it into loader-svc' });
    expect(await service.send({ ...message('m-1'), from })).toMatchObject({ status: 'submitted' });
    await expect(rehearsed('m-2')).rejects.toMatchObject({ code: 'preflight_failed' });
    expect(await rehearsed('m-1')).toMatchObject({ would: expect.stringContaining('nothing is sent again') });
  });

  it('a rehearsal keeps nothing and sends nothing', async () => {
    const service = daemon();
    const shown = await service.send({ ...message('m-1'), dry_run: true });
    expect(shown).toMatchObject({ dry_run: true, would: 'type it into loader-svc' });
    expect(session.typed).toEqual([]);
    expect(await service.send(message('m-1'))).toMatchObject({ status: 'submitted' });
  });
});

describe('a daemon that ends in the middle', () => {
  it.each(['before', 'after'] as const)(
    '[MSG-3] %s the text is given: it is never given again',
    async (moment) => {
      await session.killedAt(moment, daemon(), message('m-1'));
      const before = session.typed.length;
      const receipt = await daemon().send(message('m-1'));
      expect(session.typed).toHaveLength(before);
      expect(receipt).toMatchObject({ status: before === 0 ? 'unknown' : 'submitted' });
    },
  );

  it('gives what was held in the order in which it was sent, also after a restart', async () => {
    session.screen = 'draft';
    const first = daemon();
    const ids = Array.from({ length: 6 }, (_, at) => `m-${at}`);
    for (const id of ids.slice(0, 4)) {
      await first.send(message(id));
      // Their order after a restart is that of their times.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    first.stop();
    const second = daemon();
    for (const id of ids.slice(4)) await second.send(message(id));
    session.screen = 'ready';
    await until('all are typed', () => session.typed.length === ids.length);
    expect(session.typed.map((text) => /^\[message (\S+) /.exec(text)?.[1])).toEqual(ids);
  });

  it('goes on with what was held', async () => {
    session.screen = 'draft';
    const first = daemon();
    await first.send(message('m-1'));
    first.stop();
    daemon();
    session.screen = 'ready';
    await until('the message is typed', () => session.typed.length === 1);
  });

  it('[MSG-3] gives what was held once, whatever lies beside its mark', async () => {
    session.screen = 'draft';
    const first = daemon();
    await first.send(message('m-1'));
    first.stop();
    const open = join(session.folder, 'messages', 'open');
    const [mark = ''] = readdirSync(open);
    // As a daemon that was killed in the middle of writing a mark, and a file browser leave it.
    copyFileSync(join(open, mark), join(open, `.${mark}.tmp-4711-0123456789ab`));
    writeFileSync(join(open, '.DS_Store'), 'x'.repeat(6_148));
    const second = daemon();
    session.screen = 'ready';
    await until('the message is typed', () => session.typed.length > 0);
    expect(await second.send(message('m-2'))).toMatchObject({ message_id: 'm-2' });
    expect(session.typed).toHaveLength(2);
  });

  it('[MSG-3] gives every message once at most, and no receipt says more than the session has', async () => {
    const step = fc.record({
      id: fc.integer({ min: 1, max: 4 }),
      crash: fc.constantFrom('before', 'after', null),
      screen: fc.constantFrom('ready', 'ready', 'draft'),
      stage: fc.constantFrom('submitted', null),
      outcome: fc.constantFrom('given', 'unknown', 'not_given'),
      way: fc.constantFrom('given', 'queued', 'unknown', 'not_given', null),
    });
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 12 }), async (app, steps) => {
        const world = new FakeSession();
        if (app) world.target = CONVERSATION;
        let service = world.service();
        try {
          for (const { id, crash, screen, stage, outcome, way } of steps) {
            Object.assign(world, { screen, stage, app_stage: stage });
            world.app_outcome = { kind: outcome, detail: 'as drawn' };
            world.way_outcome = way === null ? null : { kind: way, detail: 'as drawn' };
            const receipt = await world.killedAt(crash, service, message(`m-${id}`));
            const texts = [...world.typed, ...world.given.map(({ text }) => text)];
            const given = texts.filter((text) => text.startsWith(`[message m-${id} (`)).length;
            expect(given).toBeLessThanOrEqual(1);
            if (receipt !== null && !('dry_run' in receipt) && receipt.status === 'submitted')
              expect(given).toBe(1);
            if (crash === null) continue;
            service.stop();
            service = world.service();
          }
        } finally {
          service.stop();
          world.remove();
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a message that cannot be stored', () => {
  const full = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
      ...{ code: 'ENOSPC', syscall: 'write' },
    });
  };

  it('[ERR-29] is refused with where and why, and its id is free again', async () => {
    const world = session.world();
    const service = new MessagesService(world, { observe: 0, recheck: 0, hold: 60_000, pair: 20 });
    services.push(service);
    const write = world.store.write.bind(world.store);
    world.store.write = full;
    await expect(service.send(message('m-1'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/messages cannot be written: no space is left; nothing was kept/),
      details: { path: join(session.folder, 'messages') },
    });
    world.store.write = write;
    expect(await service.send(message('m-1', { text: 'Another text.' }))).toMatchObject({
      status: 'submitted',
    });
    expect(session.typed).toHaveLength(1);
  });

  it('does not count between two sessions', async () => {
    const world = session.world();
    const service = new MessagesService(world, { observe: 0, recheck: 0, hold: 60_000, pair: 1 });
    services.push(service);
    const write = world.store.write.bind(world.store);
    const from = 'svc://here/claude/s-2';
    world.store.write = full;
    await expect(service.send({ ...message('m-1'), from })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    world.store.write = write;
    expect(await service.send({ ...message('m-1'), from })).toMatchObject({ status: 'submitted' });
  });
});
