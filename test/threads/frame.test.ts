import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { CONTROL_KINDS, decodeFrame, encodeFrame } from '../../src/threads/frame.ts';

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

describe('a frame', () => {
  it('round-trips any plain data', () => {
    fc.assert(
      fc.property(
        fc.nat().map((n) => n + 1),
        fc.string(),
        json,
        (id, name, input) => {
          fc.pre(!JSON.stringify(input).includes('__proto__'));
          expect(decodeFrame(encodeFrame({ kind: 'call', id, name, input }))).toEqual({
            kind: 'call',
            id,
            name,
            input,
          });
        },
      ),
    );
  });

  it('may be without a body', () => {
    for (const kind of CONTROL_KINDS) expect(decodeFrame(encodeFrame({ kind }))).toEqual({ kind });
  });

  it('fills a buffer of its own, which can be transferred', () => {
    const bytes = encodeFrame({ kind: 'event', name: 'x', payload: null });
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  });

  it('of unknown kind, of wrong fields or that is not msgpack is an internal error', () => {
    const packr = new Packr();
    for (const bytes of [
      packr.pack({ kind: 'greeting' }),
      packr.pack({ kind: 'reply', id: 'one', value: 1 }),
      packr.pack('ping'),
      new Uint8Array([0xc1, 0xff]),
      new Uint8Array(0),
    ])
      expect(() => decodeFrame(bytes)).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});
