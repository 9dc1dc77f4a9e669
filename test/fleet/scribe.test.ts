import { describe, expect, it } from 'vitest';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { RemoteCopy } from '../../src/fleet/remote-copy.ts';
import { scribeIn } from '../../src/fleet/scribe.ts';
import { toldRow, toldWhole } from './told-feeds.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const copyOf = (name: string, rows: object[]) => ({
  ...{ name, ...ORIGIN },
  copy: new RemoteCopy(readFeedAnswer(toldWhole(name, 't-1', rows)), 1),
});
const runtime = { harness: 'claude', session_uuid: 'u-1' };

describe('the scribe of a meeting on another host', () => {
  const copies = [
    { name: 'host-b', ...ORIGIN, copy: null },
    copyOf('host-c', [
      toldRow('a', { name: '"meeting":"m-1"' }),
      toldRow('notes', { runtime, uid: 'U-NOTES' }),
    ]),
    copyOf('host-d', [toldRow('notes', { svc: { runtime: { meeting: 'm-1' } } })]),
  ];

  it('[MTR-5] is the fiber that names the meeting, and nothing that only has its text', () => {
    expect(scribeIn(copies, { launch: 'm-1', joined: null })).toEqual({
      ...{ host: 'host-d', fiber: 'notes', uid: null, session: null },
    });
    expect(scribeIn(copies, { launch: 'm-2', joined: null })).toBeNull();
  });

  it('[MTR-5] is the joined fiber of its own host, with the session of its worker', () => {
    const joined = { host: 'host-c', fiber: 'notes', uid: null };
    const session = { harness: 'claude', native_id: 'u-1' };
    expect(scribeIn(copies, { launch: 'm-1', joined })).toEqual({ ...joined, uid: 'U-NOTES', session });
    expect(scribeIn(copies, { launch: 'm-1', joined: { ...joined, host: 'host-b' } })).toBeNull();
  });

  it('[MTR-5] is the joined fiber under its new id, where its uid is known', () => {
    const joined = { host: 'host-c', fiber: 'its/old/notes', uid: 'U-NOTES' };
    expect(scribeIn(copies, { launch: 'm-1', joined })?.fiber).toBe('notes');
    const another = { ...joined, fiber: 'notes', uid: 'U-OTHER' };
    expect(scribeIn(copies, { launch: 'm-1', joined: another })).toBeNull();
  });
});
