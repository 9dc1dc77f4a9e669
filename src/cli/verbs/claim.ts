import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { surfaceSchema } from '../../contract/fiber.ts';
import { type ClaimRequest, claimedSchema } from '../../contract/http/capture.ts';
import { createRunner } from '../../platform/process.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon, errorOf } from '../daemon-client/client.ts';
import { findInStores } from '../find-fiber.ts';

type Options = {
  surface?: string;
  muxSession?: string;
  sessionUuid?: string;
  meeting?: string;
  store?: string;
  dryRun?: boolean;
  json?: boolean;
};

/** `svc claim <fiber>`: makes this session, or an app conversation, the worker of a fiber (WPL-5). */
export const verb: Verb = {
  name: 'claim',
  summary: 'Make this session the worker of a fiber',
  register(command, context, exit) {
    command
      .argument('<fiber>', 'canonical id, uid or leaf')
      .option('--surface <surface>', 'app for an app conversation; cli otherwise')
      .option('--mux-session <name>', 'another session than the one this is called in')
      .option('--session-uuid <id>', 'id of the agent’s conversation')
      .option('--meeting <id>', 'launch id of a recording that belongs to the fiber')
      .option('--store <dir>', 'store to look in')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (fiber: string, options: Options) => exit(await run(context, fiber, options)));
  },
};

async function run(context: CliContext, reference: string, options: Options): Promise<ExitCode> {
  const { id } = findInStores(context, reference, options.store);
  const surface = surfaceSchema.safeParse(options.surface ?? context.env.SVC_SURFACE ?? 'cli');
  if (!surface.success)
    throw new CodedError('invalid_request', `"${options.surface}" is not a surface; it takes cli or app`);
  const terminal = surface.data === 'cli';
  const mux_session = terminal ? (options.muxSession ?? (await ownSession(context))) : undefined;
  const session_uuid = options.sessionUuid ?? (terminal ? ownConversation(context.env) : undefined);
  const request = {
    fiber_id: id,
    surface: surface.data,
    ...(mux_session === undefined ? {} : { mux_session }),
    ...(session_uuid === undefined ? {} : { session_uuid }),
    ...(options.meeting === undefined ? {} : { meeting: options.meeting }),
  };
  if (options.dryRun === true) {
    const daemon = await connectDaemon(readSettings(context.env));
    await rehearseRequest(context, daemon, '/claim', request, options);
    return EXIT.ok;
  }
  const claimed = await claim(context, request);
  if (options.json) printJson(context, claimed);
  else {
    const how = claimed.already_claimed ? 'was claimed before' : 'claimed';
    context.out(
      `${claimed.fiber_id} ${how}: ${claimed.agent} in ${claimed.mux_session ?? claimed.surface}\n`,
    );
  }
  return EXIT.ok;
}

/** Sends one claim; throws the daemon's refusal. */
export async function claim(context: CliContext, request: ClaimRequest) {
  const daemon = await connectDaemon(readSettings(context.env));
  const answer = await daemon.request('POST', '/claim', request);
  const claimed = claimedSchema.safeParse(answer.body);
  if (!claimed.success) throw errorOf(answer, '/claim');
  return claimed.data;
}

/** The tmux session this is called in: a capture knows its own, else tmux tells whose pane it is. */
export async function ownSession(context: CliContext): Promise<string> {
  const { SVC_CAPTURE, TMUX, TMUX_PANE } = context.env;
  if (SVC_CAPTURE !== undefined && SVC_CAPTURE !== '') return SVC_CAPTURE;
  const socket = TMUX?.split(',')[0];
  if (!socket || !TMUX_PANE)
    throw new CodedError(
      'invalid_request',
      'this is not a tmux session; call it from the agent’s own terminal, or name the session with --mux-session',
    );
  const answer = await createRunner().run({
    file: 'tmux',
    args: ['-S', socket, 'display-message', '-p', '-t', TMUX_PANE, '#{session_name}'],
    env: context.env,
    timeout_ms: 5_000,
    max_output_bytes: 64 * 1024,
  });
  const name = answer.kind === 'exited' && answer.code === 0 ? answer.stdout.trimEnd() : '';
  if (name !== '') return name;
  throw new CodedError(
    'mux_unavailable',
    `tmux did not tell the session of pane ${TMUX_PANE}; name it with --mux-session`,
  );
}

/** The conversation that an agent program tells its commands of; undefined where none or several do. */
export function ownConversation(env: NodeJS.ProcessEnv): string | undefined {
  const told = [env.CLAUDE_CODE_SESSION_ID, env.CODEX_THREAD_ID].filter(
    (id) => id !== undefined && id !== '',
  );
  return told.length === 1 ? told[0] : undefined;
}
