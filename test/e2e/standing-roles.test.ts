import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';

let daemon: TestDaemon;
const svc = async (...args: string[]) => {
  const { code, stdout, stderr } = await daemon.home.svc(...args);
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
};
const repeat = (id: string, ...more: string[]) =>
  svc('repeat', id, '--project-dir', daemon.home.project('dev'), '--schedule', '0 9 1 1 *', ...more);
const ended = ({ runtime, svc: block }: FiberRow) =>
  runtime === undefined && block?.runtime?.handed_off_at !== undefined && block.runtime.run_id !== undefined;

beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare: (home) => {
      for (const id of ['nightly', 'reviewed', 'silent'])
        home.fiber(id, { svc: null, front: { status: 'open' } });
    },
  });
});
afterAll(() => daemon.dispose());

it('[LIF-5] a role that awaits review says so in status, why and its page, and repeat says so before', async () => {
  const told = await repeat('reviewed', '--agent', 'reports');
  expect(told).toMatch(/The daemon starts it 1 Jan \d{4}: svc status\n/);
  expect(told).toContain('After each run it awaits review, and runs again only after: svc accept reviewed\n');
  await svc('dispatch', 'reviewed');
  await daemon.rowWhen('reviewed', 'closed', (row) => row.status === 'closed');
  expect(await svc('status')).toMatch(
    /^to review\treviewed\t.*\tsvc accept reviewed\tsvc reopen reviewed -m "…"$/m,
  );
  const why = await svc('why', 'reviewed');
  expect(why).toContain('reviewed does not run: its last run awaits review, and nothing is due before.\n');
  expect(why).toContain('What to do: accept the run with `svc accept reviewed`');
  const page = await svc('status', 'reviewed');
  expect(page).toContain('closed, awaiting review; accept it with: svc accept reviewed');
  expect(page).not.toContain('next due');
  expect((await daemon.state()).standing_roles.find((role) => role.fiber_id === 'reviewed')).toMatchObject({
    state: 'awaiting_review',
    next_due_at: null,
  });
});

it('[LIF-6] with --auto-accept goes on by itself after a run that left an outcome, and only after such a one', async () => {
  const told = await repeat('nightly', '--agent', 'reports', '--auto-accept');
  expect(told).toContain('A run that leaves an outcome and no fault is accepted by itself;');
  await repeat('silent', '--agent', 'hands-off', '--auto-accept');
  for (const run of [1, 2]) {
    await svc('dispatch', 'nightly');
    await daemon.rowWhen('nightly', `run ${run} is over`, (row) => ended(row) && row.outcome !== undefined);
    expect(launchesOf(daemon.home.data, 'nightly')).toHaveLength(run);
    expect(await daemon.row('nightly')).toMatchObject({ status: 'active', outcome: 'Nothing new.' });
  }
  const log = await svc('log', 'nightly', '--verbose');
  const accepted = /handed off\t(\S+)\t.*\n.*\taccepted\t\1\tby itself \(--auto-accept\), after the run of /g;
  expect(new Set([...log.matchAll(accepted)].map(([, session]) => session)).size).toBe(2);
  expect(await svc('status')).toMatch(/^next\tnightly\t1 Jan/m);
  await svc('dispatch', 'silent');
  await daemon.rowWhen('silent', 'awaits review', (row) => row.status === 'closed');
  expect(await svc('log', 'silent')).not.toContain('accepted');
  await svc('reshape', 'nightly', '--await-review');
  expect((await daemon.row('nightly'))?.svc?.auto_accept).toBeUndefined();
});
