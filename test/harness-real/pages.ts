import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { holdWords } from '../../src/cli/command-line/screen-words.ts';
import { contextText } from '../../src/cli/verbs/status/context-text.ts';
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
  const pages = await Promise.all([
    one.svc('status').then((text) => statusPage(text, fibers)),
    one.svc('daemon', 'status').then((text) => daemonPage(one, text, truth)),
    ...fibers.flatMap((fiber) => [
      one.svc('status', fiber.row.id, '--verbose').then((text) => fiberPage(one, text, fiber)),
      one.svc('why', fiber.row.id, '--no-look', '--all').then((text) => whyPage(text, fiber)),
      one.svc('log', fiber.row.id, '--verbose').then((text) => logPage(one, text, fiber)),
    ]),
  ]);
  return pages.flat();
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

const cellsOf = (line: string) => line.split('\t');

/** Groups of svc status that hold fibers with a worker, and the words of all others. */
const AT_WORK = ['working', 'idle', 'unknown', 'starting'];
const OTHERS = ['needs you', 'to review', 'cannot start', 'fault', 'next', 'host'];

/** The page of what goes on: in which groups each fiber stands. */
function statusPage(text: string, fibers: readonly Fiber[]): string[] {
  const found: string[] = [];
  const groups = new Map<string, Set<string>>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [group = '', ids = ''] = cellsOf(line);
    if (!AT_WORK.includes(group) && !OTHERS.includes(group)) found.push(`svc status says “${line}”`);
    for (const id of ids.split(', ')) groups.set(group, (groups.get(group) ?? new Set()).add(id));
  }
  const isIn = (id: string, ...names: string[]) => names.some((name) => groups.get(name)?.has(id) === true);
  for (const { row, session, death, hold, document } of fibers) {
    const awaits = document.status === 'closed' && document.tempered === undefined;
    if (session !== null && !isIn(row.id, ...AT_WORK, 'needs you', 'to review'))
      found.push(`svc status does not say that ${row.id} runs`);
    if (session === null && isIn(row.id, 'working', 'idle', 'unknown'))
      found.push(`svc status says that ${row.id} runs`);
    if (awaits !== isIn(row.id, 'to review')) found.push(`svc status is wrong on the review of ${row.id}`);
    const waits = session === null && document.status === 'active';
    if (waits && death !== undefined && !isIn(row.id, 'needs you', 'cannot start'))
      found.push(`svc status does not say that ${row.id} died`);
    if (
      waits &&
      (hold !== undefined || row.blocked !== undefined) &&
      !isIn(row.id, 'needs you', 'cannot start')
    )
      found.push(`svc status does not say that ${row.id} is kept back`);
  }
  return found;
}

/** The page of the daemon: its process and its store. */
function daemonPage(one: RealDaemon, text: string, truth: Truth): string[] {
  const found: string[] = [];
  const pid = Number(/^daemon +pid (\d+),/.exec(text)?.[1]);
  if (!isAlive(pid)) found.push(`svc daemon status names the daemon ${pid}, which does not run`);
  const line = text.split('\n').find((each) => each.startsWith(`${one.store}\t`));
  comparedIn(found)('the fibers of svc daemon status', cellsOf(line ?? '')[2], String(truth.documents.size));
  return found;
}

/** The page of one fiber: each label beside its document, its run directory and tmux. */
function fiberPage(one: RealDaemon, text: string, fiber: Fiber): string[] {
  const { row, document, last, session, death: died } = fiber;
  const { svc = {} } = document;
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head, ...lines] = text.split('\n').filter(Boolean);
  compare('the head of svc status', head, row.id);
  compare('the path of the document', relative(join(one.store, '.fibers'), dirname(row.path)), row.id);
  const awaits = document.status === 'closed' && document.tempered === undefined;
  const verdict = document.tempered ? 'accepted' : 'set aside';
  const starts: Record<string, string | undefined> = {
    name: document.name,
    uid: document.id,
    file: row.path,
    status: awaits
      ? 'closed, awaiting review; accept it with: svc accept '
      : document.tempered === undefined
        ? row.runtime === undefined
          ? { open: 'draft', active: 'ready to start' }[document.status as string]
          : 'its worker runs'
        : `${document.status}, ${verdict}`,
    outcome: document.outcome,
    starts: { standing: 'on a schedule', oneshot: 'once', pinned: 'by hand' }[svc.kind as string],
    session: session ?? undefined,
    host: svc.host as string | undefined,
    agent: svc.agent as string | undefined,
    folder: svc.project_dir as string | undefined,
    schedule: svc.schedule as string | undefined,
    'next due':
      svc.kind === 'standing' && document.status === 'active' && session === null ? 'in ' : undefined,
    beside:
      row.shares_folder_with === undefined
        ? undefined
        : `shares its folder with ${row.shares_folder_with.join(', ')}`,
    worker: session === null ? undefined : `${last?.agent} ${row.runtime?.state}, `,
    context: row.runtime?.context == null ? undefined : contextText(row.runtime.context),
    held: row.held === undefined ? undefined : holdWords(row.held, row.held_note),
    blocked: row.blocked === undefined ? undefined : '',
    died: died === undefined ? undefined : session === null ? '' : 'the worker before this one, ',
    fix: died?.mend,
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
  if (session !== null) found.push(...workerLine(text, fiber));
  if (died !== undefined && !text.includes(died.message))
    found.push(`svc status ${row.id} does not say: ${died.message}`);
  for (const screen of died?.screen?.split('\n') ?? [])
    if (!text.includes(`| ${screen}`.trimEnd()))
      found.push(`svc status ${row.id} lacks the screen “${screen}”`);
  return found;
}

function workerLine(text: string, { row }: Fiber): string[] {
  const { phase, phase_since, said } = row.runtime!;
  const line = text.split('\n').find((each) => each.startsWith('  worker ')) ?? '';
  const age = phase === 'unknown' || phase_since === null ? `, ${phase}, ` : `, ${phase} for [^,]+, `;
  const found: string[] = [];
  if (!new RegExp(`${age}started \\S+`).test(line)) found.push(`“${line}” is not ${age}`);
  if (said !== null && !line.endsWith(`; it said: ${said.replace(/\s+/g, ' ')}`))
    found.push(`“${line}” does not end with “${said}”`);
  return found;
}

/** The page of why: its headline beside tmux, then each gate beside what decides it. */
function whyPage(text: string, { row, why, document, session, hold, death }: Fiber): string[] {
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head = '', ...lines] = text.split('\n').filter(Boolean);
  const starts =
    session === null ? [`${row.id} does not run: `, `${row.id} cannot start: `] : [`${row.id} runs: `];
  if (!starts.some((start) => head.startsWith(start))) found.push(`svc why says “${head}”, not “${starts}”`);
  if (session === null && hold?.note != null && why.first?.gate === 'held' && !head.includes(hold.note))
    found.push(`svc why says “${head}”, without “${hold.note}”`);
  const { phase, phase_since, said } = row.runtime ?? {};
  if (phase === 'waiting' || phase === 'attention' || phase === 'idle') {
    if (said !== null && !head.includes(said!.replace(/\s+/g, ' ').trim()))
      found.push(`svc why says “${head}”, without “${said}”`);
    if (!head.includes(clockOf(phase_since!))) found.push(`svc why says “${head}”, not since when`);
  }
  const table = lines.findIndex((line) => line.includes('\t'));
  const gates = lines.slice(table).map(cellsOf);
  compare(
    `the gates of ${row.id}`,
    gates.map(([gate, state]) => [gate, state]),
    why.gates.map(({ gate, state }) => [gate, state === 'shut' ? 'SHUT' : state.replace('_', ' ')]),
  );
  const shut = (gate: string) => gates.some(([name, state]) => name === gate && state === 'SHUT');
  compare(`the gate of status of ${row.id}`, shut('status'), document.status !== 'active');
  compare(`the gate of running of ${row.id}`, shut('running'), session !== null);
  if (hold !== undefined) compare(`the gate of holds of ${row.id}`, shut('held'), true);
  if (death !== undefined && !text.includes(`: ${death.message}.\n`))
    found.push(`svc why ${row.id} does not say: ${death.message}`);
  for (const line of lines.slice(0, table))
    if (
      !/^(What to do: |Tried |svc reshape |Its (folder|screen|last screen)\b|Its last worker died |The worker before this one died |Likely fix: | {2}\|)/.test(
        line,
      )
    )
      found.push(`svc why ${row.id} says “${line}”`);
  return found;
}

/** As this machine shows a time of today. */
const clockOf = (at: number) =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

const WORDS: Partial<Record<LifeEntry['kind'], string>> = {
  dispatch: 'started',
  resume: 'resumed',
  claim: 'claimed',
  capture: 'captured',
  session: 'went on',
  handoff: 'handed off',
  ended: 'ended',
  prompts: 'you',
  closed: 'closed',
  accepted: 'accepted',
};

function wordOf(entry: LifeEntry): string {
  return entry.kind === 'ended' && entry.mend !== undefined ? 'died' : (WORDS[entry.kind] ?? entry.kind);
}

/** The page of a life: its head beside the document, and each row beside its entry, which was held against the run directories. */
function logPage(
  one: RealDaemon,
  text: string,
  { row, entries, spend, document, death: last_death }: Fiber,
): string[] {
  const found: string[] = [];
  const compare = comparedIn(found);
  const [head, ...parts] = text.split('\n\n').map((part) => part.split('\n').filter(Boolean));
  compare('the head of svc log', head?.[0], `${row.id}\t${document.name}`);
  const told = head?.slice(1).filter((line) => line.includes('\t')) ?? [];
  compare(
    `the rows of svc log ${row.id}`,
    told.map((line) => cellsOf(line).slice(1, 3)),
    entries.flatMap((entry) =>
      Array(entry.kind === 'prompts' ? entry.count : 1).fill([
        wordOf(entry),
        entry.session?.slice(0, 8) ?? '-',
      ]),
    ),
  );
  // All transcripts are on this host.
  if (text.includes('wrote to it')) found.push(`svc log ${row.id} does not say what was typed`);
  const tokens = parts.find((part) => part[0] === 'Tokens')?.slice(1) ?? [];
  const sessions = spend?.sessions ?? [];
  for (const [index, { session }] of sessions.entries())
    if (!tokens[index]?.startsWith(`${session.slice(0, 8)}\t`))
      found.push(`svc log ${row.id} says nothing of ${session}`);
  const deaths = one.launches().filter(({ uid, death }) => uid === row.uid && death != null);
  for (const { death } of deaths)
    if (!text.includes(death!.message)) found.push(`svc log ${row.id} does not say: ${death!.message}`);
  if (last_death !== undefined && !text.includes(`Likely fix: ${last_death.mend}.`))
    found.push(`svc log ${row.id} does not say: ${last_death.mend}`);
  return found;
}
