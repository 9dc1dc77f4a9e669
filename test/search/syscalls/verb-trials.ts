import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noTrace } from '../../kit/strace.ts';
import { type Ran, run } from '../../kit/test-home.ts';
import { inLanes } from '../seeded-order.ts';
import { comparable, type Files, readFiles, ulidsIn } from './files.ts';
import { problemsOf, problemsOfRetry } from './judge.ts';
import {
  callsBelow,
  faultsOf,
  hitIn,
  type Injection,
  injecting,
  recording,
  type SystemCall,
} from './system-calls.ts';
import type { Trial } from './trial.ts';
import { environmentOf, prepareFiles, processOf, VERBS, type VerbCase } from './verbs.ts';

/** A verb that takes longer hangs. */
const LONGEST_MS = 30_000;

/** A verb as it goes without a fault. */
type Reference = {
  verb: VerbCase;
  before: Files;
  after: Files;
  known: Set<string>;
  printed: string;
  calls: SystemCall[];
  root: string;
};

/**
 * Each verb with each fault in each of its calls, `<verb>:<number of the call>:<fault>`, and with each limit on the size
 * of files, `<verb>:limit:<bytes>`; of one verb, or of all. Each runs in a folder of its own.
 */
export async function verbTrials(
  only: string | null,
  lanes: number,
  goesOn: () => boolean,
): Promise<{ all: Trial[]; dispose(): void }> {
  if (noTrace !== null) throw new Error(`${noTrace}; system calls cannot be made to fail here`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-search-')));
  const all: Trial[] = [];
  const verbs = VERBS.filter((verb) => only === null || verb.name === only);
  let made = 0;
  const scratch = () => {
    made += 1;
    return join(folder, `at-${made}`);
  };
  await inLanes(verbs, lanes, goesOn, async (verb) => {
    const reference = await referenceOf(verb, scratch());
    all.push(...trialsOf(reference, scratch));
  });
  all.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { all, dispose: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

async function referenceOf(verb: VerbCase, root: string): Promise<Reference> {
  prepareFiles(verb, root);
  const known = ulidsIn(readFiles(root, new Set()));
  const before = readFiles(root, known);
  // Compiled code of this verb is kept by now, so that later runs make the calls of this one.
  await runVerb(processOf(verb, root), verb, root);
  rmSync(root, { recursive: true });
  prepareFiles(verb, root);
  const trace = `${root}.trace`;
  const ran = await runVerb([...recording(trace), ...processOf(verb, root)], verb, root);
  const after = readFiles(root, known);
  if (ran.code !== 0) throw new Error(`${verb.name} fails without a fault: ${ran.stderr}`);
  const calls = callsBelow(root, trace);
  return { verb, before, after, known, printed: comparable(ran.stdout, root, known), calls, root };
}

function trialsOf(reference: Reference, scratch: () => string): Trial[] {
  const { verb, calls, root } = reference;
  const trials = calls.flatMap((call, index) =>
    faultsOf(call).map((fault): Trial => {
      const nth = index + 1;
      return {
        id: `${verb.name}:${nth}:${fault}`,
        what: `${call.name} ${call.path.slice(root.length + 1)}`,
        changes: call.changes,
        run: () => tryFault(reference, scratch(), call, fault),
      };
    }),
  );
  for (const bytes of verb.kind === 'reads' ? [] : limitsOf(reference)) {
    trials.push({
      id: `${verb.name}:limit:${bytes}`,
      what: `no file may grow over ${bytes} bytes`,
      changes: true,
      run: () => tryLimit(reference, scratch(), bytes),
    });
  }
  return trials;
}

/** Sizes at which the system takes a part of what the verb writes: none, one byte, half of it, all but one. */
function limitsOf({ before, after }: Reference): number[] {
  const sizes = [...after.contents]
    .filter(([path, content]) => before.contents.get(path) !== content && content !== '/')
    .flatMap(([, { length }]) => [Math.floor(length / 2), length - 1]);
  return [...new Set([0, 1, 100, ...sizes])];
}

async function tryFault(
  reference: Reference,
  root: string,
  call: SystemCall,
  fault: Injection['fault'],
): Promise<{ hit: boolean; problems: string[] }> {
  const { verb } = reference;
  prepareFiles(verb, root);
  const trace = `${root}.trace`;
  const path = `${root}${call.path.slice(reference.root.length)}`;
  // A name that is made by chance cannot be named beforehand; then the calls of the whole run are counted.
  const isNamed =
    existsSync(path) || reference.after.contents.has(call.path.slice(reference.root.length + 1));
  const injection: Injection = isNamed
    ? { name: call.name, nth: call.nth_of_path, path, fault }
    : { name: call.name, nth: call.nth, path: null, fault };
  const ran = await runVerb([...injecting(injection, trace), ...processOf(verb, root)], verb, root);
  const hit = hitIn(trace);
  if (hit === null || !hit.startsWith(root)) {
    rmSync(root, { recursive: true, force: true });
    return { hit: false, problems: [] };
  }
  return { hit: true, problems: await judged(reference, root, ran) };
}

async function tryLimit(
  reference: Reference,
  root: string,
  bytes: number,
): Promise<{ hit: boolean; problems: string[] }> {
  const { verb } = reference;
  prepareFiles(verb, root);
  const ran = await runVerb(['prlimit', `--fsize=${bytes}`, ...processOf(verb, root)], verb, root);
  return { hit: true, problems: await judged(reference, root, ran) };
}

async function judged(reference: Reference, root: string, ran: Ran): Promise<string[]> {
  const { verb, before, after, known, printed } = reference;
  const seen = readFiles(root, known);
  const facts = { before, reference: after, printed };
  const problems = problemsOf({ ...facts, after: seen, ran: plain(ran, root, known) }, verb.kind);
  const again = await runVerb(processOf(verb, root), verb, root);
  problems.push(
    ...problemsOfRetry(
      seen,
      { ...facts, after: readFiles(root, known), ran: plain(again, root, known) },
      verb.kind,
    ),
  );
  rmSync(root, { recursive: true, force: true });
  return problems;
}

function plain(ran: Ran, root: string, known: ReadonlySet<string>): Ran {
  return { ...ran, stdout: comparable(ran.stdout, root, known), stderr: comparable(ran.stderr, root, known) };
}

function runVerb(argv: readonly string[], verb: VerbCase, root: string): Promise<Ran> {
  const [file = '', ...args] = argv;
  return run(file, args, environmentOf(root), LONGEST_MS, {
    cwd: join(root, 'project'),
    input: verb.stdin ?? '',
  });
}
