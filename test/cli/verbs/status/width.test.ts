import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitColumns, lengthOf, wrapPage, wrapWords } from '../../../../src/cli/command-line/fit-width.ts';
import { formatTable } from '../../../../src/cli/command-line/output.ts';
import { presence } from '../../../../src/cli/verbs/daemon/status.ts';
import { statePage } from '../../../../src/cli/verbs/status.ts';
import type { State } from '../../../../src/contract/http/state.ts';
import { OWN_LEASE, runningRow, stateAnswer, versionAnswer } from '../../answers.ts';

const NOW = 1_800_000_000_000;
const SENTENCE =
  'project_dir /srv/projects/loader cannot be entered by this user, since one of the folders above it is closed to others; open it with chmod, or name another folder';
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

describe.each([80, 120])('svc status on a terminal of %i columns', (width) => {
  it.each(['work/loader', 'work/2026/rewrite-the-loader-of-fonts', LONG_ID])(
    'fits with each word whole or, where it is longer than a line, cut: %s',
    (id) => {
      const state = worst(id);
      const page = wrapPage(statePage(state, NOW, width), width);
      expect(page.split('\n').filter((line) => lengthOf(line) > width)).toEqual([]);
      expect(words(page)).toContain(words(id));
      if (id.length < 40) for (const word of SENTENCE.split(' ')) expect(page).toContain(word);
      const last_error = SENTENCE;
      const components = [
        { name: 'poller', state: 'failed' as const, restarts: 3, started_at: 1, last_error },
      ];
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
    },
  );

  it('uses the whole of it', () => {
    const lines = statePage(worst('work/loader'), NOW, width).split('\n');
    expect(Math.max(...lines.filter((line) => !line.startsWith('Nothing')).map(lengthOf))).toBeGreaterThan(
      width - 20,
    );
    expect(lines.find((line) => line.startsWith('FIBER') && line.includes('TRIES'))).toBeDefined();
  });
});

describe('a page for a width', () => {
  it('keeps every line as it is for a file or a pipe', () => {
    const page = statePage(worst(LONG_ID), NOW);
    expect(wrapPage(page, Number.POSITIVE_INFINITY)).toBe(page);
    expect(page).toContain(`${LONG_ID}  project_dir_unreachable  17`);
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
