import { expect, it } from 'vitest';
import { fleetPage } from '../../../src/cli/verbs/fleet.ts';
import type { FleetRow } from '../../../src/contract/http/fleet.ts';

const NOW = Date.UTC(2026, 0, 5, 9);
const HERE = {
  ...{ host: 'harbor', version: '1.4.0', git_short_sha: 'abc1234', host_class: 'personal' as const },
  workers: { running: 6, needs_you: 3 },
};
const BUILD = { version: '1.4.0', git_short_sha: 'abc1234', booted_at: '2026-01-01T00:00:00Z', ready: true };
const row = (name: string, rest: Partial<FleetRow>): FleetRow => ({
  ...{ name, display: null, source: 'file', address: '127.0.0.1:4001', ssh: null },
  reach: { state: 'answers', since: NOW, last_ok_at: NOW, error: null },
  ...{ build: BUILD, host_class: 'personal', clock_ahead_ms: 0, workers: { running: 6, needs_you: 1 } },
  feed: { state: 'fresh', last_ok_at: NOW, error: null },
  ...rest,
});
const away = (message: string): FleetRow['reach'] => ({
  state: 'no_answer',
  since: NOW,
  last_ok_at: NOW - 38 * 60_000,
  error: { code: 'remote_unreachable', message },
});
const nothing = { build: null, host_class: null, clock_ahead_ms: null, workers: null };

it('[RPL-9] svc fleet shows each host on one line of 80 columns, and below why one does not answer', () => {
  const remotes = [
    row('mesa', {
      address: '/run/user/1000/tunnels/mesa.sock',
      build: { ...BUILD, git_short_sha: 'fed4321' },
    }),
    row('quarry', { build: { ...BUILD, version: '1.3.2', git_short_sha: 'def5678' }, workers: null }),
    row('tarn', {
      ...nothing,
      reach: away(
        'tarn does not answer at 127.0.0.1:4003: connect ECONNREFUSED 127.0.0.1:4003. Check that its daemon and its tunnel are running.',
      ),
    }),
  ];
  expect(fleetPage({ remotes }, HERE, NOW, 80)).toBe(
    `HOST    REACH      AGE     WORKING  NEEDS YOU  BUILD
harbor  this host  -       3        3          1.4.0
mesa    tunnel     0 s     5        1          1.4.0 (another build)
quarry  answers    0 s     -        -          1.3.2
tarn    no answer  38 min  -        -          -

tarn does not answer at 127.0.0.1:4001. Check it with: svc remotes check tarn
`,
  );
});

it('[RPL-9] svc fleet says why the fibers of a host that answers are not up to date', () => {
  const error = {
    code: 'answer_unreadable',
    message: 'mesa answers at 127.0.0.1:4001, but what it answered cannot be read: its answer is not JSON.',
  };
  for (const [last_ok_at, how] of [
    [NOW - 120_000, 'shown as of 2 min ago'],
    [null, 'not known'],
  ] as const) {
    const remotes = [row('mesa', { feed: { state: 'stale', last_ok_at, error } })];
    expect(fleetPage({ remotes }, HERE, NOW)).toContain(
      `\nThe fibers of mesa are ${how}: ${error.message} Check it with: svc remotes check mesa\n`,
    );
  }
});

it('[REC-7] svc fleet shows a daemon that was found in the tailnet, and how to add it', () => {
  const remotes = [row('mesa', { source: 'discovered', address: '100.64.0.2:4000', workers: null })];
  expect(fleetPage({ remotes }, HERE, NOW, 80)).toBe(
    `HOST    REACH      AGE  WORKING  NEEDS YOU  BUILD
harbor  this host  -    3        3          1.4.0
mesa    found      0 s  -        -          1.4.0

mesa was found in the tailnet; to add it: svc remotes add mesa --url http://100.64.0.2:4000
`,
  );
});

it('[RPL-9] svc fleet says how to name other hosts where there are none', () => {
  expect(fleetPage({ remotes: [] }, HERE, NOW)).toContain('svc remotes add <user>@<host>\n');
});

it.each([
  [59_000, null],
  [-59_000, null],
  [null, null],
  [7 * 3_600_000, 'The clock of mesa is 7 h ahead of the one here'],
  [-120_000, 'The clock of mesa is 2 min behind the one here'],
])('[REC-7] svc fleet tells of a clock that is %s ms ahead: %s', (clock_ahead_ms, sentence) => {
  const page = fleetPage({ remotes: [row('mesa', { clock_ahead_ms })] }, HERE, NOW);
  expect(/The clock of .* here/.exec(page)?.[0] ?? null).toBe(sentence);
});
