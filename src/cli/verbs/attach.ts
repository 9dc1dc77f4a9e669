import { CodedError, systemCode } from '../../base/errors.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { resumedSessionSchema } from '../../contract/http/attach.ts';
import { rehearsal, rehearsalSchema, stepOf } from '../../contract/http/rehearsal.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { runInTerminal } from '../../platform/interactive-process.ts';
import { DRY_RUN, printRehearsal } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon, errorOf } from '../daemon-client/client.ts';

/** `svc attach <fiber|session>`: shows a worker's terminal in this one; detach with the tmux prefix and `d`. */
export const verb: Verb = {
  name: 'attach',
  summary: 'Open a worker’s terminal here',
  register(command, context, exit) {
    command
      .argument(
        '[fiber|session]',
        'canonical id, uid or last part of the id of a running fiber, or a session name',
      )
      .option('--session <id>', 'a past session, by the id of its conversation: it is opened again')
      .option(...DRY_RUN)
      .action(async (name: string | undefined, options: Options) =>
        exit(
          options.dryRun === true
            ? await rehearseAttach(context, name, options)
            : await run(context, await sessionToShow(context, name, options)),
        ),
      );
  },
};

type Options = { session?: string; dryRun?: boolean };

/** What it would run here, and first of all what the daemon would start for a past session. */
async function rehearseAttach(
  context: CliContext,
  name: string | undefined,
  options: Options,
): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const show = (mux_session: string) => {
    const { file, args } = attachCommand(mux_session, settings.tmux_socket, context.env);
    const command = { argv: [file, ...args], cwd: context.cwd, env: [], mux_session };
    return rehearsal(`show ${mux_session} in this terminal`, { command });
  };
  if (options.session === undefined) {
    printRehearsal(context, show(await sessionToShow(context, name, options)), {});
    return EXIT.ok;
  }
  requireOneSession(name, options.session);
  const body = { session: options.session, dry_run: true };
  const opened = await (await connectDaemon(settings)).post('/sessions/resume', body, rehearsalSchema);
  const steps = [opened, show(opened.command?.mux_session ?? `resume-${options.session}`)].map(stepOf);
  printRehearsal(context, rehearsal('open a past session and show it here', { steps }), {});
  return EXIT.ok;
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

/** The terminal session to show; a past one is started, or found, by its host's daemon. */
async function sessionToShow(
  context: CliContext,
  name: string | undefined,
  { session: past }: Options,
): Promise<string> {
  const settings = readSettings(context.env);
  requireOneSession(name, past);
  if (name !== undefined) return isSessionName(name) ? name : sessionOf(settings, name);
  const daemon = await connectDaemon(settings);
  const answer = await daemon.request('POST', '/sessions/resume', { session: past });
  const resumed = resumedSessionSchema.safeParse(answer.body);
  if (!resumed.success) throw errorOf(answer, '/sessions/resume');
  return resumed.data.mux_session;
}

function requireOneSession(name: string | undefined, past: string | undefined): void {
  if ((name === undefined) !== (past === undefined)) return;
  throw new CodedError('invalid_request', 'name a running fiber or a session, or a past one with --session');
}

/** A whole session name (`<leaf>-<uid>-svc`, `capture-<uuid>`, `resume-<uuid>`) needs no daemon. */
export function isSessionName(name: string): boolean {
  return /-[0-9A-HJKMNP-TV-Z]{26}-svc$|^(capture|resume)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(
    name,
  );
}

async function sessionOf(settings: Settings, name: string): Promise<string> {
  const { running } = await (await connectDaemon(settings)).get('/state', stateSchema);
  return chooseSession(running, name);
}

/** The session of the running worker that `name` means; throws where there is none, several, or no terminal. */
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

/** How to show a session here; inside the same tmux server the client switches instead of nesting. */
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
