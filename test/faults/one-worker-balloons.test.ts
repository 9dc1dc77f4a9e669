import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Why } from '../../src/contract/http/why.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';

const WORKERS = 20;
const AGENT = new URL('balloon-agent.sh', import.meta.url).pathname;
const SENTENCE = `killed at 48 MB by its memory limit; ${WORKERS - 1} others unharmed`;

let bed: Bed;
let parent: string | null = null;

afterEach(async () => {
  await bed.dispose();
  if (parent === null || !existsSync(parent)) return;
  for (const name of readdirSync(parent)) if (name.startsWith('run-')) rmdirSync(join(parent, name));
  rmdirSync(parent);
});

/** A registry in which the one agent may use 48 MB, on a host that gives every other worker more. */
function limitMemory(): void {
  const write = (name: string, value: unknown) =>
    writeFileSync(join(bed.root, 'config', name), JSON.stringify({ version: 1, ...(value as object) }), {
      mode: 0o600,
    });
  write('host.json', { memory_max: '64 MB', memory_max_total: '2 GB' });
  const env = { CLAUDE_CONFIG_DIR: join(bed.root, 'agent'), WITNESS: bed.witness };
  const agent = {
    id: 'fast',
    harness: 'claude',
    cli: AGENT,
    args: [],
    effort_levels: [],
    default: true,
    env,
  };
  write('agents.json', { builtins: 'restrict', agents: [{ ...agent, memory_max: '48 MB' }] });
}

const groupOf = (pid: number | string) => readFileSync(`/proc/${pid}/cgroup`, 'utf8');
const blocked = async (daemon: Daemon) =>
  (await daemon.state()).blocked.find(({ reason }) => reason === 'memory_limit');

it('kills the worker that uses too much memory, and no other; every page reports it', async ({ skip }) => {
  bed = new Bed();
  limitMemory();
  const slugs = Array.from({ length: WORKERS }, (_, nth) => `task-${nth}`);
  for (const slug of slugs) await bed.fiber(slug);
  const first = await bed.daemon().ready();
  const { worker_memory } = await first.state();
  skip(
    !worker_memory.mechanism.startsWith('cgroup'),
    `no control group can be made here: ${worker_memory.detail}`,
  );
  parent = worker_memory.detail;
  await first.post('/quarantine/release', {});
  await until('all workers', () => bed.living().length === WORKERS, 60_000);
  await first.stateWhen('all workers listed', (state) => state.running.length === WORKERS);

  const workers = bed.living();
  for (const { pid, launch } of workers) expect(groupOf(pid)).toContain(`/run-${launch}\n`);
  const server = await bed.tmux('display-message', '-p', '#{pid}');
  for (const pid of [first.pid, server]) expect(groupOf(pid)).not.toContain('svc-workers-');

  // What the next daemon finds are the same workers in the same groups.
  await first.kill('SIGKILL');
  const daemon = await bed.daemon().ready();
  await daemon.stateWhen('all workers adopted', (state) => state.running.length === WORKERS);
  await daemon.post('/quarantine/release', {});
  const victim = workers.find(({ launch }) => bed.launchOf('task-7') === launch)!;
  expect(readdirSync(parent)).toContain(`run-${victim.launch}`);
  writeFileSync(join(bed.root, 'project', 'balloon-task-7'), '');
  await until('the end of the balloon', () => bed.living().length < WORKERS, 60_000);
  await until('its end told', async () => blocked(daemon), 60_000);

  expect(
    bed
      .living()
      .map(({ pid }) => pid)
      .sort(),
  ).toEqual(
    workers
      .map(({ pid }) => pid)
      .filter((pid) => pid !== victim.pid)
      .sort(),
  );
  expect(await blocked(daemon)).toMatchObject({ fiber_id: 'task-7', message: SENTENCE });
  const row = await daemon.get<{ fiber: FiberRow }>('/fibers/task-7');
  expect(row.json.fiber.blocked).toMatchObject({ reason: 'memory_limit', message: SENTENCE });
  const why = (await daemon.get<Why>('/why?fiber=task-7')).json;
  expect(why.first).toMatchObject({
    gate: 'cooldown',
    message: expect.stringContaining(`its last worker was ${SENTENCE}`),
  });
  const { incidents } = await daemon.state();
  expect(incidents).toMatchObject([
    { cause: 'memory_limit', message: SENTENCE, fibers: [{ fiber_id: 'task-7' }] },
  ]);
  for (const args of [['log', 'task-7'], ['incident'], ['status'], ['why', 'task-7']]) {
    const said = await bed.svc(args);
    expect(said.kind === 'exited' ? said.stdout : said, args.join(' ')).toContain(SENTENCE);
  }
  const doctor = await bed.svc(['doctor']);
  expect(doctor.kind === 'exited' ? doctor.stdout : doctor).toContain(
    `worker memory: ${worker_memory.mechanism} (${parent}): 64 MB for each worker, 2.0 GB for all together`,
  );
  expect(readdirSync(parent)).not.toContain(`run-${victim.launch}`);
});
