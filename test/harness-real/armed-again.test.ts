import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { agree, agreeWithPages } from './agree.ts';
import { commandOf } from './processes.ts';
import { type LaunchOnDisk, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const isSleep = (process: string) => process.endsWith(' sleep 600');

/** The newest run of a fiber, once it works. */
async function working(one: RealDaemon, id: string, number: number): Promise<LaunchOnDisk> {
  const own = () => one.launches().filter(({ fiber }) => fiber === id);
  await expect.poll(() => own().length, { timeout: WITHIN_MS }).toBe(number);
  const launch = own().at(-1)!;
  await expect.poll(() => one.processesOf(launch).some(isSleep), { timeout: WITHIN_MS }).toBe(true);
  await one.rowWhere(id, ({ runtime }) => runtime?.run_id === launch.run_id && runtime.state === 'running');
  return launch;
}

const transition = async (one: RealDaemon, fiber_id: string, to: object) =>
  expect(await one.post('/transition', { fiber_id, ...to })).toMatchObject({ status: 200 });

/** Each way to arm a fiber again; `closed` where a closed one takes another request. */
const WAYS: Record<string, (one: RealDaemon, id: string, was: 'parked' | 'closed') => Promise<unknown>> = {
  dispatch: (one, id) => one.svc('dispatch', id),
  resume: (one, id) => one.svc('resume', id),
  install: (one, id) => one.svc('install', id),
  hand: async (one, id) => {
    const { path } = await one.row(id);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^status: .*$/m, 'status: active'));
  },
  transition: (one, id, was) =>
    transition(one, id, was === 'closed' ? { action: 'reopen' } : { target: 'inFlight' }),
};
const IDS = Object.keys(WAYS);

/** How the conversation of the run before comes back: as the same one, or named in the message of a fresh one. */
async function goesOn(
  one: RealDaemon,
  before: LaunchOnDisk,
  now: LaunchOnDisk,
): Promise<'resumed' | 'fresh'> {
  const [old, session] = [sessionOf(one, before), sessionOf(one, now)];
  const transcript = await one.transcriptOf(session);
  expect(transcript).toContain(now.run_id);
  expect(transcript.includes(before.run_id) && old === session).toBe(now.resume !== undefined);
  expect(now.prompt.includes(`Previous session: ${old} (`)).toBe(now.resume === undefined);
  const words = commandOf(one.agentPid(now)).split(' ');
  const at = words.findIndex((word) => /^(--resume|resume)$/.test(word));
  // Pi writes its name over its command line.
  if (words.length > 1) expect(at === -1 ? null : words[at + 1]).toBe(now.resume === undefined ? null : old);
  return now.resume === undefined ? 'fresh' : 'resumed';
}

function sessionOf(one: RealDaemon, { run_id }: LaunchOnDisk): string {
  return one.ledger().findLast((line) => line.run_id === run_id && line.session !== null)!.session!;
}

describe.each(HARNESS_NAMES)('a fiber of the real %s that is armed again', (name) => {
  it('[RES-2] [RES-3] [RES-8] [LIF-7] is resumed by each way after it was parked, and starts fresh by each after it was closed', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    one.stub.script({ match: /./, steps: [{ shell: 'echo works; sleep 600' }, { text: 'too late' }] });
    await one.release();
    const each = <T>(run: (id: string) => Promise<T>) => Promise.all(IDS.map(run));
    await each((id) => one.arm(id));
    let runs = await each((id) => working(one, id, 1));
    for (const [index, was] of (['parked', 'closed'] as const).entries()) {
      const before = runs;
      await each((id) => one.svc(was === 'parked' ? 'pause' : 'close', id, '--kill', '--yes'));
      await each((id) => one.rowWhere(id, ({ runtime, status }) => !runtime && status !== 'active'));
      await agree(one);
      await each((id) => WAYS[id]!(one, id, was));
      runs = await each((id) => working(one, id, index + 2));
      const ways = await Promise.all(IDS.map((_, at) => goesOn(one, before[at]!, runs[at]!)));
      expect(ways).toEqual(IDS.map(() => (was === 'parked' ? 'resumed' : 'fresh')));
    }
    await agreeWithPages(one);
  });
});
