import { describe, expect, it } from 'vitest';
import {
  afterRefusal,
  forSaving,
  isChanged,
  isUndecided,
  mergedDraft,
  startEdit,
} from '../../../board/src/model/body-edit.ts';
import { freshness } from '../../../board/src/model/contact.ts';
import { targetOf, wikiParts } from '../../../board/src/model/links.ts';
import {
  changedDraft,
  isBlank,
  messageParts,
  messageText,
  NO_DRAFT,
  readAfter,
} from '../../../board/src/model/messages.ts';
import { parseRoster, printRoster } from '../../../board/src/model/roster.ts';
import { isOutdated, referenceOf, rowOf } from '../../../board/src/model/sheet.ts';
import type { ConversationMessage } from '../../../board/src/model/wire.ts';
import { copyOf, row } from './rows.ts';

describe('a link of a body', () => {
  const at = (path: string) => ({ '/store/.fibers/b/b.md': 'b' })[path];
  it.each([
    ['https://a.example/x', { kind: 'web', url: 'https://a.example/x' }],
    ['mailto:a@b.example', { kind: 'web', url: 'mailto:a@b.example' }],
    ['javascript:alert(1)', { kind: 'nothing' }],
    ['data:text/html,x', { kind: 'nothing' }],
    ['//a.example/x', { kind: 'nothing' }],
    ['', { kind: 'nothing' }],
    ['#user-content-fn-1', { kind: 'here', id: 'user-content-fn-1' }],
    ['?fiber=a%2Fc', { kind: 'fiber', id: 'a/c' }],
    ['../b/b.md', { kind: 'fiber', id: 'b' }],
    ['../b/b.md#part', { kind: 'fiber', id: 'b' }],
    ['../b/b', { kind: 'fiber', id: 'b' }],
    ['plot%201.png', { kind: 'file', path: '/store/.fibers/a/plot 1.png' }],
    ['/srv/x.csv', { kind: 'file', path: '/srv/x.csv' }],
    ['../../../../../etc/x', { kind: 'file', path: '/etc/x' }],
  ])('leads from %s to %o', (href, target) => {
    expect(targetOf(href, '/store/.fibers/a/a.md', at)).toEqual(target);
  });

  it('is found in a text by its brackets', () => {
    expect(wikiParts('see [[a/b]], [[c#d|the name]] and [x]')).toEqual([
      'see ',
      { id: 'a/b', label: 'a/b' },
      ', ',
      { id: 'c', label: 'the name' },
      ' and [x]',
    ]);
  });
});

describe('an edit of a body', () => {
  const base = { body: 'one\r\ntwo\r\n', digest: 'd1' };
  const draft = { ...startEdit(base), text: 'ONE\ntwo\n' };

  it('keeps the line ends of the document', () => {
    expect(isChanged(startEdit(base))).toBe(false);
    expect(isChanged(draft)).toBe(true);
    expect(forSaving(draft)).toBe('ONE\r\ntwo\r\n');
  });

  it('is saved again over a change of another part of the document, and conflicts with one of the body', () => {
    const same = afterRefusal(draft, { body: base.body, digest: 'd2' });
    expect(same).toMatchObject({ kind: 'save_again', draft: { text: draft.text, base: { digest: 'd2' } } });
    expect(afterRefusal(draft, { body: 'other', digest: 'd2' })).toEqual({ kind: 'conflict', draft });
  });

  it('is put together with what is on disk, and is undecided while markers are left', () => {
    const merged = mergedDraft(draft, { body: 'uno\r\ntwo\r\n', digest: 'd2' });
    expect(merged).toMatchObject({ base: { digest: 'd2' }, conflicts: 1 });
    expect(isUndecided(merged)).toBe(true);
    expect(isUndecided({ ...merged, text: 'ONE\ntwo\n' })).toBe(false);
  });
});

describe('a roster as lines', () => {
  it('leads back to the same roster', () => {
    const roster = { reviewer: ['birch', 'oak'], writer: [] };
    expect(printRoster(roster)).toBe('reviewer: birch, oak\nwriter');
    expect(parseRoster(printRoster(roster))).toEqual({ roster });
    expect(parseRoster('\n  a :b,, c \n')).toEqual({ roster: { a: ['b', 'c'] } });
    expect(printRoster(undefined)).toBe('');
  });

  it('is refused where a role comes twice, and takes every other name for the daemon to judge', () => {
    expect(parseRoster('a: b\na: c')).toHaveProperty('fault');
    expect(parseRoster('__proto__: x')).toMatchObject({ roster: { __proto__: ['x'] } });
  });
});

describe('a message', () => {
  const image = { name: 'a.png', path: '/d/a.png', sha256: '', size: 1 };
  it('has its images as lines after its text, and is shown without them', () => {
    const text = messageText(' Look. ', [image]);
    expect(text).toBe('Look.\n\n[Image: /d/a.png]');
    expect(messageText('', [image])).toBe('[Image: /d/a.png]');
    expect(messageParts(text)).toEqual({ text: 'Look.', images: ['/d/a.png'] });
  });

  it('that is changed is another one, with an id of its own', () => {
    const sent = { ...NO_DRAFT, text: 'a', message_id: 'm-1' };
    expect(changedDraft(sent, { text: 'b' })).toEqual({ ...sent, text: 'b', message_id: null });
    expect([isBlank(NO_DRAFT), isBlank(sent)]).toEqual([true, false]);
  });

  it('is looked at often while it may come further soon', () => {
    const message = (status: ConversationMessage['status'], sent_at: number) =>
      ({ status, sent_at }) as ConversationMessage;
    const now = 1e9;
    expect(readAfter([message('submitted', now - 1)], now)).toBeLessThan(
      readAfter([message('accepted', now)], now),
    );
    expect(readAfter([message('unknown', 0)], now)).toBe(readAfter([], now));
  });
});

describe('the words of the sheet', () => {
  it.each([
    ['live', 0, 'live'],
    ['gone', 0, 'no answer'],
    ['polling', 5_000, 'every few seconds'],
    ['polling', 61_000, '1 min old'],
  ] as const)('say how fresh a copy is: %s after %i ms', (kind, age, words) => {
    expect(freshness({ kind, retry_at: 0 } as Parameters<typeof freshness>[0], age)).toBe(words);
  });

  it('find a fiber by its id, else by its uid', () => {
    const rows = [row({ id: 'a', uid: 'U1' }), row({ id: 'U1', uid: 'U2' })];
    const copy = copyOf(rows);
    expect(rowOf(copy, 'U1')).toBe(rows[1]);
    expect(rowOf(copy, 'U2')).toBe(rows[1]);
    expect(rowOf(copy, 'none')).toBeUndefined();
    const [own, theirs] = [row({ uid: 'U3' }), row({ uid: 'U3', origin: 'host-b' })];
    const both = copyOf([theirs, own]);
    expect([rowOf(both, 'one'), rowOf(both, 'U3')]).toEqual([own, own]);
    expect([rowOf(both, 'one', 'host-b'), rowOf(both, 'U3', 'host-b')]).toEqual([theirs, theirs]);
    expect(rowOf(copyOf([theirs]), 'one')).toBeUndefined();
    expect(rowOf(copyOf([theirs]), 'U3')).toBe(theirs);
    expect([referenceOf(rows[0]!), referenceOf(row({ id: 'x' }))]).toEqual(['U1', 'x']);
  });
});

describe('a document that was read', () => {
  it.each([
    ['and is listed as it was read', 'aa', 'aa', false],
    ['and is listed with another digest', 'aa', 'bb', true],
    ['and is not listed any more', 'aa', null, true],
    ['before the feed', 'aa', undefined, false],
    ['not yet', undefined, 'aa', false],
  ] as const)('%s', (_, digest, listed, outdated) => {
    expect(isOutdated(digest === undefined ? undefined : { digest }, listed)).toBe(outdated);
  });
});
