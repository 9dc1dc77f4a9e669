import { readFileSync, writeSync } from 'node:fs';
import { resourceUsage } from 'node:process';
import { seededBy } from '../seeded-order.ts';
import type { Generated, Target } from './target.ts';
import { TARGETS } from './targets/all.ts';

/** What one case did; times in microseconds of processor time, memory in bytes beyond what was there before. */
export type CaseResult = { bytes: number; cpu_us: number; memory: number; problems: string[] };

/** Every so many cases of one reader, a rule is repeated; the others are as people write. */
const PUMPED_EVERY = 3;

/** The input of the n-th case of a seed. */
export function caseOf(seed: string, number: number): { target: Target } & Generated {
  const target = TARGETS[number % TARGETS.length]!;
  const round = Math.floor(number / TARGETS.length);
  const turn = round % PUMPED_EVERY === 0 ? round / PUMPED_EVERY : null;
  return { target, ...target.generate(seededBy(`${seed}:${target.name}:${number}`), turn) };
}

/** How often one input is tried where its time is in question; the shortest counts, so that a busy machine is no finding. */
const TRIES = 3;

/**
 * A process that can be killed when it reads for too long. `stream <seed> <from> <step> <skipped>` works through the
 * cases of a seed; `one <target> <file>` reads one input several times. Each says `<` before it reads, `=` with the
 * result of the reading, and `>` after the slow reference was asked, on a line of its own.
 */
async function main([mode = '', ...args]: readonly string[]): Promise<void> {
  if (mode === 'one') {
    const [name, file = ''] = args;
    const target = TARGETS.find((one) => one.name === name)!;
    const input = readFileSync(file);
    // What every reading loads is nobody's memory.
    await attempt(target, target.generate(seededBy('warm'), null).input).catch(() => {});
    for (let turn = 0; turn < TRIES; turn += 1) await tried(target, input, turn, null);
    return;
  }
  const [seed = '', from = '0', step = '1', skipped = '[]'] = args;
  const skip = new Set(JSON.parse(skipped) as string[]);
  for (let number = Number(from); ; number += Number(step)) {
    const { target, input, pump } = caseOf(seed, number);
    if (!skip.has(`${target.name} ${pump}`)) await tried(target, input, number, pump);
    // Signals and streams get their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function tried(target: Target, input: Buffer, number: number, pump: string | null): Promise<void> {
  say(`< ${number} ${target.name} ${JSON.stringify(pump)}`);
  const { result, answer } = await attempt(target, input);
  say(`= ${number} ${JSON.stringify(result)}`);
  const problems = result.problems.length > 0 ? [] : await judged(target, input, answer);
  say(`> ${number} ${JSON.stringify(problems)}`);
}

async function attempt(target: Target, input: Buffer): Promise<{ result: CaseResult; answer: unknown }> {
  const problems: string[] = [];
  const peak = resourceUsage().maxRSS;
  const before = process.cpuUsage();
  let answer: unknown = null;
  try {
    answer = await target.run(input);
  } catch (error) {
    problems.push(
      `it threw ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ') : String(error)}`,
    );
  }
  const { user, system } = process.cpuUsage(before);
  const memory = (resourceUsage().maxRSS - peak) * 1024;
  return { result: { bytes: input.length, cpu_us: user + system, memory, problems }, answer };
}

async function judged(target: Target, input: Buffer, answer: unknown): Promise<string[]> {
  try {
    return (await target.judge?.(input, answer)) ?? [];
  } catch (error) {
    return [
      `the comparison threw ${error instanceof Error ? error.stack?.split('\n').slice(0, 3).join(' ') : error}`,
    ];
  }
}

/** At once, so that it was said also where what follows never ends. */
function say(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
