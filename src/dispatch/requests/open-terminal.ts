import { CodedError } from '../../base/errors.ts';
import { shellLine } from '../../base/shell-word.ts';
import { sshSessionArgv } from '../../config/ssh-terminal.ts';
import type { SshTarget } from '../../contract/http/attach.ts';
import { type Rehearsal, rehearsal, stepOf } from '../../contract/http/rehearsal.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import type { MuxSession } from '../../mux/mux.ts';
import { requireListing, sessionNamed } from '../../mux/mux-listing.ts';
import { isSessionName, resumeSessionName } from '../../mux/session-name.ts';
import type { World } from '../world/world.ts';
import type { Write } from '../world/write.ts';
import type { PastSessions } from './past-session-terminal.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A session that runs, or a past one that is opened first. One of another host has the `ssh` that leads there; this host
 * has the ledger `lines` of its own past session.
 */
export type AskedTerminal = {
  mux_session?: string | undefined;
  session?: string | undefined;
  lines: readonly SessionLine[];
  host: string;
  ssh: SshTarget | null;
  dry_run?: boolean | undefined;
};
type PlannedTerminal = {
  asked: AskedTerminal;
  mux_session: string;
  /** The past session of this host that is opened first. */
  past: Awaited<ReturnType<PastSessions['plan']>> | null;
};

/**
 * Opens a window of the user's terminal emulator on a session (WPL-21): of this host's tmux server, or of another
 * host's by SSH. Throws `terminal_unreachable` with the `command` that shows the session by hand; whether an emulator
 * answers is found out only by opening one.
 */
export function openTerminal(
  world: World,
  pastSessions: PastSessions,
): Write<AskedTerminal, PlannedTerminal, Rehearsal, { mux_session: string; terminal: string }> {
  return {
    async plan(asked) {
      const { mux_session: named, session = '', lines, ssh } = asked;
      const mux_session = named ?? resumeSessionName(session);
      if (ssh !== null) {
        if (!isSessionName(mux_session)) throw notATerminal(mux_session);
      } else if (named !== undefined) await requireSession(world, named);
      const past = named === undefined && ssh === null ? await pastSessions.plan({ session, lines }) : null;
      return { asked, mux_session, past };
    },
    show({ asked: { session, host, ssh }, mux_session, past }) {
      const window = rehearsal(`open a terminal window on ${mux_session} of ${host}`, {
        command: {
          argv: windowArgv(world, { name: mux_session }, ssh).unnested,
          cwd: null,
          env: [],
          mux_session,
        },
      });
      if (session === undefined) return window;
      const first =
        past === null ? rehearsal(`have ${host} open the past session ${session}`) : pastSessions.show(past);
      return rehearsal(`open a past session and a terminal window on it`, {
        steps: [first, window].map(stepOf),
      });
    },
    async apply({ asked: { ssh }, mux_session, past }) {
      const name = past === null ? mux_session : (await pastSessions.apply(past)).mux_session;
      const shown = ssh === null ? await requireSession(world, name) : { name };
      const { argv, unnested } = windowArgv(world, shown, ssh);
      const launched = await world.openTerminal({ argv: unnested, title: mux_session, type: 'os-window' });
      if (launched.kind === 'opened') return { mux_session, terminal: launched.terminal };
      const command = shellLine(argv);
      throw new CodedError(
        'terminal_unreachable',
        `no terminal could be opened: ${launched.detail}. Run this in one: ${command}`,
        { details: { command } },
      );
    },
  };
}

function windowArgv(
  world: Pick<World, 'mux'>,
  { name, panes = [] }: Pick<MuxSession, 'name'> & Partial<Pick<MuxSession, 'panes'>>,
  ssh: SshTarget | null,
): { argv: readonly string[]; unnested: string[] } {
  const ours = panes.find(({ launch_id, dead }) => launch_id !== null && !dead)?.id;
  const argv =
    ssh === null ? world.mux.describe().attach_argv(ours ?? `=${name}`) : sshSessionArgv(ssh, name);
  // An emulator that was started from tmux hands its variables on, and tmux would refuse to nest.
  return { argv, unnested: ['/usr/bin/env', '-u', 'TMUX', '-u', 'TMUX_PANE', ...argv] };
}

async function requireSession(world: Pick<World, 'mux'>, mux_session: string): Promise<MuxSession> {
  const session = sessionNamed(await requireListing(world.mux), mux_session);
  if (session !== undefined) return session;
  if (UUID.test(mux_session)) throw notATerminal(mux_session);
  throw new CodedError(
    'session_not_found',
    `there is no terminal session ${mux_session} on this host; \`svc ps\` lists the workers`,
  );
}

function notATerminal(name: string): CodedError {
  const mend = UUID.test(name)
    ? 'it is the id of an app conversation; open it in the app. For a past session send `session` instead'
    : '`svc ps` names those that run';
  return new CodedError('surface_unsupported', `${name} is no terminal session: ${mend}`);
}
