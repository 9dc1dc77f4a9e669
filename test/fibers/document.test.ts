import { describe, expect, it } from 'vitest';
import { MAX_DOCUMENT_BYTES, parseDocument, parseRow } from '../../src/fibers/document.ts';
import { readFields } from '../../src/fibers/fields.ts';

const PLACE = {
  store: '/store',
  path: '/store/.fibers/work/loader/loader.md',
  relativePath: 'work/loader/loader.md',
};
const ULID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z';
const read = (text: string | Buffer) => parseDocument(Buffer.from(text as string), PLACE);

describe('parseDocument', () => {
  it('[FIB-1] [FIB-2] [FIB-3] [FIB-4] [FIB-5] [FIB-6] [FIB-8] [FIB-9] [FIB-13] maps frontmatter to the fields', () => {
    const text = [
      '---',
      `id: ${ULID}`,
      'name: Rewrite the loader',
      'status: closed',
      'tempered: false',
      'tags: [methods, 2026]',
      'created-at: 2026-01-31T02:40:05.884Z',
      'closed-at: 2026-02-01',
      'collaboration: {reviewer: [ada], editor: []}',
      'unknown: {x: 1}',
      'svc:',
      '  kind: standing',
      '  host: host-a',
      '  surface: app',
      '  extra: kept',
      '  runtime: {dispatched_at: 2026-01-31T02:40:05.884Z, meeting: m1}',
      '---',
      'Body',
    ].join('\n');
    const document = read(text);
    expect(document).toEqual({
      id: 'work/loader',
      leaf: 'loader',
      store: '/store',
      path: PLACE.path,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      uid: ULID,
      name: 'Rewrite the loader',
      status: 'closed',
      tempered: false,
      tags: ['methods', '2026'],
      created_at: '2026-01-31T02:40:05.884Z',
      closed_at: '2026-02-01',
      collaboration: { reviewer: ['ada'], editor: [] },
      svc: {
        kind: 'standing',
        host: 'host-a',
        surface: 'app',
        extra: 'kept',
        runtime: { dispatched_at: '2026-01-31T02:40:05.884Z', meeting: 'm1' },
      },
      body: 'Body',
    });
    const { body: _body, ...row } = document;
    expect(parseRow(Buffer.from(text), PLACE)).toEqual(row);
  });

  it.each([
    ['---\nproject_dir: /top\nsvc: {kind: oneshot}\n---\n', '/top'],
    ['---\nproject_dir: /top\nsvc: {project_dir: /own}\n---\n', '/own'],
    ['---\nname: x\n---\n', undefined],
  ])('[FIB-12] takes the directory of the svc block before the top-level one: %j', (text, expected) => {
    expect(read(text).project_dir).toBe(expected);
  });

  it.each([
    ['nothing at all', '', {}],
    ['only text', '# Title\n', { body: '# Title\n' }],
    [
      'two byte order marks',
      '\uFEFF\uFEFF---\nname: x\nstatus: active\n---\nb\n',
      { name: 'x', status: 'active', body: 'b\n' },
    ],
    ['a heading that is underlined', '=======\n', { body: '=======\n' }],
    [
      'a byte order mark and CRLF',
      '\uFEFF---\r\nname: x\r\nstatus: active\r\n---\r\nb\r\n',
      { name: 'x', status: 'active', body: 'b\r\n' },
    ],
    ['empty frontmatter', '---\n---\nb', { body: 'b' }],
    ['an empty name', "---\nname: ''\n---\nb", { name: 'loader', body: 'b' }],
    ['a name of blanks', '---\nname: " \\t "\n---\nb', { name: 'loader', body: 'b' }],
    ['a closing fence without a line end', '---\nname: x\n---', { name: 'x' }],
    ['a rule in the body', '---\nname: x\n---\na\n---\nb\n', { name: 'x', body: 'a\n---\nb\n' }],
    ['four dashes', '----\nname: x\n', { body: '----\nname: x\n' }],
  ])('reads a document with %s', (_what, text, expected) => {
    const document = read(text);
    expect(document).toMatchObject({
      id: 'work/loader',
      name: 'loader',
      status: 'open',
      uid: null,
      tags: [],
      body: '',
      ...expected,
    });
    expect(document.error).toBeUndefined();
    const { body: _body, ...row } = document;
    expect(parseRow(Buffer.from(text), PLACE)).toEqual(row);
  });

  it.each<[string, string | Buffer, string]>([
    ['a fence that is never closed', '---\nname: x\nstatus: active\n', 'line 1: the frontmatter is opened'],
    ['a key twice', '---\nname: x\nname: y\n---\n', 'line 3: the key name is there twice; remove one'],
    [
      'a key twice in a block',
      '---\nsvc:\n  agent: x\n  "agent": y\n---\n',
      'line 4: the key "agent" is there twice; remove one',
    ],
    [
      'a merge that is not finished',
      '---\nname: x\nsvc:\n<<<<<<< HEAD\n  agent: x\n=======\n  agent: y\n>>>>>>> other\n---\n',
      'line 4: "<<<<<<<" is left of a merge that is not finished; keep one of its two versions, and remove',
    ],
    [
      'a merge with CRLF, the last of whose lines was left',
      '---\r\nname: x\r\n>>>>>>> 1a2b3c4\r\n---\r\n',
      'line 3: ">>>>>>>" is left of a merge',
    ],
    [
      'two versions of the whole document, behind a byte order mark',
      '\uFEFF<<<<<<< HEAD\n---\nname: x\n---\n=======\n---\nname: y\n---\n>>>>>>> other\n',
      'line 1: "<<<<<<<" is left of a merge',
    ],
    ['broken YAML', '---\nname: x\ntags: [a\nstatus: active\n---\n', 'line 4'],
    ['a list', '---\n- a\n---\n', 'line 2: the frontmatter is not a map'],
    ['an unknown alias', '---\nname: *x\n---\n', 'x'],
    [
      'bytes that are not UTF-8',
      Buffer.from('---\nname: x\n---\nok\n\xff\n', 'latin1'),
      'line 5: the bytes are not UTF-8',
    ],
    [
      'a status it cannot have',
      '---\nname: x\nstatus: done\n---\n',
      'line 3: "status" takes one of open, active, closed',
    ],
    [
      'a kind it cannot have',
      '---\nsvc:\n  host: a\n  kind: robot\n---\n',
      'line 4: "svc.kind" takes one of',
    ],
    ['a block that is text', '---\nsvc: yes please\n---\n', 'line 2: "svc" takes a map'],
    ['a verdict that is text', '---\ntempered: maybe\n---\n', 'line 2: "tempered" takes true or false'],
    ['a very long frontmatter', `---\nname: ${'x'.repeat(300_000)}\n---\n`, 'longer than 256 KiB'],
    [
      'a name that is too long',
      `---\nname: ${'x'.repeat(501)}\n---\n`,
      '"name" takes at most 500 characters',
    ],
    [
      'an outcome that is too long',
      `---\noutcome: ${'x'.repeat(40_000)}\n---\n`,
      '"outcome" takes at most 32768',
    ],
    [
      'an agent that is too long',
      `---\nsvc: {agent: ${'x'.repeat(4_097)}}\n---\n`,
      '"svc.agent" takes at most 4096',
    ],
    ['too many tags', `---\ntags: [${'t, '.repeat(1_000)}t]\n---\n`, '"tags" takes at most 1000 entries'],
    [
      'a tag that is too long',
      `---\ntags: [${'t'.repeat(201)}]\n---\n`,
      '"tags" takes entries of at most 200',
    ],
    [
      'too many roles',
      `---\ncollaboration:\n${Array.from({ length: 101 }, (_, nth) => `  r${nth}: []\n`).join('')}---\n`,
      '"collaboration" takes at most 100 roles',
    ],
    ['nested complex keys', `---\nx: ${'? '.repeat(700)}x\n---\n`, 'line 2: a key must be text'],
    [
      '18,000 aliases',
      `---\na: &a 1\nx: [${'*a, '.repeat(18_000)}]\n---\n`,
      'line 3: the frontmatter has more than 100',
    ],
    ['far too many bytes', Buffer.alloc(MAX_DOCUMENT_BYTES + 1, 'x'), 'at most'],
    [
      'aliases that multiply',
      `---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n---\n`,
      'lias',
    ],
  ])('lists a document with %s, and reports the error', (_what, text, error) => {
    const document = read(text);
    expect(document).toMatchObject({
      id: 'work/loader',
      leaf: 'loader',
      error: expect.stringContaining(error),
    });
    expect(document.error).not.toContain('\n');
  });

  it('never reads an invalid status as active', () => {
    expect(read('---\nstatus: Active\n---\n').status).toBe('open');
    expect(read('---\nstatus: [active]\n---\n').status).toBe('open');
  });
});

it('[FIB-2] [DSP-9] reads a ULID of lower case as the same uid', () => {
  expect(readFields({ id: '01k5a5zk4t9qk3zj8z8z8z8z8z' }, 'a').fields.uid).toBe('01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z');
});
