import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { listRuns, readEnd, readExit } from '../../src/dispatch/run-directory/run-directory.ts';
import type { RunManifest } from '../../src/dispatch/run-directory/run-records.ts';
import { readProcessStart } from '../../src/platform/file-lock.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon, type Witness } from './bed.ts';
import { type Generation, withoutAuthority } from './generations.ts';
import { seeded } from './seeded.ts';

const GIVEN_SEED = process.env.FAULT_SEED;
const FIRST_SEED = Date.now() % 1_000_000_000;
/** Two daemons are killed side by side, each in a history of its own; a given seed repeats one of them. */
const SEEDS = GIVEN_SEED === undefined ? [FIRST_SEED, FIRST_SEED + 1] : [Number(GIVEN_SEED)];
/** The kills of each daemon: 50 of both. */
const KILLS = Number(process.env.FAULT_KILLS ?? 25);
const FIBERS = 20;
const MOST_MS = 15 * 60_000;
/** How long a daemon may take from being ready to listing every worker that lives. */
const ADOPTION_MS = 10_000;

it.concurrent.each(SEEDS)(
  `[P1][P13] loses no worker and starts none twice over ${KILLS} kills of the daemon (FAULT_SEED=%i)`,
  async (seed) => {
    const random = seeded(seed);
    const began = Date.now();
    // Its workers hand off within seconds all the time, which is what the loop breaker is there to end.
    const env = { SVC_LOG_LEVEL: 'info', SVC_BREAKER_QUICK_ENDS: '100000' };
    const bed = new Bed({ pace: [3_000, 12_000], env });
    const reader = startReader(bed);
    const edits = new AcknowledgedEdits(bed);
    const generations: Generation[] = [];
    const figures = { boot_kills: 0, adopted: 0, longest_adoption_ms: 0, acknowledged: 0, dispatched: 0 };
    try {
      const uids = new Map<string, string>();
      for (let nth = 1; nth <= FIBERS; nth += 1) {
        const slug = `task-${String(nth).padStart(2, '0')}`;
        uids.set(slug, await bed.fiber(slug, { body: `begin ${slug}\n\nSessions: 0\n\nend ${slug}\n` }));
      }
      reader.start();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const daemon = bed.daemon();
        const generation: Generation = {
          spawned_at: daemon.spawned_at,
          killed_at: Number.POSITIVE_INFINITY,
          first: !existsSync(join(bed.root, 'data', 'runs')),
          released_at: null,
          asked: new Map(),
        };
        generations.push(generation);
        if (random.chance(0.3)) {
          await delay(random.whole(0, 1_000));
          figures.boot_kills += 1;
        } else {
          await daemon.ready();
          expect(bed.announced(daemon.pid)).not.toBeNull();
          const adopted = await everyWorkerListed(bed, daemon);
          figures.adopted += adopted.workers;
          figures.longest_adoption_ms = Math.max(figures.longest_adoption_ms, adopted.took_ms);
          if (random.chance(0.5)) {
            generation.released_at = Date.now();
            await daemon.post('/quarantine/release', {});
          }
          const working = [edits.keepEditing(daemon, random.some([...uids.keys()], 4))];
          for (const slug of random.some([...uids.keys()], random.whole(2, 8))) {
            generation.asked.set(uids.get(slug) ?? '', Date.now());
            const force = generation.released_at === null || random.chance(0.1);
            working.push(
              daemon.post('/dispatch', { fiber_id: slug, force }).then(
                () => {
                  figures.dispatched += 1;
                },
                () => {},
              ),
            );
          }
          await delay(random.whole(0, 1_500));
          await daemon.kill('SIGKILL');
          await Promise.all(working);
        }
        await daemon.kill('SIGKILL');
        generation.killed_at = Date.now();
        expect(edits.missing()).toEqual([]);
        expect(reader.faults()).toEqual([]);
        expect(bed.told().filter((one) => one.event === 'overlap')).toEqual([]);
        if (Date.now() - began > MOST_MS) throw new Error(`only ${kill + 1} kills within ${MOST_MS} ms`);
      }

      // The last daemon stays, and everybody gets to finish.
      writeFileSync(`${bed.witness}.finish`, '');
      const last = bed.daemon();
      generations.push({
        spawned_at: last.spawned_at,
        killed_at: Number.POSITIVE_INFINITY,
        first: false,
        released_at: null,
        asked: new Map(),
      });
      await last.ready();
      await everyWorkerListed(bed, last);
      generations.at(-1)!.released_at = Date.now();
      await last.post('/quarantine/release', {});
      await until(
        'the closing of all fibers',
        () => bed.store.list().documents.every((document) => document.status === 'closed'),
        90_000,
      );
      await last.stateWhen('no worker left', (state) => state.running.length === 0);
      expect(bed.living()).toEqual([]);
      expect(await last.kill('SIGTERM')).toEqual({ code: 0, signal: null });

      figures.acknowledged = edits.acknowledged;
      const reads = await reader.stop();
      expect(reader.faults()).toEqual([]);
      const launches = listRuns(join(bed.root, 'data')).flatMap((run) =>
        run.kind === 'run' ? [run.manifest] : [],
      );
      const told = bed.told();
      expect(told.filter((one) => one.event === 'overlap')).toEqual([]);
      expect(told.filter(isRealFailure(bed))).toEqual([]);
      const lastSign = lastSigns(bed, told);
      expect(withoutAuthority(launches, generations, told, lastSign)).toEqual([]);
      expect(launchesWithoutLine(bed, launches, told)).toEqual([]);
      expect(lostSessions(bed, told)).toEqual([]);
      for (const document of bed.store.list().documents) {
        await bed.store.update(document.id, () => ({ set: { tags: ['last'] }, unset: [] }));
      }
      expect(leftovers(bed)).toEqual([]);
      const starts = told.filter((one) => one.event === 'start').length;
      console.log(
        JSON.stringify({
          seed,
          kills: KILLS,
          ...figures,
          launches: launches.length,
          starts,
          handed_off: launches.filter((one) => handedOff(bed, one)).length,
          edits_by_agents: told.filter((one) => one.event === 'edited').length,
          document_reads: reads,
          seconds: Math.round((Date.now() - began) / 1000),
        }),
      );
      expect(starts).toBeGreaterThanOrEqual(FIBERS);
    } catch (error) {
      console.error(`FAULT_SEED=${seed}\n${bed.log().slice(-20_000)}`);
      throw error;
    } finally {
      await reader.stop();
      await bed.dispose();
    }
  },
  MOST_MS + 120_000,
);

/** Waits until the state lists every agent that lived before it was asked and lives after. */
async function everyWorkerListed(bed: Bed, daemon: Daemon): Promise<{ workers: number; took_ms: number }> {
  const began = Date.now();
  for (;;) {
    const before = bed.living();
    const listed = new Set((await daemon.state()).running.map((run) => run.run_id));
    const living = before.filter((one) => readProcessStart(one.pid) === one.start_time);
    const missing = living.filter((one) => !listed.has(one.launch));
    const took_ms = Date.now() - began;
    if (missing.length === 0) return { workers: living.length, took_ms };
    if (took_ms > ADOPTION_MS) throw new Error(`not adopted: ${JSON.stringify(missing)}`);
    await delay(20);
  }
}

/** Edits over HTTP, each with a higher number: one that was answered with 200 has to stay. */
class AcknowledgedEdits {
  readonly #bed: Bed;
  readonly #least = new Map<string, number>();
  #number = 0;
  acknowledged = 0;

  constructor(bed: Bed) {
    this.#bed = bed;
  }

  async keepEditing(daemon: Daemon, slugs: readonly string[]): Promise<void> {
    for (let nth = 0; daemon.alive; nth += 1) {
      const slug = slugs[nth % slugs.length]!;
      this.#number += 1;
      const number = this.#number;
      try {
        const { status } = await daemon.post('/fiber-edit', { fiber_id: slug, tags: [`n${number}`] });
        if (status === 200) {
          this.#least.set(slug, number);
          this.acknowledged += 1;
        }
      } catch {
        return;
      }
      await delay(30);
    }
  }

  missing(): string[] {
    return [...this.#least].flatMap(([slug, least]) => {
      const [tag = 'none'] = this.#bed.store.read(slug).tags;
      return Number(tag.slice(1)) >= least ? [] : [`${slug} has ${tag}, ${least} was acknowledged`];
    });
  }
}

/** A process that reads all documents all the time. */
function startReader(bed: Bed) {
  let child: ReturnType<typeof spawn> | null = null;
  let said = '';
  const lines = () => said.split('\n').filter((line) => line !== '');
  return {
    start() {
      const script = new URL('reader.ts', import.meta.url).pathname;
      child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, bed.store.root], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      child.stdout?.on('data', (bytes) => {
        said += bytes;
      });
    },
    faults: () => lines().filter((line) => line.includes('"faults"')),
    /** Ends it; answers how many documents it read. */
    async stop(): Promise<number> {
      if (child !== null && child.exitCode === null) {
        const ended = new Promise((resolve) => child?.on('close', resolve));
        child.stdin?.end();
        await ended;
      }
      return lines().reduce((sum, line) => sum + (JSON.parse(line).reads ?? 0), 0);
    },
  };
}

function handedOff(bed: Bed, launch: RunManifest): boolean {
  const end = readEnd(join(bed.root, 'data', 'runs', launch.launch_id));
  return end.kind === 'found' && end.value.reason === 'handoff';
}

/** A verb that failed because its agent was being ended by request is no failure. */
function isRealFailure(bed: Bed): (one: Witness) => boolean {
  return (one) => {
    if (one.event !== 'failed') return false;
    const end = readEnd(join(bed.root, 'data', 'runs', one.launch));
    return end.kind !== 'found' || end.value.reason === 'handoff';
  };
}

/** The last moment at which a launch's agent can have lived. */
function lastSigns(bed: Bed, told: readonly Witness[]): (launch_id: string) => number | null {
  const ends = new Map(told.flatMap((one) => (one.event === 'end' ? [[one.launch, one.at]] : [])));
  return (launch_id) => {
    const exit = readExit(join(bed.root, 'data', 'runs', launch_id));
    const recorded = exit.kind === 'found' ? exit.value.at + 1_000 : null;
    return ends.get(launch_id) ?? recorded;
  };
}

/** Every agent that started has its line in the sessions ledger, and every line is whole. */
function launchesWithoutLine(bed: Bed, launches: readonly RunManifest[], told: readonly Witness[]): string[] {
  const text = readFileSync(join(bed.root, 'data', 'sessions.jsonl'), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  const dispatched = new Set(
    lines.map((line) => JSON.parse(line)).flatMap((line) => (line.kind === 'dispatch' ? [line.run_id] : [])),
  );
  const started = new Set(told.flatMap((one) => (one.event === 'start' ? [one.launch] : [])));
  return launches
    .filter((one) => started.has(one.launch_id) && !dispatched.has(one.run_id))
    .map((one) => `${one.fiber} ${one.launch_id}`);
}

/** Sessions that an agent counted up in its document, and that the document does not count any more. */
function lostSessions(bed: Bed, told: readonly Witness[]): string[] {
  const most = new Map<string, number>();
  for (const one of told)
    if (one.event === 'edited') most.set(one.uid, Math.max(most.get(one.uid) ?? 0, one.count ?? 0));
  return bed.store.list().documents.flatMap((document) => {
    const counted = Number(/^Sessions: (\d+)$/m.exec(bed.store.read(document.id).body)?.[1]);
    return counted >= (most.get(document.uid ?? '') ?? 0) ? [] : [`${document.id} counts ${counted}`];
  });
}

/** Lock and temporary files that nobody removed. */
function leftovers(bed: Bed): string[] {
  const base = join(bed.store.root, '.fibers');
  if (!existsSync(base)) return ['no store'];
  return readdirSync(base, { recursive: true })
    .map(String)
    .filter((name) => /\.lock|\.tmp-/.test(name));
}
