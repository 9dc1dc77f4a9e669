import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePath, parseQuery } from '../../src/http/request-head.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => value.isWellFormed());
const hostile = fc.constantFrom('%', '2', 'e', 'E', 'f', 'F', '0', '.', '/', '\0', 'a', 'é');

describe('decodePath', () => {
  it('returns what was percent-encoded, unless it is a dot segment or contains NUL', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (segments) => {
        const decoded = decodePath(`/${segments.map(encodeURIComponent).join('/')}`);
        const refused = segments.some(
          (segment) =>
            segment.includes('\0') || segment.split('/').some((part) => part === '.' || part === '..'),
        );
        if (refused) expect(decoded.ok).toBe(false);
        else expect(decoded).toEqual({ ok: true, segments });
      }),
    );
  });

  it('never throws, and never yields a dot segment or NUL', () => {
    fc.assert(
      fc.property(fc.string({ unit: hostile }), (raw) => {
        const decoded = decodePath(`/${raw}`);
        if (!decoded.ok) return;
        const parts = decoded.segments.join('/').split('/');
        expect(parts.some((part) => part === '.' || part === '..' || part.includes('\0'))).toBe(false);
      }),
    );
  });
});

describe('parseQuery', () => {
  it('returns what URLSearchParams encoded', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (values) => {
        expect(parseQuery(new URLSearchParams(values).toString())).toEqual({ ok: true, values });
      }),
    );
  });
});
