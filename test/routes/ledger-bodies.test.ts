import { describe, expect, it } from 'vitest';
import type { ComponentView } from '../../src/contract/component.ts';
import { commitsTag } from '../../src/contract/ledger-tags.ts';
import { LedgerBodies } from '../../src/routes/ledger-bodies.ts';
import { createInProcessCallers } from './in-process-callers.ts';

const stamps = (commits: string) => ({ events: 'e', sessions: 's', commits, messages: 'm' });

/** The bodies of a ledgers thread that answers when the test says so. */
function bodies() {
  const { ledgers } = createInProcessCallers();
  const answers: ((etag: string) => void)[] = [];
  let components: ComponentView[] = [];
  let changed = () => {};
  const kept = new LedgerBodies(ledgers, {
    components: () => components,
    onChanged(hear) {
      changed = hear;
    },
  });
  const make = () =>
    new Promise<{ etag: string; body: Uint8Array }>((resolve) => {
      answers.push((etag) => resolve({ etag, body: Buffer.from(etag) }));
    });
  return {
    read: (if_none_match?: string) => kept.read({ tag: commitsTag, make }, if_none_match),
    notify: (commits: string) => ledgers.notify(stamps(commits)),
    die() {
      components = [{ name: 'ledgers', state: 'restarting', restarts: 1, started_at: 1, last_error: null }];
      changed();
    },
    answers,
  };
}

describe('the cached bodies of the ledgers', () => {
  it('are requested once for all callers with the same tag, and again after a change', async () => {
    const { read, notify, answers } = bodies();
    notify('c1');
    const early = [read(), read()];
    expect(answers).toHaveLength(1);
    notify('c2');
    const late = read();
    expect(answers).toHaveLength(2);
    answers[0]!(commitsTag(stamps('c1')));
    answers[1]!(commitsTag(stamps('c2')));
    for (const reply of await Promise.all(early)) expect(reply.etag).toBe('W/"c.c1"');
    expect((await late).etag).toBe('W/"c.c2"');
    expect(await read()).toBe(await late);
    expect(answers).toHaveLength(2);
  });

  it('are dropped with the thread that made them, and not cached while its tag is unknown', async () => {
    const { read, notify, die, answers } = bodies();
    notify('c1');
    const reply = read();
    answers[0]!('W/"c.c1"');
    await reply;
    expect(await read('W/"c.c1"')).toMatchObject({ status: 304 });
    die();
    void read('W/"c.c1"');
    void read('W/"c.c1"');
    expect(answers).toHaveLength(3);
  });
});
