import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstSession, followSession } from '../../../src/dispatch/run/follow-session.ts';
import {
  readSessionStarts,
  SESSION_STARTS_FILE,
  type SessionStart,
} from '../../../src/dispatch/run-directory/session-starts.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

const starts = (...told: string[]): SessionStart[] =>
  told.map((one, at) => {
    const [source = '', session = ''] = one.split(' ');
    return { at, source, session, transcript: null };
  });

describe('the session that a run is in', () => {
  it.each<[title: string, known: string | null, left: string[], told: string[], session: string | null]>([
    ['is the one it is known by while no hook reported any', 'A', [], [], 'A'],
    ['is the one it started with', 'A', [], ['startup A'], 'A'],
    ['is the one it resumed', 'A', [], ['resume A'], 'A'],
    ['is the new one after /clear', 'A', [], ['startup A', 'clear B'], 'B'],
    ['is the newest one after several', 'A', [], ['startup A', 'clear B', 'clear C'], 'C'],
    ['is the fork', 'A', [], ['resume A', 'fork B'], 'B'],
    ['stays the same over a compaction', 'A', [], ['startup A', 'compact A'], 'A'],
    ['is read the same a second time', 'C', ['A', 'B'], ['startup A', 'clear B', 'clear C'], 'C'],
    ['is not that of an agent inside that started', 'A', [], ['startup A', 'startup X'], 'A'],
    ['is not that of an agent inside that resumed', 'A', [], ['startup A', 'resume X'], 'A'],
    ['is not that of an agent inside whose conversation grew long', 'A', [], ['startup A', 'compact X'], 'A'],
    [
      'is not that of an agent inside, whatever that does later',
      'A',
      [],
      ['startup A', 'startup X', 'fork X'],
      'A',
    ],
    ['is not that of an agent inside a worker without hooks', 'A', [], ['startup X', 'resume X'], 'A'],
    [
      'is an earlier one of its own that a person went back to',
      'B',
      ['A'],
      ['startup A', 'clear B', 'resume A'],
      'A',
    ],
    ['is not known from hooks before its transcript was found', null, [], ['startup A', 'clear B'], null],
  ])('[P7] %s', (_, known, left, told, session) => {
    expect(followSession({ known, left }, starts(...told))).toBe(session);
  });

  it.each<[string, string[], string[], string | null]>([
    ['nothing is told', [], [], null],
    ['the agent goes on', [], ['A', 'A'], 'A'],
    ['an agent inside tells first', ['startup X'], ['X', 'A'], 'A'],
    ['only an agent inside tells', ['startup X'], ['X'], null],
    ['the agent was cleared since the claim', ['clear B'], ['B'], 'B'],
  ])('[P7] of a claimed agent is the first that its hooks tell of: %s', (_, told, signs, session) => {
    expect(
      firstSession(
        starts(...told),
        signs.map((one) => ({ session: one })),
      ),
    ).toBe(session);
  });

  it('[P7] is never one that only ever started or resumed beside it', () => {
    const session = fc.constantFrom('A', 'B', 'C', 'X');
    const source = fc.constantFrom('startup', 'resume', 'clear', 'compact', 'fork', 'other');
    const told = fc.array(fc.record({ source, session, at: fc.nat(), transcript: fc.constant(null) }));
    fc.assert(
      fc.property(told, (all) => {
        const found = followSession({ known: 'A', left: [] }, all);
        const moves = all.filter((one) => ['clear', 'fork'].includes(one.source)).map((one) => one.session);
        expect(['A', ...moves]).toContain(found);
        // Known by what was found, and having left what it was in, it is in the same session still.
        const left = ['A', ...moves.filter((one) => one !== found)];
        if (all.every((one) => one.source === 'clear' || one.source === 'fork'))
          expect(followSession({ known: found, left }, all)).toBe(found);
      }),
    );
  });
});

describe('the session starts of a run directory', () => {
  let folder: ScratchFolder;
  beforeEach(() => {
    folder = scratchFolder();
  });
  afterEach(() => folder.remove());
  const line = (session: string) =>
    `${JSON.stringify({ at: 1, type: 'session_start', source: 'startup', session, transcript: '/t' })}\n`;

  it('[P7] are none where no hook has written', () => {
    expect(readSessionStarts(folder.path)).toEqual([]);
  });

  it('[P7] leave out what is torn, foreign or of another kind', () => {
    const file = join(folder.path, SESSION_STARTS_FILE);
    writeFileSync(file, `not json\n{"type":"stop"}\n${line('A')}${line('B')}`);
    appendFileSync(file, line('C').slice(0, 20));
    expect(readSessionStarts(folder.path).map((one) => one.session)).toEqual(['A', 'B']);
  });

  it('[P7] are read from the end of a file that has grown large', () => {
    writeFileSync(join(folder.path, SESSION_STARTS_FILE), line('X').repeat(20_000) + line('A'));
    const read = readSessionStarts(folder.path);
    expect(read.at(-1)?.session).toBe('A');
    expect(read.length).toBeLessThan(10_000);
  });
});
