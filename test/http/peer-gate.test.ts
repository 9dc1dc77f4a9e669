import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../src/base/logger.ts';
import {
  type KnowingPeerCredentials,
  procPeerCredentials,
  UNKNOWN_PEERS,
} from '../../src/platform/peer-credentials.ts';
import { NO_PEER_ROW } from '../../src/platform/peer-credentials-tcp-rows.ts';
import type { PeerVerdict } from '../../src/platform/peer-verdict.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import { json, postRow, SERVER_KIND, type Served, serve } from './served.ts';

let served: Served | null = null;
let handled = 0;

const act = postRow('/act', () => {
  handled += 1;
  return json('done');
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await served?.server.stop();
  served = null;
  handled = 0;
});

/** Credentials of an invented kernel that says the same of every peer. */
function everyPeerIs(verdict: () => PeerVerdict): KnowingPeerCredentials {
  const known = procPeerCredentials({
    files: { numbers: () => [], inodeOf: () => 'closed' },
    readTable: () => undefined,
    own: { uid: 1_000, shared: false },
    little_endian: true,
  });
  return { ...known, judge: (connections) => connections.map(verdict) };
}

async function post(count = 1): Promise<string> {
  const request = requestText('POST', '/act', {}, '{}');
  const done = (text: string) => parseAnswers(text).length === count;
  return (await exchangeRaw(served!, [request.repeat(count)], done)).text;
}

describe('the peer gate', () => {
  it.each([
    [{ kind: 'other_uid', uid: 1_001, own_uid: 1_000 }, "peer uid 1001 is not the daemon's uid 1000"],
    [NO_PEER_ROW, 'peer uid unresolved: no matching /proc TCP row'],
  ] satisfies [PeerVerdict, string][])(
    '[AUT-2] [ERR-8] answers %j with the reason and closes',
    async (verdict, reason) => {
      served = await serve([act], { peers: everyPeerIs(() => verdict) });
      const heard = await exchangeRaw(served, [requestText('POST', '/act', {}, '{}').repeat(3)]);
      const answers = parseAnswers(heard.text);
      expect(answers).toHaveLength(1);
      expect(answers[0]).toMatchObject({ status: 403, headers: { 'content-type': 'application/json' } });
      expect(JSON.parse(answers[0]!.body)).toEqual({ error: 'peer_refused', reason });
      expect(heard.closed).toBe(true);
      expect(handled).toBe(0);
    },
  );

  it('[AUT-2] closes ambiguous connections without an answer', async () => {
    served = await serve([act], { peers: everyPeerIs(() => ({ kind: 'no_connection' })) });
    expect(await post()).toBe('');
    expect(handled).toBe(0);
  });

  it('[AUT-2] decides before it handles, even if the request arrives first', async () => {
    let verdict: PeerVerdict = { kind: 'own_uid' };
    const immediately = setImmediate;
    let late = 0;
    // Whatever is put off to the end of the turn comes far too late.
    vi.stubGlobal('setImmediate', (run: () => void) => {
      late += 1;
      return setTimeout(() => immediately(run), 300);
    });
    served = await serve([act], { peers: everyPeerIs(() => verdict) });
    expect(parseAnswers(await post(2)).map((answer) => answer.status)).toEqual([200, 200]);
    expect(handled).toBe(2);
    verdict = { kind: 'other_uid', uid: 1, own_uid: 2 };
    expect(parseAnswers(await post()).map((answer) => answer.status)).not.toContain(200);
    expect(handled).toBe(2);
    verdict = { kind: 'own_uid' };
    expect(parseAnswers(await post()).map((answer) => answer.status)).toEqual([200]);
    expect(late).toBeGreaterThan(0);
  });

  it('[AUT-2] admits nobody while the kernel tables cannot be read', async () => {
    const fail = () => {
      throw new Error('EMFILE');
    };
    const lines: string[] = [];
    const logger = createLogger({
      component: 'http',
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    const peers = everyPeerIs(() => ({ kind: 'own_uid' }));
    served = await serve([act], { logger, peers: { ...peers, judge: fail } });
    expect(await post()).toBe('');
    await served.server.stop();
    served = await serve([act], { logger, peers: { ...peers, appearedSockets: fail } });
    expect(await post()).toBe('');
    expect(handled).toBe(0);
    expect(lines.join('')).toContain('EMFILE');
  });

  // Node accepts in smaller batches, and there the quick look misses nothing.
  it.runIf(SERVER_KIND === 'uws')(
    '[AUT-2] decides about all earlier connections before it searches again for a missed socket',
    async () => {
      const calls: string[] = [];
      const peers = everyPeerIs(() => ({ kind: 'own_uid' }));
      served = await serve([act], {
        peers: {
          ...peers,
          openFiles: () => 1_000,
          appearedSockets(how) {
            calls.push(how);
            return new Set();
          },
          judge(connections) {
            calls.push(`judge ${connections.length}`);
            return peers.judge(connections);
          },
        },
      });
      const answers = await Promise.all(Array.from({ length: 30 }, () => post()));
      expect(answers.map((text) => parseAnswers(text)[0]?.status)).toEqual(Array(30).fill(200));
      const misses = calls.flatMap((call, at) => (call === 'quickly' ? [calls.slice(at, at + 3)] : []));
      expect(misses.length).toBeGreaterThan(0);
      for (const miss of misses) expect(miss).toEqual(['quickly', 'judge 1', 'surely']);
    },
  );

  it.runIf(SERVER_KIND === 'uws')(
    '[AUT-2] inspects all sockets for each connection while that is cheap, and decides once for all',
    async () => {
      const calls: string[] = [];
      const peers = everyPeerIs(() => ({ kind: 'own_uid' }));
      served = await serve([act], {
        peers: {
          ...peers,
          appearedSockets(how) {
            calls.push(how);
            return new Set();
          },
          judge(connections) {
            calls.push(`judge ${connections.length}`);
            return peers.judge(connections);
          },
        },
      });
      await Promise.all(Array.from({ length: 30 }, () => post()));
      expect(calls).not.toContain('quickly');
      expect(calls.filter((call) => call === 'surely')).toHaveLength(30);
      expect(calls.some((call) => call.startsWith('judge') && call !== 'judge 1')).toBe(true);
    },
  );

  it('logs many refusals in one line', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      component: 'http',
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    served = await serve([act], { logger, peers: everyPeerIs(() => NO_PEER_ROW) });
    for (let count = 0; count < 20; count += 1) await post();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ refused: 1, peer: NO_PEER_ROW });
  });
});

describe('the peer gate in GET /version', () => {
  it('[OPR-1] has its mode on TCP', async () => {
    served = await serve([act], { peers: everyPeerIs(() => ({ kind: 'own_uid' })) });
    expect(served.server.peerGate()).toEqual({ mode: 'enforced', uid: 1_000, source: '/proc/net/tcp' });
  });

  it('[OPR-1] reports that it cannot identify peers, and warns', async () => {
    const lines: string[] = [];
    const logger = createLogger({
      component: 'http',
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    served = await serve([act], { logger, peers: UNKNOWN_PEERS });
    expect(served.server.peerGate()).toEqual({ mode: 'none', uid: null, source: 'none' });
    expect(lines.join('')).toContain('any user of this machine may connect');
    expect((await ask(served, 'POST', '/act', { body: '{}' })).status).toBe(200);
  });
});
