import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Death, FiberRow } from '../../src/contract/fiber.ts';
import type { LifeEntry } from '../../src/contract/http/life.ts';
import type { Spend } from '../../src/contract/http/spend.ts';
import type { State } from '../../src/contract/http/state.ts';
import type { Why } from '../../src/contract/http/why.ts';
import { comparedIn } from '../kit/agreement.ts';
import { isAlive } from './processes.ts';
import type { LaunchOnDisk, RealDaemon } from './real-daemon.ts';
import type { Frontmatter, Truth } from './truth.ts';

/** What the commands print with `--json`. */
export type Printed = {
  state: State;
  fibers: { row: FiberRow; why: Why; entries: LifeEntry[]; spend: Spend | null }[];
};

type Fiber = Printed['fibers'][number] & {
  /** What the machine has of it. */
  document: Frontmatter;
  /** Its newest run, and the tmux session in which that one runs. */
  last: LaunchOnDisk | undefined;
  session: string | null;
  /** How its newest run that is over died, unless it was judged since. */
  death: Death | undefined;
  hold: { reason: string; note: string | null } | undefined;
};

/** Where a line of `status`, `why` and `log` does not say what the machine shows. A line that no rule knows is one too many. */
export async function pageContradictions(one: RealDaemon, printed: Printed, truth: Truth): Promise<string[]> {
  const holds = holdsIn(one.data_dir);
  const fibers = printed.fibers.map((fiber): Fiber => {
    const own = truth.launches.filter(({ uid }) => uid === fiber.row.uid);
    const last = own.at(-1);
    const runs = last !== undefined && last.state !== 'ended' && truth.panes.has(last.mux_session);
    const over = own.findLast(({ state }) => state === 'ended');
    return {
      ...fiber,
      death: fiber.row.tempered === undefined ? (over?.death ?? undefined) : undefined,
      document: truth.documents.get(fiber.row.path) ?? {},
      last,
      session: runs ? last.mux_session : null,
      hold: holds.get(fiber.row.uid ?? ''),
    };
  });
  const [status, ...pages] = await Promise.all([
    one.svc('status').then((text) => statusPage(one, text, fibers, truth)),
    ...fibers.flatMap((fiber) => [
      one.svc('status', fiber.row.id).then((text) => fiberPage(one, text, fiber)),
      one.svc('why', fiber.row.id, '--no-look').then((text) => whyPage(text, fiber)),
      one.svc('log', fiber.row.id).then((text) => logPage(one, text, fiber)),
    ]),
  ]);
  return [status!, ...pages].flat();
}

/** The holds that were put on one fiber, by its uid. */
function holdsIn(data_dir: string) {
  const folder = join(data_dir, 'state', 'holds');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return new Map(
    names.map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(folder, name), 'utf8')) as NonNullable<Fiber['hold']>,
    ]),
  );
}

const cellsOf = (line: string) => line.trim().split(/ {2,}/);
const firstCells = (lines: readonly string[]) => lines.slice(1).map((line) => cellsOf(line)[0]!);

/** The page of the whole daemon: of each section the fibers that it lists. */
function statusPage(one: RealDaemon, text: string, fibers: readonly Fiber[], truth: Truth): string[] {
  const found: string[] = [];
  const compare = comparedIn(found);
  const idsWhere = (test: (fiber: Fiber) => boolean) => fibers.filter(test).map(({ row }) => row.id);
  const [head, ...sections] = text.split('\n\n').map((part) => part.split('\n').filter(Boolean));
  const pid = Number(/^daemon +pid (\d+),/.exec(head?.[0] ?? '')?.[1]);
  if (!isAlive(pid)) found.push(`svc status names the daemon ${pid}, which does not run`);
  const expected: Record<string, string[]> = {
    Running: idsWhere(({ session }) => session !== null),
    Blocked: idsWhere(({ row }) => row.blocked !== undefined),
    Died: idsWhere(({ death }) => death !== undefined),
    'Held back': idsWhere(({ hold, row }) => hold !== undefined || row.held === 'boot_quarantine'),
    'Standing roles': idsWhere(({ document }) => document.svc?.kind === 'standing'),
  };
  const shown = new Set<string>();
  for (const [title = '', ...lines] of sections) {
    const name = title.replace(/ \(.*\)$/, '');
    shown.add(name);
    const ids = expected[name];
    if (ids !== undefined) {
      const listed = lines[0] === 'No worker runs.' ? [] : firstCells(lines);
      compare(`${name} in svc status`, listed.sort(), ids.sort());
    } else if (name === 'Stores')
      compare(
        'the stores of svc status',
        lines.slice(1).map((line) => [cellsOf(line)[0], cellsOf(line)[2]]),
        [[one.store, String(truth.documents.size)]],
      );
    else if (!KNOWN_LINES.some((known) => known.test(title))) found.push(`svc status says “${title}”`);
  }
  for (const [name, ids] of Object.entries(expected))
    if (ids.length > 0 && !shown.has(name)) found.push(`svc status has no ${name}, and there are ${ids}`);
  return found;
}

const KNOWN_LINES = [/^tmux server: /, /^COMPONENT /, /^Since the daemon started nothing is launched/];

/** The page of one fiber: each label beside its document, its run directory and tmux. */
function fiberPage(one: RealDaemon, text: string, fiber: Fiber): string[] {
  const { row, document, last, session, hold, death: died } = fiber;
  const { svc = {} } = document;
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head, ...lines] = text.split('\n').filter(Boolean);
  compare('the head of svc status', head, row.id);
  compare('the path of the document', relative(join(one.store, '.fibers'), dirname(row.path)), row.id);
  const awaits = document.status === 'closed' && document.tempered === undefined;
  const verdict = document.tempered ? 'accepted' : 'composted';
  const starts: Record<string, string | undefined> = {
    name: document.name,
    uid: document.id,
    file: row.path,
    status: awaits
      ? 'closed, awaiting review; accept it with: svc accept '
      : document.tempered === undefined
        ? document.status
        : `${document.status}, ${verdict}`,
    outcome: document.outcome,
    kind: svc.kind as string | undefined,
    host: svc.host as string | undefined,
    agent: svc.agent as string | undefined,
    folder: svc.project_dir as string | undefined,
    schedule: svc.schedule as string | undefined,
    'next due':
      svc.kind === 'standing' && document.status === 'active' && session === null ? 'in ' : undefined,
    worker: session === null ? undefined : `${last?.agent} ${row.runtime?.state}, `,
    held: hold === undefined ? (row.held === undefined ? undefined : row.held) : describe(hold),
    blocked: row.blocked === undefined ? undefined : `${row.blocked.reason}: ${row.blocked.message} (`,
    died: died === undefined ? undefined : session === null ? '' : 'the worker before this one, ',
    mend: died?.mend,
  };
  const shown = new Set<string>();
  for (const line of lines) {
    if (/^ {4}\| ?|^ {2}last screen of the dead worker$/.test(line)) continue;
    const [, label = '', value = ''] = /^ {2}(next due|\S+) +(.*)$/.exec(line) ?? [];
    shown.add(label);
    const start = starts[label];
    if (start === undefined || !value.startsWith(start))
      found.push(`svc status ${row.id} says “${line}”, and it is ${start ?? 'nothing'}`);
  }
  for (const [label, start] of Object.entries(starts))
    if (start !== undefined && !shown.has(label)) found.push(`svc status ${row.id} lacks ${label}: ${start}`);
  if (session !== null) found.push(...workerLine(text, fiber, session));
  if (died !== undefined && !text.includes(died.message))
    found.push(`svc status ${row.id} does not say: ${died.message}`);
  for (const screen of died?.screen?.split('\n') ?? [])
    if (!text.includes(`| ${screen}`.trimEnd()))
      found.push(`svc status ${row.id} lacks the screen “${screen}”`);
  return found;
}

const describe = ({ reason, note }: NonNullable<Fiber['hold']>) =>
  note === null ? `${reason};` : `${reason} (${note});`;

function workerLine(text: string, { row }: Fiber, session: string): string[] {
  const { phase, phase_since, said } = row.runtime!;
  const line = text.split('\n').find((each) => each.startsWith('  worker ')) ?? '';
  const age =
    phase === 'unknown' || phase_since === null ? `, ${phase}, ` : `, ${phase} since \\d+ \\S+ ago, `;
  const found: string[] = [];
  if (!new RegExp(`${age}for \\d+ \\S+, in `).test(line)) found.push(`“${line}” is not ${age}`);
  if (!line.includes(`, in ${session}`)) found.push(`“${line}” does not name ${session}`);
  if (said !== null && !line.endsWith(`; it said: ${said.replace(/\s+/g, ' ')}`))
    found.push(`“${line}” does not end with “${said}”`);
  return found;
}

/** The page of why: its headline beside tmux, then each gate beside what decides it. */
function whyPage(text: string, { row, why, document, session, hold, death }: Fiber): string[] {
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head = '', ...lines] = text.split('\n').filter(Boolean);
  const start = session === null ? `${row.id} does not run: ` : `${row.id} runs in ${session}: `;
  if (!head.startsWith(start)) found.push(`svc why says “${head}”, not “${start}”`);
  if (session === null && hold?.note != null && why.first?.gate === 'held' && !head.includes(hold.note))
    found.push(`svc why says “${head}”, without “${hold.note}”`);
  const { phase, phase_since, said } = row.runtime ?? {};
  if (phase === 'waiting' || phase === 'attention' || phase === 'idle') {
    if (said !== null && !head.includes(said!.replace(/\s+/g, ' ').trim()))
      found.push(`svc why says “${head}”, without “${said}”`);
    if (!head.includes(new Date(phase_since!).toISOString().slice(0, 16)))
      found.push(`svc why says “${head}”, not since when`);
  }
  const table = lines.findIndex((line) => line.startsWith('GATE '));
  const gates = lines.slice(table + 1).map(cellsOf);
  compare(
    `the gates of ${row.id}`,
    gates,
    why.gates.map(({ gate, state, message }) =>
      [gate, state === 'shut' ? 'SHUT' : state.replace('_', ' '), message ?? ''].filter(Boolean),
    ),
  );
  const shut = (gate: string) => gates.some(([name, state]) => name === gate && state === 'SHUT');
  compare(`the gate of status of ${row.id}`, shut('status'), document.status !== 'active');
  compare(`the gate of running of ${row.id}`, shut('running'), session !== null);
  if (hold !== undefined) compare(`the gate of holds of ${row.id}`, shut('held'), true);
  if (death !== undefined && !text.includes(`: ${death.message}.\n`))
    found.push(`svc why ${row.id} does not say: ${death.message}`);
  for (const line of lines.slice(0, table))
    if (
      !/^(What to do: |Its (folder|screen|last screen)\b|Its last worker died |The worker before this one died |Likely mend: | {2}\|)/.test(
        line,
      )
    )
      found.push(`svc why ${row.id} says “${line}”`);
  return found;
}

const WORDS: Partial<Record<LifeEntry['kind'], string>> = {
  dispatch: 'dispatched',
  resume: 'resumed',
  claim: 'claimed',
  capture: 'captured',
  session: 'new session',
  handoff: 'handed off',
  ended: 'ended',
  prompts: 'prompted',
  closed: 'closed',
  accepted: 'accepted',
};

/** The page of a life: its head beside the document, and each row beside its entry, which was held against the run directories. */
function logPage(
  one: RealDaemon,
  text: string,
  { row, entries, spend, document, death: last_death }: Fiber,
): string[] {
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head, ...parts] = text.split('\n\n').map((part) => part.split('\n').filter(Boolean));
  compare('the head of svc log', head?.[0], `${row.id} (${document.status})  ${document.name}`);
  const told = parts.find((part) => part[0]?.startsWith('WHEN '))?.slice(1) ?? [];
  compare(
    `the rows of svc log ${row.id}`,
    told.map((line) => cellsOf(line).slice(1, 3)),
    entries.map(({ kind, session }) => [WORDS[kind] ?? kind, session?.slice(0, 8) ?? '-']),
  );
  const tokens = parts.find((part) => part[0] === 'Tokens')?.slice(2) ?? [];
  const sessions = spend?.sessions ?? [];
  for (const [index, { session }] of sessions.entries())
    if (!tokens[index]?.startsWith(session)) found.push(`svc log ${row.id} says nothing of ${session}`);
  const deaths = one.launches().filter(({ uid, death }) => uid === row.uid && death != null);
  for (const { death } of deaths)
    if (!text.includes(death!.message)) found.push(`svc log ${row.id} does not say: ${death!.message}`);
  if (last_death !== undefined && !text.includes(`Likely mend: ${last_death.mend}.`))
    found.push(`svc log ${row.id} does not say: ${last_death.mend}`);
  return found;
}
