import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { programOf } from '../kit/built-package.ts';
import { callerEnvironment } from '../kit/caller-environment.ts';
import { Bed } from './bed.ts';

/** The user that owns nothing. */
const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

let bed: Bed | null = null;

afterEach(async () => {
  if (bed === null) return;
  execFileSync('chmod', ['-R', 'u+rwX', bed.root]);
  await bed.dispose();
  bed = null;
});

/** Why no daemon can be run as nobody here; null when it can. */
function hindrance(): string | null {
  if (process.getuid?.() !== 0) return 'only root can run a daemon as another user';
  try {
    const library = join(dirname(programOf('launcher.mjs')), '../../node_modules/piscina');
    execFileSync(AS_NOBODY[0]!, [...AS_NOBODY.slice(1), process.execPath, '-e', `require('${library}')`], {
      stdio: 'ignore',
      env: { ...callerEnvironment(), HOME: '/nonexistent' },
    });
    return null;
  } catch {
    return 'an unprivileged user cannot read this checkout';
  }
}

it('names the file that it may not write or read, changes nothing, and recovers with the permission', async ({
  skip,
}) => {
  const why = hindrance();
  if (why !== null) return skip(why);
  bed = new Bed();
  for (const slug of ['kept', 'shut', 'free']) await bed.fiber(slug, { armed: false });
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, bed.root]);
  const daemon = await bed.daemon({}, AS_NOBODY).ready();
  await daemon.stateWhen('a listing', (state) => state.poll_health.stores[0]?.fibers === 3);
  const pathOf = (slug: string) => join(bed!.store.root, '.fibers', slug, `${slug}.md`);

  // A folder that takes no new file.
  const before = readFileSync(pathOf('kept'), 'utf8');
  chmodSync(pathOf('kept'), 0o444);
  chmodSync(dirname(pathOf('kept')), 0o555);
  const edited = await daemon.post<{ error: string; message: string }>('/fiber-edit', {
    fiber_id: 'kept',
    outcome: 'x',
  });
  expect(edited.status).toBe(503);
  expect(edited.json.message).toContain(`${pathOf('kept')} cannot be written: this user may not write there`);
  expect(edited.json.message).toContain('give this user write permission on it and on its folder');
  const refused = await daemon.post<{ message: string }>('/dispatch', { fiber_id: 'kept' });
  expect(refused.status).toBe(422);
  expect(refused.json.message).toContain(
    `${pathOf('kept')} cannot be written: this user may not write there`,
  );
  expect(readFileSync(pathOf('kept'), 'utf8')).toBe(before);

  // A document that cannot be read: listed with its error, never dropped.
  chmodSync(pathOf('shut'), 0o000);
  const shut = await until('the row of the shut document', async () => {
    const { json } = await daemon.get<{ fibers: { id: string; error?: string }[] }>('/fibers');
    return json.fibers.find((row) => row.id === 'shut' && row.error !== undefined);
  });
  expect(shut.error).toMatch(/permission denied/i);

  // A data dir that takes no launch.
  chmodSync(join(bed.root, 'data', 'runs'), 0o500);
  const launch = await daemon.post<{ message: string }>('/dispatch', { fiber_id: 'free' });
  expect(launch.status).toBe(422);
  expect(launch.json.message).toMatch(/data\/runs.* this user may not write there; no worker was started/);
  expect(bed.told()).toEqual([]);

  chmodSync(join(bed.root, 'data', 'runs'), 0o700);
  chmodSync(pathOf('shut'), 0o644);
  chmodSync(pathOf('kept'), 0o644);
  chmodSync(dirname(pathOf('kept')), 0o755);
  expect((await daemon.post('/fiber-edit', { fiber_id: 'kept', outcome: 'x' })).status).toBe(200);
  expect((await daemon.post('/dispatch', { fiber_id: 'free', force: true })).status).toBe(200);
  const told = bed;
  await until('a worker that hands off', () => told.told().some((one) => one.event === 'end'), 20_000);
  await until('the readable row', async () => {
    const { json } = await daemon.get<{ fibers: { id: string; error?: string }[] }>('/fibers');
    return json.fibers.some((row) => row.id === 'shut' && row.error === undefined);
  });
  const { components } = (await daemon.get<Version>('/version')).json;
  expect(components.filter((one) => one.restarts > 0)).toEqual([]);
});
