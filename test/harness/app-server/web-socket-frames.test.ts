import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameReader, OPCODES } from '../../../src/harness/app-server/web-socket-frames.ts';

/** The frame as a server sends it: without the mask of a client. */
function unmasked(frame: Buffer): Buffer {
  const start = [126, 127].includes(frame[1]! & 0x7f) ? ((frame[1]! & 0x7f) === 126 ? 4 : 10) : 2;
  const head = Buffer.from(frame.subarray(0, start));
  head[1] = head[1]! & 0x7f;
  const mask = frame.subarray(start, start + 4);
  return Buffer.concat([head, frame.subarray(start + 4).map((byte, at) => byte ^ mask[at % 4]!)]);
}

describe('frames of a WebSocket', () => {
  it('read the same however the bytes are cut, at every form of their length', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(125, 126, 65_535, 65_536).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.integer({ min: 1, max: 50_000 }), (texts, cut) => {
        const bytes = Buffer.concat(
          texts.map((one) => unmasked(encodeFrame(OPCODES.text, Buffer.from(one)))),
        );
        const reader = new FrameReader(1_000_000);
        const step = Math.max(cut, Math.ceil(bytes.length / 200));
        const read: string[] = [];
        for (let at = 0; at < bytes.length; at += step)
          for (const frame of reader.push(bytes.subarray(at, at + step))) read.push(frame.payload.toString());
        expect(read).toEqual(texts);
      }),
      { numRuns: 60 },
    );
  });

  it('are refused when they are longer than is read, masked, or use a reserved bit', () => {
    const long = unmasked(encodeFrame(OPCODES.text, Buffer.alloc(70_000)));
    expect(() => new FrameReader(69_999).push(long.subarray(0, 10))).toThrow(/longer/);
    expect(() => new FrameReader(100).push(encodeFrame(OPCODES.text, Buffer.from('x')))).toThrow(/protocol/);
    expect(() => new FrameReader(100).push(Buffer.from([0xc1, 0x00]))).toThrow(/protocol/);
  });
});
