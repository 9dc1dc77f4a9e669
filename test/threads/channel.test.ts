import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type Channel, channelPair, portChannel } from '../../src/threads/channel.ts';
import { encodeFrame, type Frame } from '../../src/threads/frame.ts';

/** Every kind of channel must pass; `raw` puts what is no frame on the line towards the second end. */
const KINDS: { kind: string; open(): { ends: [Channel, Channel]; raw?: (value: unknown) => void } }[] = [
  { kind: 'in-process pair', open: () => ({ ends: channelPair(silentLogger) }) },
  {
    kind: 'message port',
    open() {
      const { port1, port2 } = new MessageChannel();
      return {
        ends: [portChannel(port1, silentLogger), portChannel(port2, silentLogger)],
        raw: (value) => port1.postMessage(value),
      };
    },
  },
];

for (const { kind, open } of KINDS) {
  describe(`a channel over a ${kind}`, () => {
    let ends: [Channel, Channel];
    let raw: ((value: unknown) => void) | undefined;
    const start = (): { frame: Frame; bulk: Uint8Array | null }[] => {
      ({ ends, raw } = open());
      const arrived: { frame: Frame; bulk: Uint8Array | null }[] = [];
      ends[1].onMessage((frame, bulk) => arrived.push({ frame, bulk }));
      return arrived;
    };
    afterEach(() => ends[0].close());

    it('delivers frames in order, asynchronously, and transfers bulk bytes', async () => {
      const arrived = start();
      const bulk = new Uint8Array([7, 8]);
      ends[0].post({ kind: 'event', name: 'a', payload: { at: 1 } }, bulk);
      ends[0].post({ kind: 'ping' });
      expect(arrived).toEqual([]);
      expect(bulk.byteLength).toBe(0);
      await vi.waitFor(() =>
        expect(arrived).toEqual([
          { frame: { kind: 'event', name: 'a', payload: { at: 1 } }, bulk: new Uint8Array([7, 8]) },
          { frame: { kind: 'ping' }, bulk: null },
        ]),
      );
    });

    it('buffers frames that arrive before it has a receiver', async () => {
      ({ ends } = open());
      ends[0].post({ kind: 'ping' });
      await new Promise((resolve) => setImmediate(resolve));
      const arrived: Frame[] = [];
      ends[1].onMessage((frame) => arrived.push(frame));
      await vi.waitFor(() => expect(arrived).toEqual([{ kind: 'ping' }]));
    });

    it('notifies both ends when it is closed, and a late listener too', async () => {
      start();
      const reasons: unknown[] = [];
      ends[1].onClose((reason) => reasons.push(reason));
      ends[0].close(new Error('enough'));
      await vi.waitFor(() => expect(reasons).toEqual([null]));
      ends[0].onClose((reason) => reasons.push(reason?.message));
      expect(reasons).toEqual([null, 'enough']);
      expect(() => ends[0].post({ kind: 'ping' })).not.toThrow();
    });

    it('is closed with an error by a message that is not a frame', async () => {
      start();
      const bad: unknown[] = [
        'text',
        { frame: new Uint8Array([0xc1]), bulk: null },
        { frame: encodeFrame({ kind: 'ping' }), bulk: 3 },
      ];
      for (const value of bad) {
        start();
        const reasons: (Error | null)[] = [];
        ends[1].onClose((reason) => reasons.push(reason));
        if (raw === undefined) ends[0].post({ kind: 'unheard-of' } as never);
        else raw(value);
        await vi.waitFor(() => expect(reasons[0]).toBeInstanceOf(Error));
        ends[0].close();
      }
    });
  });
}
