import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageFiles } from '../../../src/fibers/attachments/check-message-files.ts';
import { FILE_MESSAGE, fileMessageBody, sentFile } from './message-files.ts';

type Refusal = { code: string; message: string; issues: { path: string; message: string }[] };

/** Null for a message that is accepted. */
function refusalOf(attachments: unknown, more: object = {}): Refusal | null {
  try {
    checkMessageFiles(fileMessageBody(attachments, more));
    return null;
  } catch (error) {
    const { code, message, details } = error as { code: string; message: string; details: Refusal };
    return { code, message, issues: details.issues };
  }
}
const MIB = 1024 * 1024;

describe('the files of a message', () => {
  it('[MSG-4] [WPL-24] are decoded in the order of the request, beside the message', () => {
    const sent = [sentFile('b.txt', 'second'), sentFile('a b.tar.gz', ''), sentFile('.env', 'x')];
    const { checked, bytes } = checkMessageFiles(fileMessageBody(sent, { wake: true, origin: 'here' }));
    expect(checked).toEqual({
      ...{ ...FILE_MESSAGE, wake: true },
      files: [
        { name: 'b.txt', kept_as: 'b.txt', sha256: sent[0]!.sha256, offset: 0, size: 6 },
        { name: 'a b.tar.gz', kept_as: 'a b.tar.gz', sha256: sent[1]!.sha256, offset: 6, size: 0 },
        { name: '.env', kept_as: '.env', sha256: sent[2]!.sha256, offset: 6, size: 1 },
      ],
    });
    expect(Buffer.from(bytes).toString()).toBe('secondx');
  });

  it('[MSG-4] keep every byte', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 8 }), (all) => {
        const { checked, bytes } = checkMessageFiles(
          fileMessageBody(all.map((content, index) => sentFile(`${index}.bin`, content))),
        );
        for (const [index, { offset, size }] of checked.files.entries())
          expect(Buffer.from(bytes.subarray(offset, offset + size)).equals(all[index]!)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    '..',
    '.',
    '',
    'a/b',
    '../a',
    '/etc/passwd',
    'a\\b',
    'C:a',
    'a\u0000',
    'a\nb',
    'a\u202eb',
    'a\ud800',
  ])('[MSG-4] are refused under the name %j', (name) => {
    expect(refusalOf([sentFile('a'), { ...sentFile('b'), name }])).toMatchObject({
      code: 'invalid_request',
      issues: [{ path: 'attachments.1.name', message: expect.stringContaining('rename the file') }],
    });
  });

  it.each(['CON', 'nul.txt', 'Com1.tar.gz', 'LPT³', 'aux .c', 'a.', 'a ', ' a', 'what?', 'é'.repeat(128)])(
    '[MSG-4] are refused under the name %j, which is not one on every system',
    (name) => {
      expect(refusalOf([{ ...sentFile('b'), name }])?.issues).toMatchObject([{ path: 'attachments.0.name' }]);
    },
  );

  it.each(['console.log', 'con-text', 'com10', '.gitignore', 'naïve 👨‍👩‍👧.png', '😀', 'a'.repeat(255)])(
    '[MSG-4] are accepted under the name %j',
    (name) => {
      expect(refusalOf([sentFile(name)])).toBeNull();
    },
  );

  it.each([
    ['a.txt', 'A.TXT'],
    ['caf\u00e9', 'cafe\u0301'],
    ['straße', 'STRASSE'],
  ])('[MSG-4] are refused where two have one name: %j and %j', (one, other) => {
    expect(refusalOf([sentFile(one), sentFile(other)])?.issues).toMatchObject([
      { path: 'attachments.1.name', message: expect.stringContaining('rename one') },
    ]);
  });

  it('[MSG-4] [LIM-8] are 1 to 8', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => sentFile(`${index}.txt`));
    expect(refusalOf(many(8))).toBeNull();
    for (const count of [0, 9])
      expect(refusalOf(many(count))?.message).toBe('attachments takes 1 to 8 files.');
    expect(refusalOf(undefined)).toMatchObject({ code: 'invalid_request' });
  });

  it('[MSG-4] [LIM-8] have 20 MiB together, which is judged before anything is decoded', () => {
    const two = [sentFile('a', Buffer.alloc(12 * MIB)), sentFile('b', Buffer.alloc(8 * MIB))];
    expect(refusalOf(two)).toBeNull();
    expect(refusalOf([...two, sentFile('c', 'x')])?.message).toContain('20971521 bytes');
    const undecodable = { ...sentFile('a'), data: '!'.repeat(28 * MIB) };
    expect(refusalOf([undecodable])?.message).toContain('together they may have 20971520');
  });

  it.each(['!', 'YQ', 'YQ=', 'YQ==\n', 'Y Q==', 'YR==', '_-8=', 'data:text/plain;base64,YQ=='])(
    '[MSG-4] are refused with the data %j, which is not base64',
    (data) => {
      expect(refusalOf([sentFile('a'), { ...sentFile('b'), data }])?.issues).toMatchObject([
        { path: 'attachments.1.data', message: expect.stringContaining('b is not base64') },
      ]);
    },
  );

  it('[MSG-4] are refused with a digest that is not theirs, or not in lowercase', () => {
    const file = sentFile('a');
    const digestOf = (sha256: string) => refusalOf([{ ...file, sha256 }])?.issues[0];
    expect(digestOf(sentFile('b').sha256)?.message).toContain(file.sha256);
    for (const sha256 of [file.sha256.toUpperCase(), '', file.sha256.slice(1)])
      expect(digestOf(sha256)?.message).toContain('64 lowercase hexadecimal digits');
  });

  it('[MSG-4] are refused with a message that /messages would not take', () => {
    expect(refusalOf([sentFile('a')], { text: ' ' })).toMatchObject({ issues: [{ path: 'text' }] });
    expect(refusalOf([sentFile('a')], { message_id: '../a' })).toMatchObject({
      issues: [{ path: 'message_id' }],
    });
  });
});
