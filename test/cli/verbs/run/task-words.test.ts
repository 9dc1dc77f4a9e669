import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameOfTask, slugOfTask } from '../../../../src/cli/verbs/run/task-words.ts';
import { requireSlug } from '../../../../src/fibers/fiber-id.ts';

describe('the words of a task', () => {
  it.each([
    [
      'Write a HELLO.md that greets the reader.',
      'Write a HELLO.md that greets the reader.',
      'write-a-hello-md',
    ],
    ['  Say hello \n\nIn two languages.\n', 'Say hello', 'say-hello'],
    ['Überarbeite die Größe', 'Überarbeite die Größe', 'uberarbeite-die'],
    ['修复测试', '修复测试', '修复测试'],
    ['internationalization-everywhere now', 'internationalization-everywhere now', 'internationalization'],
    ['???', '???', ''],
    ['', '', ''],
  ])('%j is called %j, with the leaf %j', (text, name, slug) => {
    expect(nameOfTask(text)).toBe(name);
    expect(slugOfTask(name)).toBe(slug);
  });

  it('end between two words where the line is long', () => {
    const name = nameOfTask(`Look ${'again and '.repeat(20)}again`);
    expect(name).toMatch(/^Look (again and )+again…$|and…$/);
    expect(name.length).toBeLessThanOrEqual(81);
  });

  it('make a leaf that a fiber may have, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const slug = slugOfTask(nameOfTask(text));
        if (slug !== '') expect(requireSlug(slug)).toBe(slug);
      }),
    );
  });
});
