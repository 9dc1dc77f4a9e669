import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mountHeldDisk, noHeldDisk } from '../../faults/held-disk.ts';
import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { seededBy } from '../seeded-order.ts';
import { DaemonTrials, trialOf } from './daemon-trial.ts';
import { type Ground, type Layout, layoutOf, makeStore } from './layout.ts';

export const name = 'foreign-paths';

const SUBJECT = fileURLToPath(new URL('subject.ts', import.meta.url));
const LOOK_EVERY_MS = 20;
/** Looks in a row at which the thread waits for a disk, after which it counts as blocked. */
const MOST_BLOCKED = 50;

/**
 * Makes stores whose documents, folders, locks and journals are links to disks that do not answer, and lists, reads and
 * edits them: the process never waits for such a disk, every healthy fiber is listed and edited, and each link is named
 * with its reason. Then a real daemon, beside which transcripts, operator files, folders of PATH and other places become such
 * links: it goes on to start healthy fibers and to answer. Needs real FUSE mounts; without them it tries nothing.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  if (noHeldDisk !== null) {
    options.log(`skipped: ${noHeldDisk}`);
    return { cases: 0, findings: [] };
  }
  const [stores, daemon] = [await searchStores(options), await searchDaemon(options)];
  return { cases: stores.cases + daemon.cases, findings: [...stores.findings, ...daemon.findings] };
}

/** Cases of this search that a daemon takes part in. */
const DAEMON_CASE = /^daemon-(\d+)$/;

async function searchDaemon({ seed, until_ms, signal, only_case }: SearchOptions): Promise<SearchReport> {
  const only = DAEMON_CASE.exec(only_case ?? '')?.[1];
  if (only_case !== undefined && only === undefined) return { cases: 0, findings: [] };
  const trials = await DaemonTrials.begin();
  const findings: Finding[] = [];
  let cases = 0;
  try {
    for (let number = Number(only ?? 0); findings.length < 5 && !signal.aborted; number += 1) {
      const trial = trialOf(seededBy(`${seed} daemon ${number}`));
      const wrong = await trials.run(trial);
      cases += 1;
      const replay = replayCommand(name, seed, `daemon-${number}`);
      if (wrong.length > 0)
        findings.push({ title: `${wrong.join('; ')} in ${JSON.stringify(trial)}`, replay });
      if (only !== undefined || Date.now() >= until_ms) break;
    }
  } finally {
    await trials.end();
  }
  return { cases, findings };
}

async function searchStores({
  seed,
  until_ms: end_ms,
  signal,
  only_case,
}: SearchOptions): Promise<SearchReport> {
  if (DAEMON_CASE.test(only_case ?? '')) return { cases: 0, findings: [] };
  // The other half is for the daemon.
  const until_ms = Date.now() + (end_ms - Date.now()) / 2;
  const folder = mkdtempSync(join(tmpdir(), 'svc-foreign-'));
  const ground = {
    root: join(folder, 'store'),
    dead: join(folder, 'dead'),
    outside: join(folder, 'outside'),
  };
  mkdirSync(join(ground.root, '.fibers'), { recursive: true });
  const disks = await Promise.all(
    [ground.dead, join(ground.root, '.fibers', 'net')].map((place) => mountHeldDisk(place)),
  );
  const findings: Finding[] = [];
  let cases = 0;
  let subject: Subject | null = null;
  try {
    for (const disk of disks) await disk.hold();
    for (let number = Number(only_case ?? 0); Date.now() < until_ms && !signal.aborted; number += 1) {
      const layout = layoutOf(seededBy(`${seed} ${number}`), number);
      makeStore(ground, layout);
      subject ??= new Subject(ground);
      cases += 1;
      const wrong = await subject.run(layout);
      if (subject.isBlocked) subject = null;
      if (wrong.length > 0)
        findings.push({
          title: `${wrong.join('; ')} in ${JSON.stringify(layout)}`,
          replay: replayCommand(name, seed, String(number)),
        });
      if (only_case !== undefined || findings.length >= 5) break;
    }
  } finally {
    subject?.end();
    // A process that waits for a disk ends with it.
    for (const disk of disks) await disk.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  return { cases, findings };
}

/** A process that works on one layout after another. */
class Subject {
  readonly #child: ChildProcess;
  #step = '';
  #result: string[] | null = null;
  #ended = false;
  isBlocked = false;

  constructor(ground: Ground) {
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', SUBJECT, JSON.stringify(ground)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.#child.on('exit', () => {
      this.#ended = true;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const { step, wrong } = JSON.parse(line) as { step?: string; wrong?: string[] };
      this.#step = step ?? this.#step;
      this.#result = wrong ?? null;
    });
  }

  /** What is wrong with a layout; a process that waits for a disk is given up. */
  async run(layout: Layout): Promise<string[]> {
    this.#result = null;
    this.#child.stdin!.write(`${JSON.stringify(layout)}\n`);
    for (let blocked = 0; this.#result === null; ) {
      if (this.#ended) {
        this.isBlocked = true;
        return [`the process ended at the step ${this.#step}`];
      }
      blocked = this.#waitsForDisk() ? blocked + 1 : 0;
      if (blocked >= MOST_BLOCKED) {
        this.isBlocked = true;
        this.end();
        return [`the step ${this.#step} waits for a disk that does not answer`];
      }
      await delay(LOOK_EVERY_MS);
    }
    return this.#result;
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  #waitsForDisk(): boolean {
    try {
      return /fuse|request_wait/.test(readFileSync(`/proc/${this.#child.pid}/wchan`, 'utf8'));
    } catch {
      return false;
    }
  }
}
