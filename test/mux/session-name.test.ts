import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ANCHOR_SESSION,
  captureSessionName,
  isEscaped,
  isNeverWorker,
  isSessionName,
  parseWorkerSessionName,
  resumeSessionName,
  workerSessionName,
} from '../../src/mux/session-name.ts';

const UID = '01K2Z3V4W5X6Y7Z8A9B0C1D2E3';
const ulid = fc
  .array(fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'), { minLength: 26, maxLength: 26 })
  .map((letters) => letters.join(''));

describe('session names', () => {
  it('[DSP-9] names a worker <leaf>-<uid>-svc', () => {
    expect(workerSessionName('loader', UID)).toBe(`loader-${UID}-svc`);
  });

  it.each([
    'über-fäden',
    'two words',
    'x+y=z',
    '-dash',
    '#(id) #{pid} #[fg=red]',
    'a,b}{c',
    '日本語のしごと',
    '👩‍💻 é',
    `it's "q" ;`,
    'あ'.repeat(66),
  ])('[DSP-9] keeps every character of the leaf %j, as tmux does', (leaf) => {
    expect(workerSessionName(leaf, UID)).toBe(`${leaf}-${UID}-svc`);
  });

  it.each([
    ['v1.2', 'v1_2'],
    ['a:b', 'a_b'],
    ['$HOME \\n', '_HOME _n'],
    ['a\u0007\u0085\u2028b', 'a___b'],
    ['txt\u202egpj', 'txt_gpj'],
    ['', '_'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['é'.repeat(101), 'é'.repeat(100)],
  ])('[DSP-9] replaces what tmux does not keep in the leaf %j', (leaf, kept) => {
    expect(workerSessionName(leaf, UID)).toBe(`${kept}-${UID}-svc`);
  });

  it('[DSP-9] refuses a fiber without a ULID', () => {
    for (const uid of ['', 'abc', UID.toLowerCase(), `${UID}0`, `${UID.slice(1)}I`]) {
      expect(() => workerSessionName('loader', uid)).toThrow(
        expect.objectContaining({ code: 'uid_missing' }),
      );
    }
  });

  it('[DSP-9] recovers leaf and uid, whatever the leaf is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), ulid, (leaf, uid) => {
        const name = workerSessionName(leaf, uid);
        expect(parseWorkerSessionName(name)?.uid).toBe(uid);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200 + 1 + 26 + 4);
        expect(isSessionName(name)).toBe(true);
      }),
    );
  });

  it('[DSP-9] recognises a name that tmux escaped', () => {
    expect(isEscaped('a\\340\\242\\217b', 'a\u088fb')).toBe(true);
    for (const written of ['a\u088fb', 'ab', 'a\\340b']) expect(isEscaped(written, 'a\u088fb')).toBe(false);
  });

  it('[DSP-9] parses the name from the right', () => {
    expect(parseWorkerSessionName(`a-${UID}-svc-${UID}-svc`)).toEqual({ leaf: `a-${UID}-svc`, uid: UID });
  });

  it('[DSP-10] never takes a past conversation or the anchor for a worker', () => {
    const uuid = '0b5e1f6c-6f2e-4a52-9f0e-2f1f3c1d9a77';
    for (const name of [ANCHOR_SESSION, resumeSessionName(uuid)]) expect(isNeverWorker(name)).toBe(true);
    for (const name of [captureSessionName(uuid), `loader-${UID}-svc`, 'desk', 'svc'])
      expect(isNeverWorker(name)).toBe(false);
  });

  it('[DSP-10] does not count the anchor, resumed sessions and other sessions as workers', () => {
    for (const name of [
      ANCHOR_SESSION,
      resumeSessionName('0b5e1f6c-6f2e-4a52-9f0e-2f1f3c1d9a77'),
      captureSessionName('0b5e1f6c-6f2e-4a52-9f0e-2f1f3c1d9a77'),
      `loader-${UID}`,
      `loader-${UID}-svc2`,
      `${UID}-svc`,
      'work',
      `loader-${UID.toLowerCase()}-svc`,
    ]) {
      expect(parseWorkerSessionName(name)).toBeNull();
    }
  });
});
