import { describe, expect, it } from 'vitest';
import { isSafeId, requireSlug, slugFromName } from '../../src/fibers/fiber-id.ts';

describe('the slug of a name', () => {
  it.each([
    ['Say hello, again!', 'say-hello-again'],
    ['Café Ångström', 'cafe-angstrom'],
    ['日本語の仕事', '日本語の仕事'],
    ['ログを直す', 'ログを直す'],
    ['Починить загрузчик', 'починить-загрузчик'],
    ['हिन्दी काम', 'हिन्दी-काम'],
    ['한국어 작업', '한국어-작업'],
    ['إصلاح المحمل', 'إصلاح-المحمل'],
    ['Fix ログ 2', 'fix-ログ-2'],
    ['a/b\\\\c: d', 'a-b-c-d'],
    ['x'.repeat(70), 'x'.repeat(60)],
    ['🎉', ''],
    ['', ''],
  ])('of %j is %j', (name, slug) => expect(slugFromName(name)).toBe(slug));

  it('is a slug and a safe id, whatever the script, and cuts no letter', () => {
    for (const name of ['語'.repeat(100), '𠮷'.repeat(100), 'ก็'.repeat(100)]) {
      const slug = slugFromName(name);
      expect(slug.isWellFormed()).toBe(true);
      expect(requireSlug(slug)).toBe(slug);
      expect(isSafeId(slug)).toBe(true);
    }
  });

  it.each(['', '-a', 'a b', 'a/b', '..', 'a.b', '語'.repeat(80)])('is refused as %j', (slug) =>
    expect(() => requireSlug(slug)).toThrow('cannot be a slug'),
  );
});
