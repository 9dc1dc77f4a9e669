import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionLine } from '../../src/contract/ledger.ts';
import { appendLineSync } from '../../src/ledgers/append-line.ts';
import { SessionFibers } from '../../src/ledgers/session-fibers.ts';
import { SessionsLedger } from '../../src/ledgers/sessions-ledger.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-sessions-'));
  path = join(dir, 'sessions.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function line(at: number, uid: string | null): SessionLine {
  return {
    fiber: 'work/loader',
    uid,
    session: `s${at}`,
    thread_id: null,
    harness: 'claude',
    host: 'host-a',
    mux: null,
    at,
    kind: 'dispatch',
  };
}

describe('the sessions ledger', () => {
  it('[TMP-2] lists sessions oldest first, of all fibers or of one, with fields it does not know', async () => {
    const ledger = new SessionsLedger({ path });
    appendLineSync(path, line(1, 'u1'));
    appendLineSync(path, { ...line(2, 'u2'), note: 'kept' });
    appendLineSync(path, line(3, 'u1'));
    appendLineSync(path, line(4, null));
    appendFileSync(path, '{"fiber":"half"}\n');
    await ledger.refresh();
    expect(ledger.sessions().map((entry) => entry.at)).toEqual([1, 2, 3, 4]);
    expect(ledger.sessions('u1').map((entry) => entry.at)).toEqual([1, 3]);
    expect(ledger.sessions('u2')).toEqual([{ ...line(2, 'u2'), note: 'kept' }]);
    expect(ledger.sessions('nobody')).toEqual([]);
    expect(ledger.counts).toMatchObject({ entries: 4, malformed: 1 });
  });

  it('keeps no more lines than its limit, evicting the oldest first', async () => {
    const ledger = new SessionsLedger({ path, max_entries: 4 });
    for (let at = 1; at <= 23; at += 1) {
      appendLineSync(path, line(at, `u${at % 3}`));
      if (at % 5 === 0) await ledger.refresh();
    }
    await ledger.refresh();
    expect(ledger.counts.entries).toBe(4);
    expect(ledger.sessions().map((entry) => entry.at)).toEqual([20, 21, 22, 23]);
    expect(ledger.sessions('u2').map((entry) => entry.at)).toEqual([20, 23]);
    expect(ledger.sessions('u0').map((entry) => entry.at)).toEqual([21]);
    expect(ledger.sessions('u1').map((entry) => entry.at)).toEqual([22]);
  });

  it('[WPL-21] [WRK-8] finds every line of a session, by its transcript or its thread identity', async () => {
    const ledger = new SessionsLedger({ path, max_entries: 4 });
    const session = (at: number, id: string | null, thread_id: string | null = null) =>
      appendLineSync(path, { ...line(at, 'u1'), session: id, thread_id });
    session(1, 's1');
    session(2, null);
    session(3, 's2', 't2');
    appendLineSync(path, { ...line(4, 'u1'), fiber: null, uid: null, session: 's1', kind: 'capture' });
    await ledger.refresh();
    expect(ledger.linesOf('s1').map((entry) => entry.at)).toEqual([1, 4]);
    expect(ledger.linesOf('t2').map((entry) => entry.at)).toEqual([3]);
    session(5, 's1');
    await ledger.refresh();
    expect(ledger.linesOf('s1').map((entry) => entry.at)).toEqual([4, 5]);
    expect(ledger.linesOf('nobody')).toEqual([]);
  });

  it('drops entries that are no longer in the file', async () => {
    const ledger = new SessionsLedger({ path });
    appendLineSync(path, line(1, 'u1'));
    await ledger.refresh();
    writeFileSync(path, `${JSON.stringify(line(9, 'u9'))}\n`);
    await ledger.refresh();
    expect(ledger.sessions('u1')).toEqual([]);
    expect(ledger.sessions('u9')).toHaveLength(1);
  });

  it('finds the fiber of a session as a reading of the lines that it keeps would, however many it evicted', async () => {
    const ledger = new SessionsLedger({ path, max_entries: 5 });
    const names = ['a', 'b', 'c', null];
    for (let at = 1; at <= 60; at += 1) {
      const session = names[(at * 7) % 4] ?? null;
      const kind = at % 5 === 0 ? 'ended' : 'claim';
      appendLineSync(path, {
        ...line(at, at % 3 === 0 ? null : `u${at % 4}`),
        session,
        mux: names[at % 3],
        kind,
      });
      await ledger.refresh();
      const fresh = new SessionFibers();
      for (const entry of ledger.sessions()) fresh.add(entry);
      for (const one of names)
        for (const other of names) {
          const doing = { session: one, mux: other, at: at - 2 };
          expect(ledger.fiberOf(doing)).toEqual(fresh.find(doing));
        }
    }
  });
});
