import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fitColumns,
  lengthOf,
  wrapPage,
  wrapStyled,
  wrapWords,
} from '../../../../src/cli/command-line/fit-width.ts';
import { formatTable } from '../../../../src/cli/command-line/output.ts';
import { paint, type Styled } from '../../../../src/cli/command-line/styled-text.ts';
import { internalsPage } from '../../../../src/cli/verbs/daemon/internals.ts';
import { presence } from '../../../../src/cli/verbs/daemon/status.ts';
import { printStatus } from '../../../../src/cli/verbs/status/print-status.ts';
import { statusPage } from '../../../../src/cli/verbs/status/status-page.ts';
import type { State } from '../../../../src/contract/http/state.ts';
import { fiberAnswer, OWN_LEASE, runningRow, stateAnswer, versionAnswer } from '../../answers.ts';

const NOW = 1_800_000_000_000;
const SENTENCE =
  'the project folder /srv/projects/loader cannot be entered by this user, since one of the folders above it is closed to others; open it with chmod, or name another folder';
const LONG_ID = `work/2026/${'a-rather-long-name-'.repeat(6)}of-a-fiber`;

/** Each section with its longest cells, for fibers of this id. */
function worst(fiber_id: string): State {
  const fiber = { fiber_id, uid: null, store: '/srv/notes' };
  const answer = stateAnswer();
  const [store] = answer.poll_health.stores;
  return stateAnswer({
    running: [runningRow({ fiber_id, mux_session: `${fiber_id.replaceAll('/', '-')}-svc` })],
    blocked: [
      {
        ...fiber,
        ...{ reason: 'project_dir_unreachable', message: SENTENCE, attempts: 17, retry_at: NOW + 600_000 },
        ...{ first_attempted_at: NOW, attempted_at: NOW },
      },
    ],
    deaths: [
      {
        ...fiber,
        ...{
          run_id: 'r',
          at: NOW,
          reason: 'exited',
          code: 1,
          signal: null,
          message: 'exit code 1',
          mend: SENTENCE,
        },
      },
    ],
    pending_launch: [{ ...fiber, since: NOW, reason: 'killed', note: SENTENCE }],
    standing_roles: [
      {
        ...fiber,
        ...{ schedule: '0 9 * * 1-5', tz: 'America/Argentina/ComodRivadavia', auto_accept: false },
        ...{ state: 'awaiting_review', next_due_at: null, error: null },
      },
    ] as State['standing_roles'],
    document_errors: {
      count: 3,
      first: [{ path: `/srv/notes/.fibers/${fiber_id}.md`, error: SENTENCE }],
    } as State['document_errors'],
    operator_file_errors: [{ file: 'agents', path: '/etc/agents.json', error: SENTENCE }],
    data_dir: { path: '/srv/data', fault: SENTENCE },
    poll_health: {
      ...answer.poll_health,
      stores: [
        { ...store!, ...OWN_LEASE, store: `/srv/stores/${fiber_id}`, state: 'stale', error: SENTENCE },
      ],
    },
  });
}

const words = (page: string) => page.replace(/\s+/g, '');

/** The page of a daemon whose fibers have long names and much to say. */
function shown(id: string, width: number): string {
  const { fiber_id: _, uid: __, store: ___, ...runtime } = runningRow({ phase: 'waiting', said: SENTENCE });
  const state = worst(id);
  const rows = [
    fiberAnswer({ id, runtime }),
    fiberAnswer({ id: `${id}-2`, runtime: { ...runtime, phase: 'idle' } }),
    fiberAnswer({ id: `${id}-3`, status: 'closed', outcome: SENTENCE }),
    fiberAnswer({ id: `${id}-4`, svc: {}, held: 'killed', held_note: SENTENCE, gate: 'held' }),
    fiberAnswer({ id: `${id}-5`, svc: { kind: 'standing' }, next_due_at: NOW + 3_600_000 }),
  ];
  const page = statusPage({ rows, state, version: versionAnswer(), now: NOW, svc: 'svc' });
  const text = printStatus(page, { width, unicode: true, now: NOW, all: false, svc: 'svc' });
  return paint(text, false, (part) => part);
}

describe.each([80, 120])('svc status on a terminal of %i columns', (width) => {
  it.each(['work/loader', 'work/2026/rewrite-the-loader-of-fonts'])(
    'fits, with each id and each command whole: %s',
    (id) => {
      const page = shown(id, width);
      expect(page.split('\n').filter((line) => lengthOf(line) > width)).toEqual([]);
      for (const command of [`svc attach ${id}`, `svc accept ${id}-3`, `svc resume ${id}-4`])
        expect(page.split('\n').some((line) => line.includes(command))).toBe(true);
    },
  );

  it('cuts no id and no command, however long they are', () => {
    const page = shown(LONG_ID, width);
    expect(page).toContain(`svc attach ${LONG_ID}\n`);
    const others = page.split('\n').filter((line) => !line.includes(LONG_ID));
    expect(others.filter((line) => lengthOf(line) > width)).toEqual([]);
  });

  it.each(['work/loader', LONG_ID])('of the daemon fits with each word whole: %s', (id) => {
    const page = wrapPage(internalsPage(worst(id), NOW, width), width);
    expect(page.split('\n').filter((line) => lengthOf(line) > width)).toEqual([]);
    expect(words(page)).toContain(words(id));
    const last_error = SENTENCE;
    const components = [{ name: 'poller', state: 'failed' as const, restarts: 3, started_at: 1, last_error }];
    const listen = ['127.0.0.1:4000'];
    const daemon = {
      pid: 1,
      start_time: null,
      listen,
      version: '1',
      booted_at: '2026-01-01',
      boot_id: null,
    };
    const head = wrapPage(presence(daemon, versionAnswer({ components }), NOW, width), width);
    expect(head.split('\n').filter((line) => lengthOf(line) > width)).toEqual([]);
  });
});

it('svc status fits on a terminal of 40 columns, where what is told stands below its id', () => {
  const page = shown('work/loader', 40);
  expect(page.split('\n').filter((line) => lengthOf(line) > 40)).toEqual([]);
  expect(page).toContain('  work/loader-2\n    claude-sonnet  ');
});

describe('a page for a width', () => {
  it('keeps every line as it is for a file or a pipe', () => {
    const page = internalsPage(worst(LONG_ID), NOW, Number.POSITIVE_INFINITY);
    expect(wrapPage(page, Number.POSITIVE_INFINITY)).toBe(page);
    expect(shown(LONG_ID, Number.POSITIVE_INFINITY)).toContain(`needs you\t${LONG_ID}\t`);
  });

  it('breaks no command in backticks', () => {
    const command = '`svc reshape work/loader --project-dir <folder>`';
    const page = wrapPage(`${'word '.repeat(10)}then ${command}, or ${command}.`, 60);
    expect(page.split('\n').filter((line) => line.includes(command))).toHaveLength(2);
  });

  it('tells the shell that a command goes on which is longer than a line', () => {
    const command = `svc demo --dir /srv/${'a-folder/'.repeat(2)} attach write-a-hello`;
    const [first, ...lines] = wrapPage(`It goes on without you; come back with: ${command}`, 40).split('\n');
    expect(first).toBe('It goes on without you; come back with:');
    expect(lines.slice(0, -1).every((line) => line.endsWith(' \\'))).toBe(true);
    expect(lines.map((line) => line.trim().replace(/ \\$/, '')).join(' ')).toBe(command);
  });

  it('goes on below the text of a label, not below the label', () => {
    expect(wrapPage('  folder    one two three four five six seven', 40)).toBe(
      '  folder    one two three four five six\n            seven',
    );
  });

  it('keeps the colour of each word where a line in colours is broken', () => {
    // `svc` would begin a command, which goes on behind a backslash.
    const word = fc.stringMatching(/^[a-z]{1,12}$/).filter((one) => one !== 'svc');
    const words = fc.array(word, { minLength: 1, maxLength: 30 });
    const tone = fc.constantFrom('you', 'fault', undefined);
    const page = fc.array(fc.record({ words, tone }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(page, fc.integer({ min: 40, max: 80 }), (given, width) => {
        const text: Styled = given.map(({ words: said, tone: one }) =>
          one === undefined ? `${said.join(' ')} ` : { tone: one, text: `${said.join(' ')} ` },
        );
        const wrapped = wrapStyled(text, width);
        const letters = (styled: Styled, which: string | undefined) =>
          styled
            .flatMap((span) => (typeof span === 'string' ? [[undefined, span]] : [[span.tone, span.text]]))
            .filter(([one]) => one === which)
            .map(([, part]) => (part ?? '').replace(/\s+/g, ''))
            .join('');
        for (const one of ['you', 'fault', undefined]) expect(letters(wrapped, one)).toBe(letters(text, one));
        const lines = paint(wrapped, false, (part) => part).split('\n');
        for (const line of lines) expect(lengthOf(line.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('marks each part of a broken line of a screen', () => {
    for (const line of wrapPage(`    | ${'word '.repeat(60)}`, 80).split('\n'))
      expect(line).toMatch(/^ {4}\|/);
  });

  it('loses no character, and no line is too long, whatever the text', () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', ' '), maxLength: 90 }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 130 }), (lines, width) => {
        const given = lines.join(' ');
        const wrapped = wrapWords(given, width, '  ');
        expect(Math.max(...wrapped.map(lengthOf))).toBeLessThanOrEqual(width);
        expect(words(wrapped.join(''))).toBe(words(given));
        const table = formatTable(
          ['one', 'two', 'three'],
          [lines, lines].map((row) => [...row, '', '', ''].slice(0, 3)),
          width,
        );
        for (const line of table.split('\n')) expect(lengthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('gives each column the room for its longest word, or says that there is none', () => {
    const column = fc
      .tuple(fc.nat(60), fc.nat(60))
      .map(([a, b]) => ({ least: Math.min(a, b), wanted: Math.max(a, b) }));
    fc.assert(
      fc.property(
        fc.array(column, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 40, max: 130 }),
        (columns, width) => {
          const least = columns.map((one) => one.least);
          const wanted = columns.map((one) => one.wanted);
          const gaps = 2 * (columns.length - 1);
          const fitted = fitColumns(wanted, least, width);
          const needed = least.reduce((all, one) => all + one, gaps);
          if (fitted === null) {
            expect(needed).toBeGreaterThan(width);
            return;
          }
          expect(fitted.reduce((all, one) => all + one, gaps)).toBeLessThanOrEqual(width);
          for (const [at, one] of fitted.entries()) expect(one).toBeGreaterThanOrEqual(least[at]!);
        },
      ),
    );
  });
});
