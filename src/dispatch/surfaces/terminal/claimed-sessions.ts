import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import type { ClaimRequest } from '../../../contract/http/capture.ts';
import type { MuxServer, MuxSession } from '../../../mux/mux.ts';
import { requireListing, sessionNamed } from '../../../mux/mux-listing.ts';
import { isNeverWorker, parseWorkerSessionName } from '../../../mux/session-name.ts';
import type { ClaimedBy, Found } from '../../claims/claims.ts';
import type { Run } from '../../run/run.ts';
import { writeForeignRun } from '../../run-directory/capture-directory.ts';
import type { World } from '../../world/world.ts';
import type { Captures } from './captures.ts';
import { findSessionAgent } from './session-agent.ts';

type ListedSession = { session: MuxSession; server: MuxServer | null };

/** Sessions of tmux that a claim names: a capture of ours, or one that a person started and in which an agent runs. */
export class ClaimedSessions implements ClaimedBy {
  readonly surface = 'cli';
  readonly captures: Captures;
  readonly #world: World;

  constructor(world: World, captures: Captures) {
    this.#world = world;
    this.captures = captures;
  }

  nameIn({ mux_session }: ClaimRequest): string {
    if (mux_session !== undefined) return mux_session;
    throw new CodedError(
      'invalid_request',
      'mux_session is missing: name the terminal session of the worker',
    );
  }

  shown(mux_session: string): string {
    return mux_session;
  }

  hasName(run: Run, mux_session: string): boolean {
    return run.mux_session === mux_session;
  }

  async find(mux_session: string, document: FiberDocument, session_uuid: string | undefined): Promise<Found> {
    const { session, server } = await this.#listed(mux_session, document);
    const named = { mux_session: session.name, surface: this.surface } as const;
    const capture = this.captures.bySession(session.name);
    if (capture !== undefined) {
      const { launch_id, run_id, agent, harness, project_dir } = capture;
      const known = session_uuid ?? capture.session_uuid;
      return {
        run: {
          ...{ claim: 'capture', launch_id, run_id, agent, harness, project_dir },
          ...{ session_uuid: known, ...named },
        },
        record: null,
      };
    }
    const found = await findSessionAgent(this.#world, session, document.svc?.agent);
    const { pid, start_time } = found.process;
    const launch_id = this.#world.newUlid();
    return {
      run: {
        ...{ claim: 'person', launch_id, run_id: launch_id, ...named },
        ...{ agent: found.agent.id, harness: found.agent.harness, pane: found.pane },
        session_uuid: session_uuid ?? null,
        project_dir: found.cwd || document.project_dir || '/',
      },
      record: (manifest) =>
        writeForeignRun(this.#world.settings.data_dir, manifest, {
          process: { pid, start_time },
          pane: server === null ? null : { server: server.pid, pane: found.pane.id },
        }),
    };
  }

  /** The living session of this name, where its name is that of no other fiber. */
  async #listed(mux_session: string, document: FiberDocument): Promise<ListedSession> {
    if (isNeverWorker(mux_session))
      throw new CodedError(
        'not_a_worker_session',
        `${mux_session} cannot be a worker: sessions of that name are for past conversations, or keep the server open`,
      );
    const named = parseWorkerSessionName(mux_session);
    if (named !== null && named.uid !== document.uid)
      throw new CodedError('session_claimed', `${mux_session} is named for another fiber, ${named.leaf}`);
    const listing = await requireListing(this.#world.mux);
    const session = sessionNamed(listing, mux_session);
    if (session === undefined)
      throw new CodedError(
        'session_not_found',
        `there is no session ${mux_session} on the tmux server of this daemon; \`${listCommand(this.#world.settings.tmux_socket)}\` lists its sessions`,
      );
    return { session, server: listing.kind === 'alive' ? (listing.server ?? null) : null };
  }
}

/** The command that lists the sessions of the server at this socket; null: the user's own. */
function listCommand(socket: string | null): string {
  return socket === null ? 'tmux ls' : `tmux -S ${shellWord(socket)} ls`;
}
