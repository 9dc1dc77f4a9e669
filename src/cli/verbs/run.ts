import { homedir } from 'node:os';
import { sep } from 'node:path';
import { z } from 'zod';
import { sleep } from '../../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { svcOf } from '../../config/own-command.ts';
import { resolveDirectory } from '../../config/resolve-directory.ts';
import { readSettings } from '../../config/settings.ts';
import { dispatchedSchema, refusedSchema } from '../../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal, stepOf } from '../../contract/http/rehearsal.ts';
import type { NewFiber } from '../../fibers/new-document.ts';
import { rehearsedWrite } from '../../fibers/rehearsed-write.ts';
import type { Store } from '../../fibers/store.ts';
import { loadRegistry, resolveAgent, resolveEffort } from '../../harness/agents/registry.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { readinessOf } from '../agent-readiness.ts';
import { confirm } from '../command-line/confirm.ts';
import { AGENT, argument, DRY_RUN, EFFORT, option } from '../command-line/options.ts';
import { formatMoment } from '../command-line/output.ts';
import { capitalised, rehearsed } from '../command-line/rehearsal.ts';
import { whileTelling } from '../command-line/spinner.ts';
import { type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { boardAddress } from '../daemon-client/board-address.ts';
import { errorOf } from '../daemon-client/client.ts';
import { howToLeave, showTerminal } from './attach.ts';
import { readBody } from './fiber/body.ts';
import { sharedFolderWarnings } from './lifecycle/shared-folder.ts';
import { installedBlock, runLifecycle } from './lifecycle/write.ts';
import { requireProjectFolder } from './resolve-dir.ts';
import { BegunRun } from './run/begun-run.ts';
import { type Candidate, chooseAgent } from './run/choose-agent.ts';
import { type ChosenStore, chooseStore, makeStore, plannedStore } from './run/home-store.ts';
import { readyDaemon, untilPolled } from './run/ready-daemon.ts';
import { nameOfTask, slugOfTask } from './run/task-words.ts';

/** tmux discards what was printed and has not reached the screen when it takes the terminal; a screen takes milliseconds. */
const SEEN_MS = 100;

/** Codes of a request that may have been carried out. */
const NOT_KNOWN = ['outcome_unknown', 'daemon_unreachable', 'component_unavailable'];

/** `svc run <task>`: everything between an idea and an agent that works on it, in one command. */
export const verb = defineVerb({
  summary: 'Have an agent begin a task in this folder, and show it',
  arguments: { task: argument('<task>', 'what to do; - reads standard input') },
  options: {
    agent: AGENT,
    effort: EFFORT,
    dir: option('--dir <dir>', 'folder that the agent works in; this one otherwise'),
    worktree: option('--worktree', 'let it work in a git worktree and branch of its own'),
    store: option('--store <dir>', 'store to keep the task in; ~/fibers is made where there is none'),
    attach: option('-d, --no-attach', 'let it work in the background'),
    again: option(
      '--again',
      'begin it although the same task was begun here and is not known to have started',
    ),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc run "Write a HELLO.md that greets the reader."', 'starts the default agent here, and shows it'],
    ['svc run "Fix the tests" --agent codex --dir ~/my-project -d', 'another agent, there, not shown'],
    ['svc run "Try another parser" --worktree', 'beside whatever else works in this folder'],
    ['svc run - < task.md', 'the task is a file'],
  ],
  note: 'It makes what is missing on the way (a store, a daemon) and says so. The task is a fiber from then on.',
  page: 'lifecycle.md',
  json: z.object({
    fiber: z.string(),
    uid: z.string().nullable(),
    store: z.object({ path: z.string(), is_new: z.boolean() }),
    daemon: z.object({ started: z.boolean(), listen: z.array(z.string()) }),
    agent: z.string(),
    project_dir: z.string(),
    mux_session: z.string().nullable(),
    attach: z.string(),
  }),
  exits: {
    1: 'nothing can start here, the start was refused, or the same task was begun here without an answer',
    3: 'it is not known yet whether it was started; the sentence says where to look',
  },
  async run(context, given) {
    const { task, store: only, effort, attach, dry_run, json } = given;
    const worktree: true | undefined = given.worktree === true ? true : undefined;
    const chosen = await chooseStore(context, only);
    const project_dir = resolveDirectory(given.dir ?? '.', context.cwd);
    requireProjectFolder(project_dir, '--dir');
    await requireTmux(context.env.PATH ?? '');
    const { agent, findings } = await agentFor(context, { asked: given.agent, effort, project_dir });
    const fiber = fiberOf((await readBody(context, task)) ?? '');
    const service = { project_dir, agent: agent.id, effort, host: undefined, surface: undefined, worktree };
    if (dry_run === true) return rehearsed(rehearseRun(context, { chosen, fiber, service }));

    const settings = readSettings(context.env);
    const svc = svcOf(settings);
    const begun = new BegunRun(settings, { body: fiber.body ?? '', project_dir });
    const earlier = given.again === true ? null : begun.earlier(context.clock.now());
    if (earlier !== null && !(await wantsAnother(context, earlier, { svc, json }))) return EXIT.refused;
    const say = (label: string, text: string) => {
      if (json !== true) context.err(`${label.padEnd(8)} ${text}\n`);
    };
    const store = await makeStore(context, chosen);
    say('store', `${homePath(store.root, context.env)}${newness(chosen)}`);
    const { daemon, started } = await readyDaemon(context);
    const { listen } = daemon.daemon;
    await whileTelling(context, 'The daemon takes up the store', () =>
      untilPolled(context, daemon, store.root),
    );
    const { id, uid } = await createFiber(store, withBlock(context, store, fiber, service));
    begun.begin({ fiber: id, at: context.clock.now() });
    say('fiber', id);
    say(
      'daemon',
      `${started ? 'started' : 'runs'}, ${boardAddress(listen)?.replace(/\/$/, '') ?? listen[0]}`,
    );
    const asked = whileTelling(context, 'The worker starts', () =>
      daemon.request('POST', '/dispatch', { fiber_id: uid ?? id }),
    );
    const answer = await asked.catch((error: unknown) => ({ error }));
    const failure =
      'error' in answer ? answer.error : answer.status < 500 ? null : errorOf(answer, '/dispatch');
    if (failure !== null && NOT_KNOWN.some((code) => isCoded(failure, code)))
      throw new CodedError(
        'outcome_unknown',
        `whether ${id} was started is not known yet: ${messageOf(failure)}; look with: ${svc} status ${shellWord(id)}, and if it did not start: ${svc} dispatch ${shellWord(id)}`,
      );
    begun.answered();
    if ('error' in answer) throw answer.error;
    const refused = refusedSchema.safeParse(answer.body);
    if (refused.success) {
      // Armed, it starts as soon as what keeps it back is gone.
      const own = { fiber: id, store: store.root, dry_run: undefined, local: undefined, json: true };
      await runLifecycle(context, own, () => ({ action: 'resume' }));
      throw new CodedError(
        refused.data.reason,
        `${id} is kept and does not start yet: ${refused.data.message}; see: ${svc} why ${shellWord(id)}`,
      );
    }
    const launched = dispatchedSchema.safeParse(answer.body);
    if (!launched.success) throw errorOf(answer, '/dispatch');
    const { mux_session } = launched.data;
    // With a git worktree, its start has moved it.
    const folder = store.read(id).project_dir ?? project_dir;
    say('worker', `${launched.data.agent} in ${homePath(folder, context.env)}`);

    const back = `${svc} attach ${shellWord(id)}`;
    const shared = await sharedFolderWarnings(daemon, { id, project_dir: folder }, svc, { started: true });
    const shows = attach !== false && json !== true && isAtTerminal(context) && mux_session !== null;
    if (shows) {
      for (const warning of shared) context.err(`svc: ${warning}\n`);
      context.err(`Attaching. ${await howToLeave(context, mux_session)}; it goes on working.\n`);
      await sleep(context.clock, SEEN_MS);
      const exit = await showTerminal(context, { mux_session, ssh: null });
      if (exit === EXIT.ok) context.err(`Back, while it works: ${back}\n`);
      return exit;
    }
    return {
      json: {
        fiber: id,
        uid,
        store: { path: store.root, is_new: chosen.missing.folder },
        daemon: { started, listen },
        agent: launched.data.agent,
        project_dir: folder,
        mux_session,
        attach: back,
      },
      text: `${back}\n`,
      // In its terminal a person would see what it asks.
      warnings: [
        ...shared,
        ...findings.map(({ what, mend }) => `${what}; ${mend}, or answer it with: ${back}`),
      ],
      exit: EXIT.ok,
    };
  },
});

/** Asks at a terminal; throws `conflict` where nobody can be asked. */
async function wantsAnother(
  context: CliContext,
  { fiber, at }: { fiber: string; at: number },
  { svc, json }: { svc: string; json: boolean | undefined },
): Promise<boolean> {
  const said = `the same task was begun here ${formatMoment(at, context.clock.now())} as ${fiber}, and whether it was started is not known`;
  const look = `look with: ${svc} status ${shellWord(fiber)}`;
  if (json === true || context.stdin.isTTY !== true)
    throw new CodedError('conflict', `${said}; ${look}; to begin another one, add --again`, {
      details: { fiber },
    });
  return confirm(context, `${capitalised(said)}; ${look}. Begin another one?`);
}

async function requireTmux(path: string): Promise<void> {
  if ((await findExecutable('tmux', path)) === null)
    throw new CodedError(
      'mux_unavailable',
      'tmux is not installed, and agents work in it; install it with the packages of this system (apt install tmux, dnf install tmux, brew install tmux)',
    );
}

async function agentFor(
  context: CliContext,
  {
    asked,
    effort,
    project_dir,
  }: { asked: string | undefined; effort: string | undefined; project_dir: string },
) {
  const registry = loadRegistry(readSettings(context.env));
  const named = asked === undefined ? null : resolveAgent(registry, asked);
  const agents = named === null ? registry.agents : [named];
  const known = await readinessOf(context, agents, project_dir);
  const candidates = agents.map((agent, at): Candidate & { agent: typeof agent } => ({
    ...known[at]!,
    agent,
  }));
  const chosen = chooseAgent(candidates, named?.id ?? null);
  if (effort !== undefined) resolveEffort(chosen.agent, effort);
  return chosen;
}

/** The text is the body, and its first line is what the fiber is called. */
function fiberOf(body: string): NewFiber {
  const name = nameOfTask(body);
  if (name === '') throw new CodedError('invalid_request', 'a task needs words; say what to do');
  const slug = slugOfTask(name);
  return { name, body, ...(slug === '' ? {} : { slug }) };
}

/** The fiber, under a name of its own where another one has that id. */
async function createFiber(store: Store, fiber: NewFiber): Promise<{ id: string; uid: string | null }> {
  try {
    return await store.create(fiber);
  } catch (error) {
    if (!isCoded(error, 'already_exists')) throw error;
    return createFiber(store, { ...fiber, slug: String(error.details.suggestion) });
  }
}

function planFiber(store: Store, fiber: NewFiber): ReturnType<Store['planCreate']> {
  try {
    return store.planCreate(fiber);
  } catch (error) {
    if (!isCoded(error, 'already_exists')) throw error;
    return planFiber(store, { ...fiber, slug: String(error.details.suggestion) });
  }
}

type Service = Omit<Parameters<typeof installedBlock>[2], 'action'> & { agent: string; project_dir: string };

/**
 * The fiber with its svc block, so that one write makes all of it. It is not armed: the daemon starts it for the request of
 * `svc run`, and never by itself beside it.
 */
function withBlock(context: CliContext, store: Store, fiber: NewFiber, service: Service): NewFiber {
  const { document } = planFiber(store, fiber);
  return { ...fiber, svc: installedBlock(context, document, { action: 'install', ...service }) };
}

function rehearseRun(
  context: CliContext,
  { chosen, fiber, service }: { chosen: ChosenStore; fiber: NewFiber; service: Service },
): Rehearsal {
  const { agent, project_dir, worktree } = service;
  const in_store = plannedStore(context, chosen);
  const planned = planFiber(in_store, withBlock(context, in_store, fiber, service));
  const { id } = planned.document;
  const store = [
    ...(chosen.missing.folder ? [rehearsal(`make the store ${chosen.root}`)] : []),
    ...(chosen.missing.listing ? [rehearsal(`have the daemon work on ${chosen.root}`)] : []),
  ];
  const where = worktree === true ? `a git worktree of ${project_dir}` : project_dir;
  const start = rehearsal(`start ${agent} on it in ${where}, and the daemon where none runs`);
  const steps = [...store, rehearsedWrite('create', planned), start].map(stepOf);
  return rehearsal(`have ${agent} begin ${id} in ${where}`, { steps });
}

function newness({ missing }: ChosenStore): string {
  if (missing.folder) return ' (new; the daemon watches it from now on)';
  return missing.listing ? ' (the daemon watches it from now on)' : '';
}

/** Both ends are a terminal: what is printed is seen, and keys reach the agent. */
function isAtTerminal({ stdin, width }: CliContext): boolean {
  return stdin.isTTY === true && Number.isFinite(width);
}

/** A path as a person writes it: `~` for the home folder, which `env` may name. */
function homePath(path: string, env: NodeJS.ProcessEnv): string {
  const home = env.HOME || homedir();
  if (path === home) return '~';
  return path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}
