import { afterEach, describe, expect, it } from 'vitest';
import type { ConnectionEnds } from '../../src/platform/peer-credentials-lsof.ts';
import type { PeerVerdict } from '../../src/platform/peer-verdict.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { ask } from './raw-exchange.ts';
import { json, postRow, type Served, serve } from './served.ts';

let served: Served | null = null;
let handled = 0;
afterEach(async () => {
  await served?.server.stop();
  served = null;
  handled = 0;
});

const names = ['100.64.0.1', 'host-a.tail1234.ts.net'];
/** Serves on loopback as on an address of the tailnet; the verdict about its peers is `judge`'s. */
async function listen(judge: (ends: ConnectionEnds) => PeerVerdict) {
  const row = postRow('/act', () => {
    handled += 1;
    return json({ done: true });
  });
  served = await serve([row]);
  const port = await unusedPort();
  const lookup = { lookUp: async (all: readonly ConnectionEnds[]) => all.map(judge) };
  const listening = await served.server.listenPrivately({ host: '127.0.0.1', port, names, lookup });
  const act = async (host: string) =>
    (
      await ask({ port }, 'POST', '/act', {
        headers: { Host: host, 'Content-Type': 'application/json' },
        body: '{}',
      })
    ).status;
  return { port, listening, act };
}

describe('a listener for other machines', () => {
  it('[OPR-3] serves whom the lookup lets in, by the names of this machine there', async () => {
    const ends: ConnectionEnds[] = [];
    const { port, listening, act } = await listen((one) => {
      ends.push(one);
      return { kind: 'own_uid' };
    });
    expect(listening.address).toBe(`127.0.0.1:${port}`);
    expect(await act(`100.64.0.1:${port}`)).toBe(200);
    expect(await act('HOST-A.tail1234.ts.net.')).toBe(200);
    expect(await act('rebinding.example')).toBe(403);
    expect(await act('100.64.0.2')).toBe(403);
    expect(handled).toBe(2);
    expect(ends[0]).toEqual({
      local: `127.0.0.1:${port}`,
      remote: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
    const own = { headers: { Host: '100.64.0.1', 'Content-Type': 'application/json' }, body: '{}' };
    expect((await ask({ port: served!.port }, 'POST', '/act', own)).status).toBe(403);
  });

  it('[OPR-3] [AUT-2] reads nothing of whom it does not let in', async () => {
    const reason = 'peer of the tailnet refused: its machine belongs to another user of the tailnet';
    const { port } = await listen(() => ({ kind: 'unresolved', reason }));
    const answer = await ask({ port }, 'POST', '/act', {
      headers: { Host: '100.64.0.1', 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toEqual({ error: 'peer_refused', reason });
    expect(handled).toBe(0);
  });

  it('[OPR-3] says why it cannot listen, and listens again once it is closed', async () => {
    const { port, listening } = await listen(() => ({ kind: 'own_uid' }));
    const lookup = { lookUp: async () => [] };
    const again = () => served!.server.listenPrivately({ host: '127.0.0.1', port, names, lookup });
    await expect(again()).rejects.toMatchObject({ code: 'address_in_use' });
    await expect(served!.server.listenPrivately({ host: '100.64.0.1', port, names, lookup })).rejects.toThrow(
      `cannot listen on 100.64.0.1:${port} (EADDRNOTAVAIL)`,
    );
    await listening.close();
    await (await again()).close();
    await served!.server.stop();
    await expect(again()).rejects.toMatchObject({ code: 'component_unavailable' });
  });
});
