import { CodedError } from '../../../base/errors.ts';
import type { FiberDocument } from '../../../contract/fiber.ts';
import { APP_HARNESS } from '../../../contract/harness-name.ts';
import type { ClaimRequest } from '../../../contract/http/capture.ts';
import { APP_AGENT } from '../../../contract/surface.ts';
import { workerSessionName } from '../../../mux/session-name.ts';
import type { ClaimedBy, Found } from '../../claims/claims.ts';
import { isAppRun, recordOf } from '../../run/app-run.ts';
import type { Run } from '../../run/run.ts';
import type { AppRecord, RunManifest } from '../../run-directory/run-records.ts';
import type { World } from '../../world/world.ts';
import type { AppCaptures } from './app-captures.ts';
import { requireAppServer } from './app-preflight.ts';
import { missing } from './app-start.ts';

type Conversation = Pick<RunManifest, 'claim' | 'launch_id' | 'run_id' | 'agent' | 'project_dir'> & {
  app: AppRecord;
};

/** App conversations that a claim names: a capture of ours, or one that a person began at the app. */
export class ClaimedConversations implements ClaimedBy {
  readonly surface = 'app';
  readonly captures: AppCaptures;
  readonly #world: World;

  constructor(world: World, captures: AppCaptures) {
    this.#world = world;
    this.captures = captures;
  }

  nameIn({ session_uuid }: ClaimRequest): string {
    if (session_uuid !== undefined) return session_uuid;
    throw new CodedError('invalid_request', 'session_uuid is missing: name the app conversation');
  }

  shown(thread_id: string): string {
    return `conversation ${thread_id}`;
  }

  hasName(run: Run, thread_id: string): boolean {
    return run.app?.thread_id === thread_id;
  }

  /** A capture of ours is known by its own durable record, also where the app server is down. */
  async find(thread_id: string, document: FiberDocument): Promise<Found> {
    const captured = this.#captured(thread_id);
    const { runDirectories } = this.#world;
    return {
      run: {
        ...(captured ?? (await this.#verified(document, thread_id))),
        mux_session: workerSessionName(document.leaf, document.uid ?? ''),
        harness: APP_HARNESS,
        session_uuid: thread_id,
        surface: this.surface,
      },
      record:
        captured === null
          ? (manifest) => void runDirectories.claim({ manifest, prompt: '', files: [] })
          : null,
    };
  }

  marked(run: Run): void {
    if (isAppRun(run)) this.#world.runDirectories.update(run.launch_id, { app: recordOf(run.app) });
  }

  #captured(thread_id: string): Conversation | null {
    const record = this.captures.byConversation(thread_id);
    if (record?.app === undefined) return null;
    const { launch_id, run_id, agent, project_dir, app } = record;
    return { claim: 'capture', launch_id, run_id, agent, project_dir, app: { ...app, turn: 'confirmed' } };
  }

  /** Any other conversation only after the host's app server has told its exact id and that it is open. */
  async #verified(document: FiberDocument, thread_id: string): Promise<Conversation> {
    const look = await requireAppServer(this.#world).look(thread_id);
    if (look.kind === 'missing') throw missing(document.id, thread_id);
    const { conversation } = look;
    if (conversation.thread_id !== thread_id || !conversation.loaded)
      throw new CodedError(
        'session_not_found',
        `the app conversation ${thread_id} is stored and not open; open it in the app and claim it again`,
      );
    const { transcript_session_uuid, project_id, project_dir } = conversation;
    const launch_id = this.#world.newUlid();
    const agent = document.svc?.agent ?? APP_AGENT;
    return {
      ...{ claim: 'person', launch_id, run_id: launch_id, project_dir },
      agent: this.#world.harness.agent(agent).id,
      app: {
        ...{ thread_id, transcript_session_uuid, project_id },
        ...{ turn: 'confirmed', resumed: false, effort: null },
      },
    };
  }
}
