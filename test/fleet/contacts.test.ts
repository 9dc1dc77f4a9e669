import { expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import { Contacts } from '../../src/fleet/contacts.ts';

it('[REC-7] a remote is since when it is so, and answered last when it did, whoever asked it', async () => {
  const clock = new FakeClock();
  const contacts = new Contacts(clock, () => undefined);
  const start = clock.now();
  const answers = { state: 'answers', error: null } as const;
  expect(await contacts.ask('b', async () => 7)).toBe(7);
  clock.advance(1_000);
  expect(contacts.note('b', 'answers', null)).toEqual({
    ...answers,
    since: start,
    last_ok_at: start + 1_000,
  });
  clock.advance(1_000);
  const away = new CodedError('remote_unreachable', 'it is away');
  await expect(contacts.ask('b', () => Promise.reject(away))).rejects.toBe(away);
  clock.advance(1_000);
  const error = { code: 'remote_unreachable', message: 'it is away' };
  expect(contacts.note('b', 'no_answer', error)).toEqual({
    state: 'no_answer',
    since: start + 2_000,
    last_ok_at: start + 1_000,
    error,
  });
  contacts.keepOnly(['c']);
  expect(contacts.note('b', 'no_answer', error)).toMatchObject({ since: start + 3_000, last_ok_at: null });
});

it('asks nothing of a remote that gets no request now, and says why', async () => {
  const changed = new CodedError('build_changed', 'it is another build');
  const contacts = new Contacts(new FakeClock(), (name) => {
    if (name === 'b') throw changed;
  });
  let asked = 0;
  const ask = (name: string) => contacts.ask(name, async () => (asked += 1));
  await expect(ask('b')).rejects.toBe(changed);
  expect([await ask('c'), asked]).toEqual([1, 1]);
});
