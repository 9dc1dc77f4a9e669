import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAttachments } from '../../../src/fibers/attachments/check-attachments.ts';
import { bodyOf, type SentImage, sentImage, sha256 } from './images.ts';

/** Code and index of the refusal of a batch; null when it is taken. */
function refusalOf(attachments: Partial<SentImage>[]): { code: string; index?: number } | null {
  try {
    checkAttachments(bodyOf(attachments));
    return null;
  } catch (error) {
    const { code, details } = error as { code: string; details: { index?: number; rule?: string } };
    if (details.rule !== undefined) expect(code).toBe(`attachment_${details.rule}`);
    return details.index === undefined ? { code } : { code, index: details.index };
  }
}

const MIMES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const withBytes = (bytes: Uint8Array, mime = 'image/png') => ({
  ...sentImage(mime),
  data: Buffer.from(bytes).toString('base64'),
  sha256: sha256(bytes),
});

describe('a batch of attachments', () => {
  it('[ATT-1] [LIM-2] accepts the four kinds of image, in the order of the request', () => {
    const sent = MIMES.map((mime, index) => sentImage(mime, 50 + index, index + 1));
    const { checked, bytes } = checkAttachments(bodyOf(sent));
    expect(checked).toMatchObject({ fiber: 'work/loader', dry_run: false });
    expect(checked.images.map(({ kept_as }) => kept_as.split('.')[1])).toEqual(['png', 'jpg', 'gif', 'webp']);
    for (const [index, image] of checked.images.entries()) {
      const decoded = bytes.subarray(image.offset, image.offset + image.size);
      expect(Buffer.from(decoded).equals(sent[index]!.bytes)).toBe(true);
      expect(image).toMatchObject({ name: sent[index]!.name, sha256: sent[index]!.sha256 });
    }
  });

  it('[ERR-3] [LIM-2] names an unsupported type, and bytes of another type', () => {
    expect(refusalOf([sentImage(), { ...sentImage(), mime: 'image/svg+xml' }])).toEqual({
      code: 'attachment_mime',
      index: 1,
    });
    expect(refusalOf([{ ...sentImage('image/gif'), mime: 'image/png' }])).toEqual({
      code: 'attachment_mime',
      index: 0,
    });
    expect(refusalOf([{ ...sentImage(), mime: 'constructor' }])).toMatchObject({ code: 'attachment_mime' });
    expect(refusalOf([withBytes(Buffer.from([0x89, 0x50]))])).toMatchObject({ code: 'attachment_mime' });
    expect(refusalOf([withBytes(Buffer.from('RIFF\0\0\0\0WAVE'), 'image/webp')])).toMatchObject({
      code: 'attachment_mime',
    });
  });

  it('[ERR-3] [LIM-3] accepts an image of 10 MB and refuses one more byte', () => {
    expect(refusalOf([sentImage('image/png', 10_000_000)])).toBeNull();
    expect(refusalOf([sentImage(), sentImage('image/png', 10_000_001)])).toEqual({
      code: 'attachment_size',
      index: 1,
    });
  });

  it('[ERR-3] [LIM-4] accepts eight images and refuses nine', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, seed) => sentImage('image/png', 60, seed));
    expect(refusalOf(many(8))).toBeNull();
    expect(refusalOf(many(9))).toEqual({ code: 'attachment_count' });
    expect(refusalOf([])).toEqual({ code: 'invalid_request' });
  });

  it('[ERR-3] [LIM-5] accepts 25 MB in total and refuses one more byte', () => {
    const two = [sentImage('image/png', 10_000_000, 1), sentImage('image/png', 10_000_000, 2)];
    expect(refusalOf([...two, sentImage('image/png', 5_000_000, 3)])).toBeNull();
    expect(refusalOf([...two, sentImage('image/png', 5_000_001, 3)])).toEqual({ code: 'attachment_total' });
  });

  it('[ERR-3] names data that is not base64', () => {
    const { data } = sentImage();
    for (const wrong of ['', 'not base64!', `${data.slice(0, 8)}\n${data.slice(8)}`, data.slice(0, -1)])
      expect(refusalOf([{ ...sentImage(), data: wrong }]), wrong).toEqual({
        code: 'attachment_decode',
        index: 0,
      });
    expect(refusalOf([{ ...sentImage(), data: `data:image/png;base64,${data}` }])).toMatchObject({
      code: 'attachment_decode',
    });
  });

  it('[ERR-3] names a digest that is not that of the bytes, in whatever case it is written', () => {
    const image = sentImage();
    expect(refusalOf([{ ...image, sha256: image.sha256.toUpperCase() }])).toBeNull();
    expect(refusalOf([sentImage(), { ...image, sha256: sentImage('image/png', 10).sha256 }])).toEqual({
      code: 'attachment_sha256',
      index: 1,
    });
  });

  it('[ERR-3] names the first broken rule if several are broken', () => {
    const large = sentImage('image/png', 10_000_001);
    expect(refusalOf([large, { ...sentImage(), mime: 'text/html' }])).toMatchObject({
      code: 'attachment_mime',
    });
    const many = Array.from({ length: 9 }, () => sentImage('image/png', 3_000_000));
    expect(refusalOf([...many.slice(1), large])).toMatchObject({ code: 'attachment_size' });
    expect(refusalOf(many)).toMatchObject({ code: 'attachment_count' });
    const undecoded = { ...sentImage(), data: 'not base64!' };
    const unsigned = { ...sentImage(), mime: 'image/gif' };
    const undigested = { ...sentImage(), sha256: sentImage('image/png', 10).sha256 };
    expect(refusalOf([undigested, unsigned, undecoded])).toEqual({ code: 'attachment_decode', index: 2 });
    expect(refusalOf([undigested, unsigned])).toEqual({ code: 'attachment_mime', index: 1 });
  });

  it('[ERR-3] refuses a malformed request', () => {
    const codeOf = (text: string | Uint8Array) => {
      try {
        checkAttachments(typeof text === 'string' ? new TextEncoder().encode(text) : text);
        return null;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(codeOf('{')).toBe('invalid_json');
    expect(codeOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe('invalid_json');
    expect(codeOf('')).toBe('invalid_json');
    expect(codeOf('[]')).toBe('invalid_request');
    expect(codeOf('{"fiber":"","attachments":[]}')).toBe('invalid_request');
  });

  it('[ATT-1] returns every byte of any image', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 8 }), (tails) => {
        const sent = tails.map((tail) => Buffer.concat([sentImage('image/gif', 6).bytes, tail]));
        const { checked, bytes } = checkAttachments(
          bodyOf(sent.map((image) => withBytes(image, 'image/gif'))),
        );
        for (const [index, { offset, size }] of checked.images.entries())
          expect(Buffer.from(bytes.subarray(offset, offset + size)).equals(sent[index]!)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
