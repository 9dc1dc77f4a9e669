import type { HttpResponse } from 'uWebSockets.js';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { HeldPeerGate } from '../../src/http/peer-gate.ts';
import type { ConnectionEnds, PeerLookup } from '../../src/platform/peer-credentials-lsof.ts';
import { lsofPeerLookup } from '../../src/platform/peer-credentials-lsof.ts';
import type { PeerVerdict } from '../../src/platform/peer-verdict.ts';
import { runProcess } from '../../src/platform/process.ts';
import { findProgram } from '../kit/find-program.ts';
import { until } from '../kit/until.ts';
import { actAs, actBeforeAccept, CANNOT_ATTACK, NOBODY } from './attacks/gated-target.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { HAS_LOOPBACK_V6, json, postRow, type Served, serve } from './served.ts';

let served: Served | null = null;
let handled = 0;
const act = postRow('/act', () => {
  handled += 1;
  return json({ done: true });
});
afterEach(async () => {
  await served?.server.stop();
  served = null;
  handled = 0;
});

const OWN: PeerVerdict = { kind: 'own_uid' };

/** A look at an invented system, which says the same of all that it is asked about. */
function lookup(judge: (connections: readonly ConnectionEnds[]) => PeerVerdict[] | Promise<PeerVerdict[]>) {
  const view = { mode: 'enforced', uid: 501, source: 'lsof' } as const;
  return { view, lookUp: async (connections) => judge(connections) } satisfies PeerLookup;
}

function collected() {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  return { lines, logger: createLogger({ component: 'http', level: 'warn', destination }) };
}

async function post(count = 1): Promise<string> {
  const request = requestText('POST', '/act', {}, '{}');
  const done = (text: string) => parseAnswers(text).length === count;
  return (await exchangeRaw(served!, [request.repeat(count)], done)).text;
}

describe('a gate with a slow lookup', () => {
  it('[AUT-2] reads nothing of a connection before the lookup has answered, and looks up both of its ends', async () => {
    const asked: ConnectionEnds[] = [];
    let tell: (verdicts: PeerVerdict[]) => void = () => undefined;
    const judge = (connections: readonly ConnectionEnds[]) => {
      asked.push(...connections);
      return new Promise<PeerVerdict[]>((resolve) => {
        tell = resolve;
      });
    };
    served = await serve([act], { http: 'node', peers: lookup(judge) });
    const answer = post();
    await until('the look', () => asked.length === 1);
    expect(handled).toBe(0);
    tell([OWN]);
    expect(parseAnswers(await answer).map(({ status }) => status)).toEqual([200]);
    expect(asked).toEqual([
      { local: `127.0.0.1:${served.port}`, remote: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
    ]);
  });

  it.each([
    [{ kind: 'other_uid', uid: 502, own_uid: 501 }, "peer uid 502 is not the daemon's uid 501"],
    [
      { kind: 'unresolved', reason: 'peer uid unresolved: no matching lsof row' },
      'peer uid unresolved: no matching lsof row',
    ],
  ] satisfies [PeerVerdict, string][])(
    '[AUT-2] [ERR-8] answers %j with the reason, once, and closes',
    async (verdict, reason) => {
      served = await serve([act], { http: 'node', peers: lookup((all) => all.map(() => verdict)) });
      const heard = await exchangeRaw(served, [requestText('POST', '/act', {}, '{}').repeat(3)]);
      const answers = parseAnswers(heard.text);
      expect(answers.map(({ status }) => status)).toEqual([403]);
      expect(JSON.parse(answers[0]!.body)).toEqual({ error: 'peer_refused', reason });
      expect(heard.closed).toBe(true);
      expect(handled).toBe(0);
    },
  );

  it('[AUT-2] admits nobody if the lookup fails or answers for fewer connections than requested', async () => {
    const { lines, logger } = collected();
    let judge = (): PeerVerdict[] => {
      throw new Error('EMFILE');
    };
    served = await serve([act], { http: 'node', logger, peers: lookup(() => judge()) });
    expect(await post()).toBe('');
    expect(lines.join('')).toContain('EMFILE');
    judge = () => [];
    expect(await post()).toBe('');
    expect(handled).toBe(0);
  });

  it('[AUT-2] looks up once for all connections that arrived during a lookup, and never uses an earlier lookup for them', async () => {
    const looks: string[][] = [];
    const tell: (() => void)[] = [];
    const judge = async (connections: readonly ConnectionEnds[]) => {
      looks.push(connections.map(({ remote }) => remote));
      await new Promise<void>((resolve) => tell.push(resolve));
      return connections.map(() => OWN);
    };
    const gate = new HeldPeerGate({ lookup: lookup(judge), logger: silentLogger, clock: systemClock });
    const untouched = {} as HttpResponse;
    const held = ['a', 'b', 'c'].map((remote) => gate.hold(untouched, { local: 'here', remote }));
    expect(looks).toEqual([['a']]);
    tell[0]!();
    await held[0];
    expect(looks).toEqual([['a'], ['b', 'c']]);
    tell[1]!();
    await Promise.all(held);
  });

  it('[AUT-2] holds a limited number of connections, and closes the others without a lookup', async () => {
    const never = () => new Promise<PeerVerdict[]>(() => undefined);
    const gate = new HeldPeerGate({ lookup: lookup(never), logger: silentLogger, clock: systemClock });
    let closed = 0;
    const response = { close: () => (closed += 1) } as unknown as HttpResponse;
    for (let count = 0; count < 1_000; count += 1)
      void gate.hold(response, { local: 'here', remote: String(count) });
    expect(closed).toBe(1_000 - 512 - 1);
    gate.stop();
  });

  it('[AUT-2] closes held connections when the server stops', async () => {
    let looked = false;
    const never = () => {
      looked = true;
      return new Promise<PeerVerdict[]>(() => undefined);
    };
    served = await serve([act], { http: 'node', peers: lookup(never) });
    const answer = post();
    await until('the look', () => looked);
    await served.server.stop();
    expect(await answer).toBe('');
    expect(handled).toBe(0);
  });
});

describe('the server with such a gate', () => {
  const peers = lookup((all) => all.map(() => OWN));

  it('[AUT-2] [OPR-1] is Node’s own by default, and the gate is in force', async () => {
    const { lines, logger } = collected();
    served = await serve([act], { http: 'auto', peers, logger });
    expect(served.server.kind()).toBe('node');
    expect(served.server.peerGate()).toEqual({ mode: 'enforced', uid: 501, source: 'lsof' });
    expect(lines).toEqual([]);
  });

  it('[AUT-2] [OPR-1] is the native one on request: it reports that it cannot identify peers, and the fix', async () => {
    const { lines, logger } = collected();
    served = await serve([act], { http: 'uws', peers, logger });
    expect(served.server.peerGate()).toEqual({ mode: 'none', uid: null, source: 'none' });
    expect(lines.join('')).toContain('SVC_HTTP=node');
    expect((await ask(served, 'POST', '/act', { body: '{}' })).status).toBe(200);
  });
});

const CANNOT =
  CANNOT_ATTACK ?? (findProgram('lsof', process.env.PATH ?? '') === null ? 'there is no lsof here' : null);

describe.skipIf(CANNOT !== null)(
  `another user, by the real lsof${CANNOT === null ? '' : ` (${CANNOT})`}`,
  () => {
    const gated = async () => {
      const peers = lsofPeerLookup({ run: runProcess, pid: process.pid, uid: 0 });
      served = await serve([act], { http: 'node', peers });
      return served.port;
    };
    const REFUSAL = { error: 'peer_refused', reason: `peer uid ${NOBODY} is not the daemon's uid 0` };

    it('[AUT-2] [ERR-8] is refused, on either IP version, while the operator is served', async () => {
      const port = await gated();
      for (const host of ['127.0.0.1', '::ffff:127.0.0.1', ...(HAS_LOOPBACK_V6 ? ['::1'] : [])]) {
        const [answer] = parseAnswers(String(await actAs(NOBODY, 'ask', port, { host, count: 5 })));
        expect({ host, ...JSON.parse(answer!.body) }).toEqual({ host, ...REFUSAL });
        const own = await actAs(0, 'ask', port, { host, one_answer: true });
        expect(String(own), host).toContain('HTTP/1.1 200');
      }
      expect(handled).toBe(HAS_LOOPBACK_V6 ? 3 : 2);
    });

    it.each(['close', 'reset'])(
      '[AUT-2] has no request handled if it leaves by a %s before the accept',
      async (by) => {
        const port = await gated();
        expect(actBeforeAccept(NOBODY, 'leave', port, { count: 30, by })).toBe(30);
        expect((await ask({ port }, 'POST', '/act', { body: '{}' })).status).toBe(200);
        expect(handled).toBe(1);
      },
    );

    it('[AUT-2] connects in one burst with the operator: only the operator is served', async () => {
      const port = await gated();
      const [own, foreign] = await Promise.all([
        actAs(0, 'burst', port, { count: 100 }),
        actAs(NOBODY, 'burst', port, { count: 100 }),
      ]);
      expect(own).toEqual({ '200': 100, '403': 0, none: 0 });
      expect(foreign).toMatchObject({ '200': 0 });
      expect(handled).toBe(100);
    }, 60_000);
  },
);
