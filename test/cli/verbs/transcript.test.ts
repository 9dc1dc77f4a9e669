import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatDate } from '../../../src/cli/command-line/output.ts';
import type { TranscriptWords } from '../../../src/contract/http/transcript-words.ts';
import { fiberAnswer, runningRow } from '../answers.ts';
import { type Answers, createMachine, type Machine, serveDaemon } from '../kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const ONE = '11111111-0000-4000-8000-000000000001';
const TWO = '22222222-0000-4000-8000-000000000002';
const NOON = new Date(2026, 10, 24, 12, 0).getTime();
const DAY = formatDate(NOON, Date.now());
const uid = fiberAnswer().uid!;
const LEDGER = { host: 'host-a', origins: {} };

/** A page whose messages lie one byte apart. */
function page(session: string, from: number, texts: string[], size = from + texts.length): TranscriptWords {
  const words = texts.map((text, at) => ({
    ...{ at: NOON, who: 'agent' as const, tool: null, text, byte: from + at },
  }));
  return { host: 'host-a', session, harness: 'claude', from, to: from + texts.length, size, words };
}
const runs = (session_uuid: string) => ({
  fiber: fiberAnswer({ runtime: runningRow({ session_uuid }) }),
});

describe('svc transcript', () => {
  it('prints the newest messages of the running worker', async () => {
    await serveDaemon(machine, {
      'GET /fibers/work/loader': { body: runs(ONE) },
      [`GET /sessions/composite?uid=${uid}`]: { body: LEDGER },
      [`GET /transcript/words?session=${ONE}`]: { body: page(ONE, 0, ['one', 'two', 'three']) },
      [`GET /transcript/words?session=${ONE}&after_byte=1`]: { body: page(ONE, 1, ['two', 'three']) },
    });
    expect(await machine.svc('transcript', 'work/loader', '-n', '2')).toMatchObject({
      code: 0,
      out: `${DAY}\n12:00  claude  two\n       claude  three\n`,
      err: '',
    });
    const { out } = await machine.svc('transcript', 'work/loader', '-n', '2', '--json');
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { session: ONE, who: 'agent', text: 'two', byte: 1 },
      { session: ONE, text: 'three', byte: 2 },
    ]);
  });

  it('says of a conversation without a word that it has none', async () => {
    await serveDaemon(machine, {
      'GET /fibers/work/loader': { body: runs(ONE) },
      [`GET /sessions/composite?uid=${uid}`]: { body: LEDGER },
      [`GET /transcript/words?session=${ONE}`]: { body: page(ONE, 0, []) },
      [`GET /transcript/words?session=${ONE}&after_byte=0`]: { body: page(ONE, 0, []) },
    });
    expect(await machine.svc('transcript', 'work/loader')).toEqual({
      ...{ code: 0, err: '' },
      out: 'Nothing has been said in this conversation yet.\n',
    });
    expect(await machine.svc('transcript', 'work/loader', '--json')).toEqual({ code: 0, out: '', err: '' });
  });

  it('follows a worker into its next session, from before its first word on', async () => {
    const missing = { status: 422, body: { error: 'transcript_missing', message: 'none' } };
    let session = ONE;
    let looks = 0;
    const answers = {
      'GET /fibers/work/loader': () => {
        looks += 1;
        if (looks > 2) session = TWO;
        return runs(session);
      },
      [`GET /sessions/composite?uid=${uid}`]: { body: LEDGER },
      [`GET /transcript/words?session=${ONE}`]: missing,
      [`GET /transcript/words?session=${ONE}&after_byte=0`]: { body: page(ONE, 0, ['one']) },
      [`GET /transcript/words?session=${ONE}&after_byte=1`]: { body: page(ONE, 1, []) },
      [`GET /transcript/words?session=${TWO}&after_byte=0`]: { body: page(TWO, 0, ['two']) },
    };
    machine.context.clock = { ...machine.context.clock, after: (_, run) => atOnce(run) };
    await serveDaemon(machine, answers);
    // The stand-in does not know what comes after the second session: that ends it.
    const { code, out, err } = await machine.svc('transcript', 'work/loader', '-f');
    expect(code).toBe(1);
    expect(err).toContain('after_byte=1');
    expect(err).toMatch(/^svc: nothing has been said in this conversation yet; what is said is shown here\n/);
    expect(out).toBe(`${DAY}\n12:00  claude  one\n\nAnother session: ${TWO}\n${DAY}\n12:00  claude  two\n`);
  });

  it('goes on after a restart of the daemon, and prints nothing twice', async () => {
    const booting = { status: 503, body: { error: 'booting', components: [] } };
    const next = `GET /transcript/words?session=${ONE}&after_byte=2`;
    let opened = 0;
    const answers: Answers = {
      'GET /fibers/work/loader': () => {
        opened += 1;
        if (opened === 2) answers[next] = { body: page(ONE, 2, ['three']) };
        return runs(ONE);
      },
      [`GET /sessions/composite?uid=${uid}`]: { body: LEDGER },
      [`GET /transcript/words?session=${ONE}`]: { body: page(ONE, 0, ['one']) },
      [`GET /transcript/words?session=${ONE}&after_byte=0`]: { body: page(ONE, 0, ['one']) },
      [`GET /transcript/words?session=${ONE}&after_byte=1`]: { body: page(ONE, 1, ['two'], 3) },
      [next]: booting,
    };
    machine.context.clock = { ...machine.context.clock, after: (_, run) => atOnce(run) };
    await serveDaemon(machine, answers);
    const { out, err } = await machine.svc('transcript', 'work/loader', '-f', '--session', ONE);
    expect(out).toBe(`${DAY}\n12:00  claude  one\n       claude  two\n       claude  three\n`);
    expect(err).toMatch(/^svc: the daemon is still starting.*; what is said meanwhile is shown afterwards\n/);
    expect(err).toContain('after_byte=3');
  });

  it('says that the transcript is not here, and that no worker has spoken', async () => {
    await serveDaemon(machine, {
      'GET /fibers/work/loader': { body: { fiber: fiberAnswer() } },
      [`GET /sessions/composite?uid=${uid}`]: { body: LEDGER },
      [`GET /transcript/words?session=${ONE}`]: {
        status: 422,
        body: { error: 'transcript_missing', message: 'host-a has no transcript of it' },
      },
    });
    expect(await machine.svc('transcript', 'work/loader')).toMatchObject({
      code: 1,
      err: 'svc: no worker of work/loader has spoken yet; what keeps one from starting: svc why work/loader\n',
    });
    expect(await machine.svc('transcript', 'work/loader', '--session', ONE)).toMatchObject({
      code: 1,
      err: 'svc: host-a has no transcript of it\n',
    });
  });
});

/** A clock whose waits are over at once. */
function atOnce(run: () => void): () => void {
  const timer = setImmediate(run);
  return () => clearImmediate(timer);
}
