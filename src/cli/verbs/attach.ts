import { CodedError, systemCode } from '../../base/errors.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { resumedSessionSchema } from '../../contract/http/attach.ts';
import { type Rehearsal, rehearsal, rehearsalSchema, stepOf } from '../../contract/http/rehearsal.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { runInTerminal } from '../../platform/interactive-process.ts';
import { argument, DRY_RUN, option } from '../command-line/options.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc attach <fiber|session>`: shows a worker's terminal in this one; detach with the tmux prefix and `d`. */
export const verb = defineVerb({
  summary: 'Open a worker’s terminal here',
  arguments: {
    name: argument(
      '[fiber|session]',
      'canonical id, uid or last part of the id of a running fiber, or a session name',
      { completes: 'fibers' },
    ),
  },
  options: {
    session: option('--session <id>', 'a past session, by the id of its conversation: it is opened again'),
    dry_run: DRY_RUN,
  },
  examples: [['svc attach say-hello', 'shows the worker here; leave with the tmux prefix and d']],
  page: 'sessions.md',
  no_json: 'it hands the terminal over to the worker',
  run: async (context, given) =>
    given.dry_run === true
      ? rehearsed(await rehearseAttach(context, given))
      : run(context, await sessionToShow(context, given)),
});

/** `session`: the conversation id of a past session. */
type Chosen = { name: string | undefined; session: string | undefined };

/** What it would run here, after what the daemon would start for a past session. */
async function rehearseAttach(context: CliContext, chosen: Chosen): Promise<Rehearsal> {
  const settings = readSettings(context.env);
  const show = (mux_session: string) => {
    const { file, args } = attachCommand(mux_session, settings.tmux_socket, context.env);
    const command = { argv: [file, ...args], cwd: context.cwd, env: [], mux_session };
    return rehearsal(`show ${mux_session} in this terminal`, { command });
  };
  if (chosen.session === undefined) return show(await sessionToShow(context, chosen));
  requireOneSession(chosen);
  const body = { session: chosen.session, dry_run: true };
  const opened = await (await connectDaemon(settings)).post('/sessions/resume', body, rehearsalSchema);
  const steps = [opened, show(opened.command?.mux_session ?? `resume-${chosen.session}`)].map(stepOf);
  return rehearsal('open a past session and show it here', { steps });
}

async function run(context: CliContext, session: string): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const { file, args, env } = attachCommand(session, settings.tmux_socket, context.env);
  try {
    const code = await runInTerminal({ file, args, env, cwd: context.cwd });
    return code === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    throw new CodedError('mux_unavailable', 'tmux is not on the PATH; install it, then try again', {
      cause: error,
    });
  }
}

/** The terminal session to show; the daemon of its host starts or finds a past one. */
async function sessionToShow(context: CliContext, { name, session }: Chosen): Promise<string> {
  const settings = readSettings(context.env);
  requireOneSession({ name, session });
  if (name !== undefined) return isSessionName(name) ? name : sessionOf(settings, name);
  const daemon = await connectDaemon(settings);
  return (await daemon.post('/sessions/resume', { session }, resumedSessionSchema)).mux_session;
}

function requireOneSession({ name, session }: Chosen): void {
  if ((name === undefined) !== (session === undefined)) return;
  throw new CodedError('invalid_request', 'name a running fiber or a session, or a past one with --session');
}

/** A complete session name (`<leaf>-<uid>-svc`, `capture-<uuid>`, `resume-<uuid>`) needs no daemon. */
export function isSessionName(name: string): boolean {
  return /-[0-9A-HJKMNP-TV-Z]{26}-svc$|^(capture|resume)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(
    name,
  );
}

async function sessionOf(settings: Settings, name: string): Promise<string> {
  const { running } = await (await connectDaemon(settings)).get('/state', stateSchema);
  return chooseSession(running, name);
}

/** The session of the running worker that `name` refers to; throws if there is none, several, or no terminal. */
export function chooseSession(running: State['running'], name: string): string {
  const exact = running.filter((run) => [run.fiber_id, run.uid, run.mux_session].includes(name));
  const found = exact.length > 0 ? exact : running.filter((run) => run.fiber_id.split('/').at(-1) === name);
  const [run] = found;
  if (run === undefined)
    throw new CodedError('no_worker', `no worker runs for ${name}; svc ps lists those that run`);
  if (found.length > 1)
    throw new CodedError(
      'ambiguous_fiber',
      `${name} names ${found.length} running fibers: ${found.map((one) => `${one.fiber_id} in ${one.store}`).join(', ')}; give a uid`,
    );
  if (run.mux_session === null)
    throw new CodedError(
      'surface_unsupported',
      `${run.fiber_id} runs in the app and has no terminal to attach to`,
    );
  return run.mux_session;
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
