import { CodedError } from '../../base/errors.ts';
import type { SshTarget } from '../../contract/http/attach.ts';
import { type Rehearsal, rehearsal, stepOf } from '../../contract/http/rehearsal.ts';
import type { CallInput } from '../../contract/threads/call-table.ts';
import type { pollerCalls } from '../../contract/threads/poller.ts';
import { isPlainSessionName, resumeSessionName } from '../../mux/session-name.ts';
import type { Dispatcher } from '../dispatcher.ts';
import type { World } from '../world.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Opens a window of the user's terminal emulator on a session (WPL-21): of this host's tmux server, or of another
 * host's by SSH. Throws `terminal_unreachable` with the `command` that shows the session by hand.
 */
export async function openTerminal(
  world: World,
  mux_session: string,
  ssh: SshTarget | null,
): Promise<{ terminal: string }> {
  if (ssh === null) await requireSession(world, mux_session);
  else if (!isPlainSessionName(mux_session)) throw notATerminal(mux_session);
  const { argv, unnested } = windowArgv(world, mux_session, ssh);
  const launched = await world.openTerminal({ argv: unnested, title: mux_session, type: 'os-window' });
  if (launched.kind === 'opened') return { terminal: launched.terminal };
  const command = shellLine(argv);
  throw new CodedError(
    'terminal_unreachable',
    `no terminal could be opened: ${launched.detail}. Run this in one: ${command}`,
    { details: { command } },
  );
}

/** What a terminal is asked for: a session that runs, or a past one that is opened first. */
export type AskedTerminal = Extract<
  CallInput<typeof pollerCalls, 'rehearse'>,
  { write: 'open_terminal' }
>['request'];

/** What an attach would do now; whether a terminal emulator answers is found out only by opening one. */
export async function rehearseTerminal(
  world: World,
  dispatcher: Pick<Dispatcher, 'rehearseResume'>,
  { mux_session: named, session, lines, host, ssh }: AskedTerminal,
): Promise<Rehearsal> {
  const mux_session = named ?? resumeSessionName(session ?? '');
  if (ssh !== null) {
    if (!isPlainSessionName(mux_session)) throw notATerminal(mux_session);
  } else if (named !== undefined) await requireSession(world, named);
  const first =
    session === undefined
      ? []
      : ssh === null
        ? [await dispatcher.rehearseResume({ session, lines })]
        : [rehearsal(`have ${host} open the past session ${session}`)];
  const window = rehearsal(`open a terminal window on ${mux_session} of ${host}`, {
    command: { argv: windowArgv(world, mux_session, ssh).unnested, cwd: null, env: [], mux_session },
  });
  if (first.length === 0) return window;
  return rehearsal(`open a past session and a terminal window on it`, {
    steps: [...first, window].map(stepOf),
  });
}

function windowArgv(
  world: World,
  mux_session: string,
  ssh: SshTarget | null,
): { argv: readonly string[]; unnested: string[] } {
  const argv = ssh === null ? world.mux.describe().attach_argv(mux_session) : sshArgv(ssh, mux_session);
  // An emulator that was started from tmux hands its variables on, and tmux would refuse to nest.
  return { argv, unnested: ['/usr/bin/env', '-u', 'TMUX', '-u', 'TMUX_PANE', ...argv] };
}

/** argv that shows a session of another host; the far shell gets one word that it reads nothing into. */
export function sshArgv({ alias, flags }: SshTarget, mux_session: string): string[] {
  return ['ssh', ...flags, '-t', '--', alias, `tmux attach-session -t '=${mux_session}'`];
}

/** The words as one line for a POSIX shell. */
export function shellLine(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

async function requireSession(world: World, mux_session: string): Promise<void> {
  const listing = await world.mux.list();
  if (listing.kind === 'unknown')
    throw new CodedError('mux_unavailable', `tmux did not tell its sessions (${listing.detail}); try again`);
  if (listing.kind === 'alive' && listing.sessions.some((session) => session.name === mux_session)) return;
  if (UUID.test(mux_session)) throw notATerminal(mux_session);
  throw new CodedError(
    'session_not_found',
    `there is no terminal session ${mux_session} on this host; \`svc ps\` lists the workers`,
  );
}

function notATerminal(name: string): CodedError {
  return new CodedError(
    'surface_unsupported',
    `${name} is no terminal session: an app conversation’s id names none; open it in the app, or send a past session as session`,
  );
}
