import { appendFileSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { type Clock, sleep } from '../../../base/clock.ts';
import { textOfMessage } from '../../../contract/message-text.ts';
import { ImitatedHooks, ImitatedTranscript } from '../../../harness/claude/imitation.ts';
import { failureWords } from '../../../platform/failure-words.ts';
import { makeFolder } from '../../../platform/make-folder.ts';
import type { Terminal } from '../../../platform/own-terminal.ts';
import type { ProcessRunner } from '../../../platform/process.ts';
import { readRegularText } from '../../../platform/regular-file.ts';
import { type Composer, openComposer } from './composer.ts';
import { captureIn, fileCapture } from './file-capture.ts';
import { type DemoMeeting, meetingIn, readTranscript, writeNotes } from './scribe.ts';

/** Everything that the demo agent uses. */
export type DemoAgentWorld = {
  prompt: string;
  session_id: string;
  /** Working directory: the project_dir of the fiber. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  runner: ProcessRunner;
  out(text: string): void;
  /** Where a person and messages type to it; null where there is nothing to type into. */
  terminal: Terminal | null;
  /** Milliseconds between two steps. */
  pace_ms: number;
  /** Folder of the demo's projects; the agent writes nothing outside it. */
  playground: string | null;
};

/** What it says that it does, and the tools that it says it uses for that. */
const STEPS = [
  { says: 'reading the last status', tools: ['Read', 'Grep', 'Read'] },
  { says: 'doing the next piece', tools: ['Edit', 'Read', 'Edit', 'Grep'] },
  { says: 'writing it down', tools: ['Edit', 'Read'] },
] as const;

/** Looks without anything new after which it takes a meeting for over. */
const MOST_QUIET = 400;
/** Bytes of a transcript that it reads. */
const MOST_TRANSCRIPT = 16 * 1024 * 1024;

/** Asked in a task of the user’s own, so that there is somebody to answer. */
const QUESTION = 'Is there anything that I should begin with?';
/** For so many steps it waits for the answer. */
const PATIENCE = 40;

/**
 * Works on one fiber as a real agent would, but without a model: reads the fiber through `svc`, works for some seconds,
 * commits, rewrites `## Status` and the outcome, and hands off. What is typed meanwhile it answers and notes down.
 * Returns its exit code.
 */
export async function runDemoAgent(world: DemoAgentWorld): Promise<number> {
  const talk = new Talk(world);
  try {
    return await work({ ...world, out: (text) => talk.show(text) }, talk);
  } finally {
    talk.close();
  }
}

/** What is said between the agent and who types to it. */
class Talk {
  readonly transcript: ImitatedTranscript;
  readonly hooks: ImitatedHooks;
  /** What was typed to it so far. */
  readonly heard: string[] = [];
  readonly #world: DemoAgentWorld;
  readonly #composer: Composer | null;
  #answered: () => void = () => undefined;

  constructor(world: DemoAgentWorld) {
    this.#world = world;
    this.transcript = new ImitatedTranscript(world);
    this.hooks = new ImitatedHooks({ ...world, transcript: this.transcript });
    this.#composer =
      world.terminal &&
      openComposer(world.terminal, {
        sent: (text) => void this.#hear(text),
        interrupted: () => process.kill(process.pid, 'SIGINT'),
      });
  }

  show(text: string): void {
    if (this.#composer === null) this.#world.out(text);
    else this.#composer.show(text);
  }

  /** Asks, and waits for an answer. */
  async ask(question: string): Promise<void> {
    if (this.#composer === null) return;
    this.show(`\n  ${question}\n`);
    this.transcript.assistant(question);
    await this.hooks.ask(question);
    if (this.heard.length > 0) return;
    await new Promise<void>((resolve) => {
      const callOff = this.#world.clock.after(PATIENCE * this.#world.pace_ms, resolve);
      this.#answered = () => {
        callOff();
        resolve();
      };
    });
  }

  close(): void {
    this.#composer?.close();
  }

  async #hear(text: string): Promise<void> {
    const words = textOfMessage(text);
    this.heard.push(words);
    this.transcript.user(text);
    this.show(`  > ${words}\n`);
    await this.hooks.prompt(text);
    this.transcript.assistant('I have noted it.');
    this.#answered();
  }
}

async function work(world: DemoAgentWorld, talk: Talk): Promise<number> {
  const { transcript, hooks } = talk;
  transcript.user(world.prompt);
  await hooks.begin(world.prompt);
  const capture = captureIn(world.prompt);
  const id =
    capture === null
      ? (world.env.SVC_FIBER_UID ?? fiberOf(world.prompt))
      : await fileCapture(capture, (args, input) => svc(world, args, input));
  if (id === null) {
    world.out('The prompt names no fiber; nothing to do.\n');
    return 1;
  }
  const fiber = await readFiber(world, id);
  world.out(`\n  demo agent at work on “${fiber.name}”\n  in ${world.cwd}\n\n`);
  const meeting = meetingIn(world.prompt);
  if (meeting !== null) {
    await followMeeting(world, talk, id, meeting);
    return 0;
  }
  const progress = readProgress(fiber.body);
  const session = progress.done + 1;
  const leaf = fiber.id.split('/').at(-1) ?? fiber.id;
  const notes = join(world.cwd, `${leaf}.md`);
  if (!PLAN.test(fiber.body)) await talk.ask(QUESTION);
  for (const { says, tools } of STEPS) {
    world.out(`  · ${says}\n`);
    transcript.assistant(`I am ${says} (session ${session} of ${progress.planned}).`);
    for (const tool of tools)
      await hooks.tool(tool, { file_path: notes }, () => sleep(world.clock, world.pace_ms / tools.length));
  }
  const plays = isInside(world.cwd, world.playground);
  if (plays)
    await hooks.tool('Bash', { command: 'git commit' }, () =>
      commitNote(world, leaf, `${fiber.name}: session ${session} of ${progress.planned}`),
    );
  const finished = session >= progress.planned;
  const outcome = plays
    ? playedOutcome(session, progress.planned, notes)
    : `Rehearsed without a model; nothing was changed in ${world.cwd}.`;
  const body = writeProgress(fiber.body, { done: session, planned: progress.planned }, talk.heard);
  const edit = ['fiber', 'edit', id, '--outcome', outcome, '--body', '-'];
  const closing = finished && fiber.svc?.kind !== 'standing' ? ['--status', 'closed'] : [];
  await svc(world, [...edit, ...closing], body);
  transcript.assistant(outcome);
  world.out(`\n  ${outcome}\n  handing off\n`);
  await svc(world, ['handoff', id]);
  return 0;
}

/** Follows the transcript until the meeting is over, and keeps what was said in the fiber. */
async function followMeeting(
  world: DemoAgentWorld,
  { transcript, hooks }: Talk,
  id: string,
  meeting: DemoMeeting,
): Promise<void> {
  world.out(`  · following “${meeting.title}”\n`);
  let known = -1;
  for (let quiet = 0; quiet < MOST_QUIET; ) {
    const heard = readTranscript(await readRegularText(meeting.transcript, MOST_TRANSCRIPT).catch(() => ''));
    const count = heard.spoken.length + heard.marks.length;
    if (count > known) {
      quiet = 0;
      for (const line of heard.spoken.slice(Math.max(0, known))) world.out(`    ${line}\n`);
      known = count;
      const { body } = await readFiber(world, id);
      await hooks.tool('Edit', { file_path: meeting.transcript }, async () => {
        await svc(world, ['fiber', 'edit', id, '--body', '-'], writeNotes(body, meeting, heard));
      });
    } else quiet += 1;
    if (heard.ended) {
      const outcome = `Notes of “${meeting.title}”; lines: ${heard.spoken.length}, marks: ${heard.marks.length}.`;
      await svc(world, ['fiber', 'edit', id, '--outcome', outcome, '--status', 'closed']);
      transcript.assistant(outcome);
      world.out(`\n  ${outcome}\n  handing off\n`);
      break;
    }
    await sleep(world.clock, world.pace_ms);
  }
  await svc(world, ['handoff', id]);
}

function playedOutcome(session: number, planned: number, notes: string): string {
  return session >= planned
    ? `Done in ${session} ${session === 1 ? 'session' : 'sessions'}; the notes are in ${notes}.`
    : `Session ${session} of ${planned} is in; the next one goes on from the status.`;
}

/** True inside the demo's own projects; the agent does not write to other folders. */
export function isInside(folder: string, playground: string | null): boolean {
  if (playground === null) return false;
  const path = relative(playground, folder);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

type DemoFiber = { id: string; name: string; body: string; svc?: { kind?: string } };
export type Progress = { done: number; planned: number };

/** How many sessions a fiber of the demo takes. */
const PLAN = /^Sessions planned: (\d+)/m;
const STATUS = /(^|\n)## Status\n[\s\S]*$/;

/** The progress of a demo fiber, from its body: `Sessions planned: N` and the count in `## Status`. */
export function readProgress(body: string): Progress {
  const planned = Number(PLAN.exec(body)?.[1] ?? 1);
  const done = Number(/^Session (\d+) of \d+ is done/m.exec(STATUS.exec(body)?.[0] ?? '')?.[1] ?? 0);
  return { done: done >= planned ? 0 : done, planned };
}

/** The body with its `## Status` section rewritten, and in it what was typed to the agent. */
export function writeProgress(body: string, progress: Progress, heard: readonly string[] = []): string {
  const rest = body.replace(STATUS, '').trimEnd();
  const next =
    progress.done < progress.planned
      ? 'Next: go on where this one stopped.'
      : 'Next: nothing; please review.';
  const said = heard.map((text) => `\nYou said: ${text.replaceAll('\n', ' ')}\n`).join('');
  return `${rest}\n\n## Status\n\nSession ${progress.done} of ${progress.planned} is done. ${next}\n${said}`;
}

function fiberOf(prompt: string): string | null {
  return /^Fiber: (\S+)/m.exec(prompt)?.[1] ?? null;
}

async function readFiber(world: DemoAgentWorld, id: string): Promise<DemoFiber> {
  const reply = JSON.parse(await svc(world, ['fiber', 'show', id, '--json'])) as { fiber: DemoFiber };
  return reply.fiber;
}

async function commitNote(world: DemoAgentWorld, leaf: string, line: string): Promise<void> {
  makeFolder(world.cwd, 0o777);
  appendFileSync(join(world.cwd, `${leaf}.md`), `- ${line}\n`);
  const author = [
    '-c',
    'user.name=Demo agent',
    '-c',
    'user.email=demo@localhost',
    '-c',
    'commit.gpgsign=false',
  ];
  await run(world, 'git', [...author, 'add', '--', `${leaf}.md`]);
  // Two workers of one folder may commit at the same time; the one that finds the index locked leaves its note for the
  // next commit.
  await run(
    world,
    'git',
    [...author, 'commit', '--quiet', '--no-verify', '-m', line],
    undefined,
    [0, 1, 128],
  );
}

function svc(world: DemoAgentWorld, args: string[], input?: string): Promise<string> {
  return run(world, 'svc', args, input);
}

async function run(
  world: DemoAgentWorld,
  file: string,
  args: string[],
  input?: string,
  accepted: readonly number[] = [0],
): Promise<string> {
  const result = await world.runner.run({
    file,
    args,
    cwd: world.cwd,
    timeout_ms: 60_000,
    max_output_bytes: 4 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
  if (result.kind === 'exited' && accepted.includes(result.code)) return result.stdout;
  const code = result.kind === 'exited' ? ` (exit ${result.code})` : '';
  throw new Error(`${file} ${args[0]} failed${code}: ${failureWords(result)}`);
}
