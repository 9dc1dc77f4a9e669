import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { type ClaimRequest, claimedSchema } from '../../contract/http/capture.ts';
import { DEFAULT_SURFACE, SURFACE_RULES, type Surface, surfaceSchema } from '../../contract/surface.ts';
import { HARNESSES } from '../../harness/harnesses.ts';
import { failureWords } from '../../platform/failure-words.ts';
import { createRunner } from '../../platform/process.ts';
import { DRY_RUN, FIBER, option, STORE, surfaceOption } from '../command-line/options.ts';
import { rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { findInStores } from '../find-fiber.ts';

/** `svc claim <fiber>`: makes this session, or an app conversation, the worker of a fiber (WPL-5). */
export const verb = defineVerb({
  summary: 'Make this session the worker of a fiber',
  arguments: { fiber: FIBER },
  options: {
    surface: surfaceOption('app for an app conversation; cli otherwise'),
    mux_session: option('--mux-session <name>', 'tmux session to claim instead of the current one'),
    session_uuid: option('--session-uuid <id>', 'id of the agent’s conversation'),
    meeting: option('--meeting <id>', 'launch id of a recording that belongs to the fiber'),
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [['svc claim say-hello', 'typed in the session of an agent']],
  page: 'sessions.md',
  json: claimedSchema,
  async run(context, given) {
    const { id } = await findInStores(context, given.fiber, given.store);
    const surface = given.surface ?? ownSurface(context.env);
    const isTerminal = SURFACE_RULES[surface].in_terminal;
    const request: ClaimRequest = {
      fiber_id: id,
      surface,
      mux_session: isTerminal ? (given.mux_session ?? (await ownSession(context))) : undefined,
      session_uuid: given.session_uuid ?? (isTerminal ? ownConversation(context.env) : undefined),
      meeting: given.meeting,
    };
    if (given.dry_run === true)
      return rehearseRequest(await connectDaemon(readSettings(context.env)), '/claim', request);
    const claimed = await claim(context, request);
    const how = claimed.already_claimed ? 'was claimed before' : 'claimed';
    return {
      json: claimed,
      text: `${claimed.fiber_id} ${how}: ${claimed.agent} in ${claimed.mux_session ?? claimed.surface}\n`,
    };
  },
});

/** The surface that the agent program of this session was started for. */
function ownSurface({ SVC_SURFACE }: NodeJS.ProcessEnv): Surface {
  const surface = surfaceSchema.safeParse(SVC_SURFACE ?? DEFAULT_SURFACE);
  if (surface.success) return surface.data;
  throw new CodedError(
    'invalid_request',
    `SVC_SURFACE is "${SVC_SURFACE}", which is not a surface; name one with --surface: app or cli`,
  );
}

/** Sends one claim; throws the daemon's refusal. */
export async function claim(context: CliContext, request: ClaimRequest) {
  return (await connectDaemon(readSettings(context.env))).post('/claim', request, claimedSchema);
}

/** The current tmux session: a capture knows its own, otherwise tmux names the session of the pane. */
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
    args: ['-u', '-S', socket, 'display-message', '-p', '-t', TMUX_PANE, '#{session_name}'],
    env: context.env,
    timeout_ms: 5_000,
    max_output_bytes: 64 * 1024,
  });
  const name = answer.kind === 'exited' && answer.code === 0 ? answer.stdout.replace(/\n$/, '') : '';
  if (name !== '') return name;
  throw new CodedError(
    'mux_unavailable',
    `tmux did not report the session of pane ${TMUX_PANE} (${failureWords(answer)}); name it with --mux-session`,
  );
}

/** The conversation id that an agent program passes to its commands; undefined if none or several do. */
export function ownConversation(env: NodeJS.ProcessEnv): string | undefined {
  const told = Object.values(HARNESSES)
    .map(({ session_variable }) => (session_variable === null ? undefined : env[session_variable]))
    .filter((id) => id !== undefined && id !== '');
  return told.length === 1 ? told[0] : undefined;
}
