import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isCoded } from '../../src/base/errors.ts';
import { DOCUMENT_LIMITS, FIELD_LIMITS, WRITE_LIMITS } from '../../src/contract/document-limits.ts';
import { type DocumentEdit, editDocument } from '../../src/fibers/edit.ts';
import { readFields } from '../../src/fibers/fields.ts';
import { readFrontmatter, splitFrontmatter } from '../../src/fibers/frontmatter.ts';
import { applySplices, type Splice } from '../../src/fibers/yaml-splice.ts';

const NOW = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
const STAMP = '2026-02-03T04:05:06.789Z';

const scalarSource = fc.constantFrom(
  ...[
    'x',
    '12',
    'true',
    '',
    '~',
    '"quoted # text"',
    "'it'",
    '2026-01-31T02:40:05.884Z',
    'a b c',
    '007',
    'http://x/y',
  ],
);
const comment = fc.constantFrom('', '', '', '  # why', ' #');
const flowSource = fc.constantFrom(
  '[a, b]',
  '[]',
  '{}',
  '{a: 1, b: "x, y"}',
  '{ a: 1 , c: [1, 2] }',
  '[ "x", y ]',
);
const scalarKey = fc.constantFrom('name', 'outcome', 'horizon', 'zeta', 'due', 'k-1', 'start');
/** One top-level entry as it may stand in a file: its lines, and its key. */
const entry = fc.oneof(
  fc
    .tuple(scalarKey, fc.oneof(scalarSource, flowSource), comment)
    .map(([key, value, note]) => ({ key, lines: [`${key}: ${value}${note}`] })),
  fc
    .constantFrom('- a', '  - a')
    .map((item) => ({ key: 'list', lines: ['list: # items', item, `${item} # b`] })),
  fc
    .constantFrom('|', '>-', '|+')
    .map((style) => ({ key: 'text', lines: [`text: ${style}`, '  one', '', '  two'] })),
  fc
    .array(
      fc.tuple(fc.constantFrom('a', 'b', 'agent', 'host'), fc.oneof(scalarSource, flowSource), comment),
      { minLength: 1, maxLength: 3 },
    )
    .map((rows) => ({
      key: 'block',
      lines: [
        'block:',
        ...new Map(rows.map(([k, v, note]) => [k, `  ${k}: ${v}${note}`])).values(),
        '  deep:',
        '    x: 1',
        '    # inside',
        '    y: 2',
      ],
    })),
  fc.constant({ key: 'long', lines: ['long: several words', '  that go on'] }),
);
const separator = fc.constantFrom<string[]>([], [], ['# a comment'], ['', '# another'], ['']);
const document = fc
  .record({
    entries: fc.uniqueArray(entry, { selector: (row) => row.key, maxLength: 6 }),
    separators: fc.array(separator, { minLength: 7, maxLength: 7 }),
    eol: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\uFEFF'),
    body: fc.constantFrom('', 'body\n', '\n# Title\r\n\ntext without end', '---\nnot a fence\n'),
    finalEol: fc.boolean(),
  })
  .map(({ entries, separators, eol, mark, body, finalEol }) => {
    const yaml = entries
      .flatMap((row, index) => [...separators[index]!, ...row.lines])
      .concat(separators[6]!);
    const closing = body === '' && !finalEol ? '---' : `---${eol}`;
    return { text: `${mark}---${eol}${yaml.map((line) => line + eol).join('')}${closing}${body}`, entries };
  });
const newValue = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc.constantFrom(
    'a, b',
    'x: y',
    '# no',
    "it's",
    'two\nlines',
    '2026-02-14',
    'null',
    '12',
    '',
    ' padded ',
    '- x',
    '[z',
  ),
  fc.boolean(),
  fc.integer(),
  fc.array(fc.constantFrom('a', 'b, c', 'd: e', ''), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.string({ maxLength: 4 }), fc.constant(['p'])), {
    maxKeys: 2,
  }),
);
const path = fc.constantFrom(
  'outcome',
  'zeta',
  'text',
  'long',
  'list',
  'block',
  'block.a',
  'block.deep.x',
  'block.new',
  'zeta.inner',
  'fresh',
  'fresh.a.b',
  'name.a',
);
const change = fc.record({
  set: fc.dictionary(path, newValue, { maxKeys: 3 }),
  unset: fc.array(path, { maxLength: 2 }),
});

function dataOf(text: string): Record<string, unknown> {
  return (parse(splitFrontmatter(text)!.yaml) as Record<string, unknown> | null) ?? {};
}

describe('editDocument', () => {
  it('parses to the expected model and keeps the bytes of every unaffected key', {
    timeout: 60_000,
  }, () => {
    let applied = 0;
    fc.assert(
      fc.property(document, change, ({ text, entries }, edit) => {
        let edited: string;
        try {
          edited = editDocument(text, edit, NOW);
        } catch (error) {
          expect(isCoded(error, 'invalid_request')).toBe(true);
          return;
        }
        applied += 1;
        const splices: Splice[] = [
          ...edit.unset.map((key): Splice => ({ path: key.split('.'), remove: true })),
          ...Object.entries(edit.set).map(([key, value]): Splice => ({ path: key.split('.'), value })),
          { path: ['updated-at'], value: STAMP },
        ];
        const expected = applySplices(dataOf(text), splices).model!;
        expect(dataOf(edited)).toEqual(expected);
        expect(splitFrontmatter(edited)!.body).toBe(splitFrontmatter(text)!.body);
        const touched = new Set(splices.map((splice) => splice.path[0]));
        for (const row of entries) {
          if (touched.has(row.key)) continue;
          const eol =
            text.includes('\r\n---') || text.startsWith('---\r') || text.startsWith('\uFEFF---\r')
              ? '\r\n'
              : '\n';
          expect(edited).toContain(row.lines.map((line) => line + eol).join(''));
        }
        for (const note of ['# a comment', '# another']) {
          if (!text.includes(note)) continue;
          expect(edited.split(note).length).toBe(text.split(note).length);
        }
      }),
      { numRuns: 300 },
    );
    expect(applied).toBeGreaterThan(60);
  });

  it('never reports a document as invalid that the YAML library can read', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(document, newValue, ({ text }, value) => {
        expect(dataOf(editDocument(text, { set: { extra: value } }, NOW)).extra).toEqual(value);
      }),
      { numRuns: 150 },
    );
  });

  const before = [
    '---',
    '# made by hand',
    "id: '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z'   # never changes",
    'name:   Rewrite the loader',
    'status: active # armed',
    'tags: [ methods,  "a b" ]',
    'unknown: {keep:   me}',
    'svc:',
    '    kind: oneshot # indent of four',
    '    # about the host',
    '    host: host-a',
    '    runtime: {run_id: r1}',
    'outcome: old',
    '---',
    '',
    'Body  ',
    '',
  ].join('\n');

  it('[FIB-4] stamps closed-at when the status becomes closed and removes it when it is reopened', () => {
    const closed = editDocument(before, { set: { status: 'closed' } }, NOW);
    expect(closed).toBe(
      before
        .replace('status: active # armed', 'status: closed # armed')
        .replace('outcome: old\n', `outcome: old\nclosed-at: ${STAMP}\nupdated-at: ${STAMP}\n`),
    );
    const later = editDocument(closed, { set: { outcome: 'new' } }, NOW + 1000);
    expect(dataOf(later)['closed-at']).toBe(STAMP);
    expect(dataOf(editDocument(later, { set: { status: 'open' } }, NOW))).not.toHaveProperty('closed-at');
  });

  it('[FIB-14] keeps dates, sets, ordered maps and binary values that the first write of a document meets', () => {
    const kept = [
      'name: x',
      'at: !!timestamp 2026-12-24T18:00:00Z',
      'todo: !!set {milk, eggs}',
      'plan: !!omap [ first: a, second: b ]',
      'pic: !!binary aGVsbG8=',
      'deep:',
      '  at: !!timestamp 2026-12-24',
    ].join('\n');
    const text = `---\n${kept}\n---\n`;
    const edited = editDocument(text, { set: { outcome: 'hi' } }, NOW);
    expect(edited).toBe(`---\n${kept}\noutcome: hi\nupdated-at: ${STAMP}\n---\n`);
    expect(editDocument(text, { set: { 'deep.more': 1 } }, NOW)).toContain(
      '\n  at: !!timestamp 2026-12-24\n  more: 1\n',
    );
  });

  it('refuses to copy a value that its keys do not hold', () => {
    expect(() => applySplices({ at: new Date(NOW) }, [])).toThrow('Date');
  });

  it('changes a nested value and inserts beside it with the indentation of its siblings', () => {
    const edited = editDocument(
      before,
      {
        set: { 'svc.kind': 'standing', 'svc.agent': 'claude', 'svc.runtime.harness': 'pi, x' },
        unset: ['svc.host'],
      },
      NOW,
    );
    expect(edited).toContain(
      [
        'svc:',
        '    kind: standing # indent of four',
        '    # about the host',
        '    runtime: {run_id: r1, harness: "pi, x"}',
        '    agent: claude',
        'outcome: old',
      ].join('\n'),
    );
  });

  it('adds frontmatter to a document without it, and keeps its text as the body', () => {
    expect(editDocument('Just text\n', { set: { name: 'N' } }, NOW)).toBe(
      `---\nname: N\nupdated-at: ${STAMP}\n---\nJust text\n`,
    );
    expect(editDocument('', { set: { name: 'N' }, body: 'B' }, NOW)).toBe(
      `---\nname: N\nupdated-at: ${STAMP}\n---\nB`,
    );
  });

  it.each([
    ['---\nname: [a\n---\nbody\n', 'line 3'],
    ['---\nname: a\nname: b\n---\n', 'line 3'],
    ['---\nname: a\n', 'never closed'],
    ['---\n- a\n---\n', 'not a map'],
  ])('refuses to write %j', (text, reason) => {
    expect(() => editDocument(text, { set: { name: 'x' } }, NOW)).toThrow(reason);
    expect(
      isCoded(
        attempt(() => editDocument(text, {}, NOW)),
        'invalid_document',
      ),
    ).toBe(true);
  });

  it('refuses a change that would break an alias', () => {
    const text = '---\nbase: &b {x: 1}\nother: *b\n---\n';
    expect(
      isCoded(
        attempt(() => editDocument(text, { unset: ['base'] }, NOW)),
        'invalid_document',
      ),
    ).toBe(true);
    expect(dataOf(editDocument(text, { set: { 'other.x': 2 } }, NOW))).toMatchObject({
      base: { x: 1 },
      other: { x: 2 },
    });
  });

  it.each([
    [{ set: { status: 'done' } }, 'open, active, closed'],
    [{ set: { 'svc.kind': 'robot' } }, 'oneshot'],
    [{ set: { id: '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8A' } }, 'never changed'],
    [{ unset: ['id'] }, 'never changed'],
    [{ set: { 'outcome.x': 1 } }, 'not a map'],
    [{ set: { 'a..b': 1 } }, 'path'],
    [{ set: { '__proto__.x': 1 } }, 'path'],
  ])('[FIB-2] refuses %j', (edit, reason) => {
    expect(() => editDocument(before, edit, NOW)).toThrow(reason);
    expect(
      isCoded(
        attempt(() => editDocument(before, edit, NOW)),
        'invalid_request',
      ),
    ).toBe(true);
  });
});

describe('the limits of one write', () => {
  const plain = '---\nname: A\nstatus: open\n---\nbody\n';
  const keys = (count: number, value: unknown = 'v') =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`k${nth}`, value]));
  const edited = (edit: DocumentEdit, text = plain) => editDocument(text, edit, NOW);

  it('applies as many keys as the limit allows, and refuses one more', () => {
    const most = edited({ set: keys(WRITE_LIMITS.set_keys, 'a: b') });
    expect(dataOf(most)).toMatchObject(keys(WRITE_LIMITS.set_keys, 'a: b'));
    expect(dataOf(edited({ unset: Object.keys(keys(WRITE_LIMITS.unset_keys)) }, most))).toEqual({
      name: 'A',
      status: 'open',
      'updated-at': STAMP,
    });
    expect(() => edited({ set: keys(WRITE_LIMITS.set_keys + 1) })).toThrow('takes at most 200');
    const unset = Object.keys(keys(WRITE_LIMITS.unset_keys + 1));
    expect(() => edited({ unset })).toThrow('takes at most 200');
    expect(() => edited({ set: keys(1_000) })).toThrow('takes at most 200');
  });

  it.each<[string, unknown, unknown, string]>([
    ['name', 'x'.repeat(FIELD_LIMITS.name_chars), 'x'.repeat(FIELD_LIMITS.name_chars + 1), '500'],
    ['outcome', 'x'.repeat(FIELD_LIMITS.outcome_chars), 'x'.repeat(300_000), 'KiB of text'],
    ['outcome', 'x', 'x'.repeat(FIELD_LIMITS.outcome_chars + 1), '32768 characters'],
    ['svc.agent', 'x'.repeat(FIELD_LIMITS.text_chars), 'x'.repeat(FIELD_LIMITS.text_chars + 1), '4096'],
    ['tags', tagList(FIELD_LIMITS.tags), tagList(FIELD_LIMITS.tags + 1), 'at most 1000 entries'],
    ['tags', [], tagList(30_000), '10000 keys and values'],
    [
      'tags',
      ['x'.repeat(FIELD_LIMITS.tag_chars)],
      ['x'.repeat(FIELD_LIMITS.tag_chars + 1)],
      '200 characters',
    ],
    ['extra', nest(DOCUMENT_LIMITS.depth - 1), nest(DOCUMENT_LIMITS.depth), '32 deep'],
    ['extra', 'well \u{1f600} formed', 'half \ud83d', 'surrogate'],
    ['a.b.c', nest(DOCUMENT_LIMITS.depth - 3), nest(DOCUMENT_LIMITS.depth - 2), '32 deep'],
  ])('accepts %s at its limit and refuses it one above', (key, most, over, reason) => {
    const text = edited({ set: { [key]: most } });
    expect(readFrontmatter(splitFrontmatter(text)!.yaml).problem).toBeNull();
    expect(readFields(readFrontmatter(splitFrontmatter(text)!.yaml).data, 'a').problem).toBeNull();
    expect(() => edited({ set: { [key]: over } })).toThrow(reason);
  });

  it('refuses frontmatter that exceeds its limits, and reserves room for keys of the daemon', () => {
    const long = 'x'.repeat(60_000);
    const full = edited({ set: { a: long, b: long, c: long, d: long } });
    const error = attempt(() => edited({ set: { e: long } }, full));
    expect(isCoded(error, 'body_too_large')).toBe(true);
    const brim = edited({ set: { e: 'x'.repeat(5_600) } }, full);
    expect(() => edited({ set: { f: 'x'.repeat(500) } }, brim)).toThrow('may have 245760');
    const noted = edited({ set: { status: 'closed', 'svc.runtime.run_id': 'r'.repeat(1_000) } }, brim);
    expect(dataOf(edited({ unset: ['svc.runtime'] }, noted))).not.toHaveProperty('svc');
    expect(dataOf(edited({ unset: ['a'] }, noted))).not.toHaveProperty('a');
    expect(() => edited({ set: { list: Array.from({ length: 9_000 }, () => 'x') } })).toThrow('YAML tokens');
  });

  it('produces only documents that our reader accepts, and every edit can be undone', {
    timeout: 180_000,
  }, () => {
    fc.assert(
      fc.property(document, fc.array(bigChange, { minLength: 1, maxLength: 4 }), ({ text }, edits) => {
        let now = text;
        for (const edit of edits) {
          let next: string;
          try {
            next = editDocument(now, edit, NOW);
          } catch (error) {
            expect(isCoded(error, 'invalid_request') || isCoded(error, 'body_too_large')).toBe(true);
            continue;
          }
          const before = dataOf(now);
          const read = readFrontmatter(splitFrontmatter(next)!.yaml);
          expect(read.problem).toBeNull();
          // An edit may fix a field that was not valid before.
          expect([null, readFields(before, 'a').problem]).toContainEqual(readFields(read.data, 'a').problem);
          const touched = Object.keys(edit.set!).map((path) => path.split('.')[0]!);
          const undo: DocumentEdit = {
            set: Object.fromEntries(touched.filter((key) => key in before).map((key) => [key, before[key]])),
            unset: touched.filter((key) => !(key in before)),
          };
          // A value that its field does not take cannot be written back.
          if (readFields(before, 'a').problem === null) {
            const undone = dataOf(editDocument(next, undo, NOW));
            for (const key of touched) expect(undone[key]).toEqual(before[key]);
          }
          expect(dataOf(editDocument(next, { set: { 'svc.runtime': { run_id: 'r' } } }, NOW))).toHaveProperty(
            'svc.runtime.run_id',
            'r',
          );
          now = next;
        }
      }),
      { numRuns: 8 },
    );
  });
});

/** Values up to the limits and beyond. */
const bigChange = fc.record({
  set: fc.dictionary(
    fc.constantFrom('outcome', 'tags', 'extra', 'more', 'block', 'block.a', 'due', 'list'),
    fc.oneof(
      newValue,
      fc.constantFrom(1, 100, 5_000, 70_000).map((count) => 'ab: \n'.repeat(count / 5 + 1)),
      fc.constantFrom(3, 999, 1_000, 1_001, 4_000).map((count) => Array.from({ length: count }, () => 'tag')),
      fc.constantFrom(1, 50).map((count) => Array.from({ length: count }, () => 't: x')),
      fc.constantFrom(2, 30, 31, 32).map(nest),
    ),
    { minKeys: 1, maxKeys: 3 },
  ),
});

function tagList(count: number): string[] {
  return Array.from({ length: count }, (_, nth) => `t${nth}`);
}

function nest(deep: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < deep; level += 1) value = [value];
  return value;
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
