import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { caseOf } from './subject.ts';
import { confirmed, type Verdict, verdictOf } from './verdict.ts';
import { type Seen, watchSubject } from './watched-subject.ts';

export const name = 'fuzz';

const LANES = 2;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Inputs that failed, as small as they were made. */
const KEPT = join(ROOT, '.cache/search/fuzz');
/** Milliseconds in which an input is cut down while it still fails. */
const MOST_CUTTING_MS = 10_000;

/**
 * Reads inputs made by grammar with every reader of the project, in processes of their own that are killed when they
 * take too long: processor time and memory a byte are bounded, nothing but coded errors is thrown, and a slow reader
 * that is known to be right reads the same.
 */
export async function search(options: SearchOptions): Promise<SearchReport> {
  const hunt = new Hunt(options);
  if (options.only_case === undefined)
    await Promise.all(Array.from({ length: LANES }, (_, lane) => hunt.lane(lane)));
  else await hunt.replay(options.only_case);
  return { cases: hunt.cases, findings: hunt.findings };
}

class Hunt {
  readonly findings: Finding[] = [];
  cases = 0;
  readonly #options: SearchOptions;
  /** Reader and pump of what was found already: once is enough. */
  readonly #found = new Set<string>();

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Every `LANES`th case, until the time is up; a process that was killed is followed by the next. */
  async lane(lane: number): Promise<void> {
    const { seed, until_ms, signal } = this.#options;
    let next = lane;
    while (Date.now() < until_ms && !signal.aborted) {
      let suspect: Seen | null = null;
      const skipped = JSON.stringify([...this.#found]);
      await watchSubject(['stream', seed, String(next), String(LANES), skipped], until_ms, signal, (seen) => {
        this.cases += 1;
        next = seen.number + LANES;
        const verdict = verdictOf(seen);
        if (verdict !== null && !this.#found.has(keyOf(seen, verdict))) suspect = seen;
        return suspect === null;
      });
      if (suspect !== null) await this.#examine(suspect);
    }
  }

  /** `<target>:<number>` reads that case, anything else is a file after its target: `<target>:<path>`. */
  async replay(only_case: string): Promise<void> {
    const colon = only_case.indexOf(':');
    const [target, what] = [only_case.slice(0, colon), only_case.slice(colon + 1)];
    const number = Number(what);
    const made = Number.isInteger(number) ? caseOf(this.#options.seed, number) : null;
    if (made !== null && made.target.name !== target)
      throw new Error(`case ${number} is one of ${made.target.name}, not of ${target}`);
    const file = made === null ? join(ROOT, what) : keep(`${target}-replay`, made.input);
    this.cases += 1;
    const verdict = await this.#verdictOn(target, file);
    if (verdict !== null) this.#report(target, made?.pump ?? null, verdict, only_case, file);
  }

  async #examine(seen: Seen): Promise<void> {
    const { target, number, pump } = seen;
    const { seed } = this.#options;
    const { input } = caseOf(seed, number);
    const file = keep(`${target}-${seed}-${number}`, input);
    const verdict = await this.#verdictOn(target, file);
    if (verdict === null || this.#found.has(keyOf(seen, verdict))) return;
    this.#found.add(keyOf(seen, verdict));
    const smaller = await this.#smaller(target, input, verdict);
    const kept = smaller === input ? file : keep(`${target}-${seed}-${number}-small`, smaller);
    this.#report(target, pump, verdict, `${target}:${number}`, kept);
  }

  #report(target: string, pump: string | null, verdict: Verdict, only_case: string, file: string): void {
    const made = pump === null ? '' : ` with many ${pump}`;
    const title = `${target}${made}: ${verdict.told}; the input is in ${relative(ROOT, file)}`;
    this.#options.log(title.slice(0, 700));
    this.findings.push({ title, replay: replayCommand(name, this.#options.seed, only_case) });
  }

  /** Halves of an input, then smaller pieces of it, are left out as long as the same happens. */
  async #smaller(target: string, input: Buffer, { kind }: Verdict): Promise<Buffer> {
    let best = input;
    const end = Math.min(Date.now() + MOST_CUTTING_MS, this.#options.until_ms);
    const file = join(KEPT, `${target}-try-${process.pid}`);
    for (let size = Math.ceil(best.length / 2); size >= 1 && Date.now() < end; size = Math.floor(size / 2)) {
      for (let at = 0; at < best.length && Date.now() < end; ) {
        const without = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
        writeFileSync(file, without);
        const verdict = without.length === 0 ? null : await this.#verdictOn(target, file);
        if (verdict?.kind === kind) best = without;
        else at += size;
      }
    }
    return best;
  }

  async #verdictOn(target: string, file: string): Promise<Verdict | null> {
    const readings: Seen[] = [];
    await watchSubject(['one', target, file], Infinity, this.#options.signal, (seen) => {
      readings.push(seen);
      return seen.end === null;
    });
    return confirmed(readings);
  }
}

/** What has no pump is known by its sentence, so that another fault of the same reader is found too. */
function keyOf({ target, pump }: Seen, { told }: Verdict): string {
  return `${target} ${pump ?? told.replace(/\d+/g, '').slice(0, 200)}`;
}

function keep(file: string, input: Buffer): string {
  mkdirSync(KEPT, { recursive: true });
  const path = join(KEPT, `${file}.txt`);
  writeFileSync(path, input);
  return path;
}
