import { z } from 'zod';
import { CodedError, isCoded, systemCode } from '../../base/errors.ts';
import { readRemotes } from '../../config/remotes.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { sshPastSessionArgv, sshSessionArgv } from '../../config/ssh-terminal.ts';
import { resumedSessionSchema, type SshTarget } from '../../contract/http/attach.ts';
import { originFields } from '../../contract/http/composite.ts';
import { type Rehearsal, rehearsal, rehearsalSchema, stepOf } from '../../contract/http/rehearsal.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { runInTerminal } from '../../platform/interactive-process.ts';
import { createRunner } from '../../platform/process.ts';
import { argument, DRY_RUN, option } from '../command-line/options.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';
import { captureCalled } from '../daemon-client/captures.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { noHostCalled, readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { fiberPath } from '../daemon-client/fiber-path.ts';
import { chooseSession, hostsThatRun, isSessionName, noWorkerOf } from './attach/choose-worker.ts';

/** `svc attach <fiber|session>`: shows a worker's terminal in this one; detach with the tmux prefix and `d`. */
export const verb = defineVerb({
  summary: 'Open a worker’s terminal here, on any host',
  arguments: {
    name: argument(
      '[fiber|session]',
      'a running fiber, by id, uid or the beginning of its id, or a session name',
      { completes: 'fibers' },
    ),
  },
  options: {
    session: option('--session <id>', 'a past session, by the id of its conversation: it is opened again'),
    host: option('--host <id>', 'host that runs it, or ran it; needed for a session of another host'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc attach say-hello', 'shows the worker here; leave with the tmux prefix and d'],
    ['svc attach say-hello --host host-b', 'the worker of another host, by SSH'],
  ],
  page: 'sessions.md',
  no_json: 'it hands the terminal over to the worker',
  run: async (context, given) => {
    if ((given.name === undefined) === (given.session === undefined))
      throw new CodedError(
        'invalid_request',
        'name a running fiber or a session, which svc ps lists, or a past one with --session',
      );
    return given.dry_run === true
      ? rehearsed(await rehearseAttach(context, given))
      : showTerminal(context, await terminalToShow(context, given));
  },
});

/** `session`: the conversation id of a past session. */
type Chosen = { name: string | undefined; session: string | undefined; host: string | undefined };

/** A terminal session: of this host, or of another one with the `ssh` command that shows it. */
export type Terminal = { mux_session: string; ssh: { host: string; argv: readonly string[] } | null };

/** What it would run here, after what the daemon would start for a past session. */
async function rehearseAttach(context: CliContext, chosen: Chosen): Promise<Rehearsal> {
  const settings = readSettings(context.env);
  const show = (terminal: Terminal) => {
    const { mux_session, ssh } = terminal;
    const { file, args } = commandOf(terminal, settings, context.env);
    const command = { argv: [file, ...args], cwd: context.cwd, env: [], mux_session };
    const where = ssh === null ? '' : ` of ${ssh.host}`;
    return rehearsal(`show ${mux_session}${where} in this terminal`, { command });
  };
  const { session } = chosen;
  if (session === undefined || (await otherHost(context, chosen.host)) !== null)
    return show(await terminalToShow(context, chosen));
  const opened = await (await connectDaemon(settings)).post(
    '/sessions/resume',
    { session, dry_run: true },
    rehearsalSchema,
  );
  const mux_session = opened.command?.mux_session ?? `resume-${session}`;
  return rehearsal('open a past session and show it here', {
    steps: [opened, show({ mux_session, ssh: null })].map(stepOf),
  });
}

/**
 * Shows a terminal in this one until it is left. Throws `mux_unavailable`, `remote_unreachable`, and `invalid_request`
 * where nobody could see one of this host.
 */
export async function showTerminal(context: CliContext, terminal: Terminal): Promise<ExitCode> {
  const { file, args, env } = commandOf(terminal, readSettings(context.env), context.env);
  const is_here = terminal.ssh === null && (await findExecutable(file, context.env.PATH ?? '')) !== null;
  if (is_here && context.stdin.isTTY !== true)
    throw new CodedError(
      'invalid_request',
      'svc attach needs a terminal to show a worker in; `svc transcript <fiber>` prints what was said',
    );
  let code: number;
  try {
    code = await runInTerminal({ file, args, env, cwd: context.cwd });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new CodedError('mux_unavailable', `${file} is not on the PATH; install it, then try again`, {
      cause: error,
    });
  }
  if (code === SSH_FAILED && terminal.ssh !== null)
    throw new CodedError(
      'remote_unreachable',
      `ssh did not reach ${terminal.ssh.host}; see why with: svc remotes check ${terminal.ssh.host}`,
    );
  return code === 0 ? EXIT.ok : EXIT.refused;
}

/** The exit code of `ssh` itself, where it did not reach a command of the other host. */
const SSH_FAILED = 255;

/** The terminal session to show; the daemon of its host starts or finds a past one. */
async function terminalToShow(context: CliContext, { name, session, host }: Chosen): Promise<Terminal> {
  const settings = readSettings(context.env);
  const other = await otherHost(context, host);
  if (name !== undefined) {
    if (isSessionName(name)) return terminalOf(settings, other, name);
    return other === null
      ? workerToFind(context, name, { anywhere: host === undefined })
      : workerOfHost(settings, name, other);
  }
  if (other !== null) {
    const argv = sshPastSessionArgv(sshTargetOf(settings, other), session!);
    return { mux_session: `resume-${session}`, ssh: { host: other, argv } };
  }
  const daemon = await connectDaemon(settings);
  const { mux_session } = await daemon.post('/sessions/resume', { session }, resumedSessionSchema);
  return { mux_session, ssh: null };
}

/** The host of `--host`, unless it is this one. */
async function otherHost(context: CliContext, host: string | undefined): Promise<string | null> {
  if (host === undefined) return null;
  const daemon = await connectDaemon(readSettings(context.env));
  const own = (await daemon.get('/state', hereSchema)).host;
  return own === host ? null : host;
}

function terminalOf(settings: Settings, host: string | null, mux_session: string): Terminal {
  if (host === null) return { mux_session, ssh: null };
  return { mux_session, ssh: { host, argv: sshSessionArgv(sshTargetOf(settings, host), mux_session) } };
}

/** How `remotes.json` says that a host is reached by SSH; throws `unknown_host` and `invalid_config`. */
function sshTargetOf(settings: Settings, host: string): SshTarget {
  const { remotes } = readRemotes(settings);
  const remote = remotes.find(({ name }) => name === host);
  if (remote === undefined)
    throw noHostCalled(
      host,
      remotes.map(({ name }) => name),
    );
  if (remote.ssh === undefined || remote.ssh.startsWith('-'))
    throw new CodedError(
      'invalid_config',
      `the entry of ${host} in remotes.json needs "ssh", which is what ssh is to be called with; or open the terminal there`,
    );
  return { alias: remote.ssh, flags: remote.ssh_flags ?? [] };
}

const hereSchema = stateSchema.pick({ host: true });
/** What of `GET /state/composite` names the workers of all hosts. */
const workersSchema = z.object({
  origins: z.record(
    z.string(),
    z.object({
      error: originFields.error,
      // What one host tells in another shape keeps nobody from the others.
      read: stateSchema.pick({ running: true }).nullable().catch(null),
    }),
  ),
});

/** The worker of a fiber: of this host first, else, if it may be anywhere, of the only other host that runs it. */
async function workerToFind(
  context: CliContext,
  name: string,
  { anywhere }: { anywhere: boolean },
): Promise<Terminal> {
  const settings = readSettings(context.env);
  const daemon = await connectDaemon(settings);
  const state = await daemon.get('/state', stateSchema);
  const { host: own, running } = state;
  const reference = { name, is_called: await isCalled(daemon, name) };
  try {
    return { mux_session: chooseSession(running, reference), ssh: null };
  } catch (error) {
    if (!isCoded(error, 'no_worker')) throw error;
    const capture = reference.is_called ? null : captureCalled(state, name);
    if (capture !== null) return { mux_session: capture, ssh: null };
    if (!anywhere) throw error;
    const others = await daemon.get('/state/composite', workersSchema).catch(() => null);
    const [found, ...more] = others === null ? [] : hostsThatRun(reference, own, others.origins);
    if (found === undefined) throw reference.is_called ? error : await faultOfIdle(context, name, error);
    const hosts = [found, ...more].map(({ host }) => host);
    if (more.length > 0)
      throw new CodedError(
        'ambiguous_fiber',
        `${name} runs on the hosts ${hosts.join(', ')}; name the one that is meant with --host`,
      );
    context.err(`svc: ${name} is on ${found.host}\n`);
    return terminalOf(settings, found.host, chooseSession(found.running, reference));
  }
}

/** What keeps a fiber from being shown that is called so on another host, or of whose id this is the beginning; else `fault`. */
async function faultOfIdle(context: CliContext, name: string, fault: unknown): Promise<unknown> {
  try {
    const { fiber } = await readFiber(context, name);
    return new CodedError('no_worker', noWorkerOf({ name: fiber.id, is_called: true }, []));
  } catch (error) {
    return isCoded(error, 'ambiguous_fiber') ? error : fault;
  }
}

async function workerOfHost(settings: Settings, name: string, host: string): Promise<Terminal> {
  // What is wrong with its entry is told before that nothing is known of it.
  sshTargetOf(settings, host);
  const daemon = await connectDaemon(settings);
  const there = (await daemon.get('/state/composite', workersSchema)).origins[host];
  if (there?.read == null)
    throw new CodedError(
      'remote_unreachable',
      `what runs on ${host} is not known: ${there?.error?.message ?? 'it has told nothing yet'}`,
    );
  const reference = { name, is_called: await isCalled(daemon, name, host) };
  return terminalOf(settings, host, chooseSession(there.read.running, reference));
}

/** Whether a fiber of this host, or of `host`, is called exactly so. Several are as well; what does not answer says nothing. */
async function isCalled(daemon: DaemonClient, name: string, host?: string): Promise<boolean> {
  const origin = host === undefined ? '' : `?origin=${encodeURIComponent(host)}`;
  try {
    await daemon.get(`/fibers/${fiberPath(name)}${origin}`, z.unknown());
    return true;
  } catch (error) {
    return isCoded(error, 'ambiguous_fiber');
  }
}

/** The command that shows a terminal in this one. */
function commandOf(
  { mux_session, ssh }: Terminal,
  { tmux_socket }: Settings,
  env: NodeJS.ProcessEnv,
): { file: string; args: string[]; env: NodeJS.ProcessEnv } {
  if (ssh === null) return attachCommand(mux_session, tmux_socket, env);
  const [file, ...args] = ssh.argv as [string, ...string[]];
  return { file, args, env };
}

/** How a person leaves a session that is shown here, in the keys of its tmux server. */
export async function howToLeave(context: CliContext, mux_session: string): Promise<string> {
  const { tmux_socket } = readSettings(context.env);
  const { args } = attachCommand(mux_session, tmux_socket, context.env);
  const server = tmux_socket === null ? [] : ['-S', tmux_socket];
  const told = await createRunner().run({
    file: 'tmux',
    args: [...server, 'show-options', '-gqv', 'prefix'],
    env: context.env,
    timeout_ms: 5_000,
    max_output_bytes: 1024,
  });
  const prefix = told.kind === 'exited' && told.code === 0 ? told.stdout.trim() : '';
  const key = /^C-.$/.test(prefix) ? `Ctrl-${prefix.at(-1)}` : prefix || 'the tmux prefix and';
  return args.includes('switch-client') ? `Go back with ${key} L` : `Leave with ${key} d`;
}

/** The command that shows a session; inside the same tmux server it switches the client instead of nesting. */
export function attachCommand(
  session: string,
  socket: string | null,
  env: NodeJS.ProcessEnv,
): { file: string; args: string[]; env: NodeJS.ProcessEnv } {
  const server = socket === null ? [] : ['-S', socket];
  const outer = env.TMUX?.split(',')[0];
  const inside = outer !== undefined && (socket === null ? outer.endsWith('/default') : outer === socket);
  if (inside) return { file: 'tmux', args: [...server, 'switch-client', '-t', `=${session}`], env };
  const { TMUX: _outer, TMUX_PANE: _pane, ...rest } = env;
  return { file: 'tmux', args: [...server, 'attach', '-t', `=${session}`], env: rest };
}
