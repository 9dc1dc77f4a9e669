import { isCoded } from '../../../base/errors.ts';
import type { CaptureView } from '../../../contract/http/capture.ts';
import { AppServerRefusal } from '../../../harness/app-server/connection.ts';
import { type AppConversation, desktopLink } from '../../../harness/app-server/conversation.ts';
import { isShown, KEPT_MS, viewOfCapture } from '../../claims/capture-checks.ts';
import { sourceOf } from '../../run/app-run.ts';
import {
  type CaptureRecord,
  discardCapture,
  listCaptures,
  updateCapture,
} from '../../run-directory/capture-directory.ts';
import type { World } from '../../world/world.ts';
import { requireAppServer } from './app-preflight.ts';

export type AppCaptureRecord = CaptureRecord & { app: NonNullable<CaptureRecord['app']> };
type Known = { record: AppCaptureRecord; state: CaptureView['state']; being_started: boolean };

/** Captures in the app that no fiber was claimed for yet: what is shown of them, and when they are forgotten. */
export class UnclaimedConversations {
  readonly #world: World;
  readonly #known = new Map<string, Known>();
  #recalled = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** Its start is under way: until `begun` nothing is asked about it. */
  begin(record: AppCaptureRecord): void {
    this.#known.set(record.launch_id, { record, state: 'starting', being_started: true });
  }

  begun(launch_id: string): void {
    const known = this.#known.get(launch_id);
    if (known !== undefined) Object.assign(known, { state: 'running', being_started: false });
  }

  note(record: AppCaptureRecord): void {
    const known = this.#known.get(record.launch_id);
    if (known !== undefined) known.record = record;
  }

  forget(launch_id: string): void {
    this.#known.delete(launch_id);
  }

  /** Takes up what the disk has and memory has not. */
  recall(): void {
    this.#recalled = true;
    for (const record of listCaptures(this.#world.settings.data_dir)) {
      const { app, launch_id, ended_at } = record;
      if (app === undefined || this.#known.has(launch_id)) continue;
      const state = ended_at === null ? 'unknown' : 'ended';
      this.#known.set(launch_id, { record: { ...record, app }, state, being_started: false });
    }
  }

  /** One that ended can still be claimed by its id: the conversation is in the app even where its server lost it. */
  byConversation(thread_id: string): AppCaptureRecord | undefined {
    return this.#all().find(({ record }) => record.app.thread_id === thread_id)?.record;
  }

  dismiss(run_id: string): void {
    for (const known of this.#all()) {
      const { record, state } = known;
      if (record.run_id !== run_id || state !== 'ended') continue;
      const { app } = record;
      known.record = { ...updateCapture(this.#world.settings.data_dir, record, { dismissed: true }), app };
    }
  }

  view(): CaptureView[] {
    const { clock, settings } = this.#world;
    return this.#all()
      .filter(({ record }) => isShown(record, clock.now()))
      .map(({ record, state }) => {
        const { thread_id, transcript_session_uuid, project_id } = record.app;
        const link = thread_id === null ? null : desktopLink(settings.app_scheme, thread_id);
        return {
          surface: 'app',
          mux_session: null,
          ...viewOfCapture(record, this.#world),
          ...{ thread_id, transcript_session_uuid, project_id },
          ...(link === null ? {} : { desktop_link: link }),
          state,
        };
      });
  }

  /** Asks the app server about each; what it does not answer stays and is shown as `unknown`. Never rejects. */
  async look(): Promise<void> {
    for (const known of this.#all()) {
      if (!known.being_started && known.state !== 'ended') await this.#look(known);
    }
  }

  removeOld(now: number): void {
    const { settings, logger } = this.#world;
    for (const { record, being_started } of this.#all()) {
      const { launch_id, captured_at, ended_at } = record;
      if (being_started || now - (ended_at ?? captured_at) <= KEPT_MS) continue;
      discardCapture(settings.data_dir, launch_id, logger);
      this.forget(launch_id);
    }
  }

  async #look(known: Known): Promise<void> {
    try {
      const found = await this.#find(known.record);
      // A claim may have come meanwhile.
      if (this.#known.get(known.record.launch_id) !== known) return;
      if (found === null) this.#end(known);
      else {
        if (known.record.app.thread_id === null) this.#name(known, found);
        known.state = 'running';
      }
    } catch (error) {
      known.state = 'unknown';
      if (!isCoded(error) && !(error instanceof AppServerRefusal))
        this.#world.logger.warn(
          { err: error, launch: known.record.launch_id },
          'an app capture could not be looked at',
        );
    }
  }

  /** Its conversation, or null when the server was asked for that very one and has none. */
  async #find({ app, launch_id }: AppCaptureRecord): Promise<AppConversation | null> {
    const server = requireAppServer(this.#world);
    if (app.thread_id === null) return server.find(sourceOf(launch_id));
    const look = await server.look(app.thread_id);
    return look.kind === 'missing' ? null : look.conversation;
  }

  /** The daemon was killed before it had written down which conversation it had begun. */
  #name(known: Known, { thread_id, transcript_session_uuid, project_id }: AppConversation): void {
    const app = { ...known.record.app, thread_id, transcript_session_uuid, project_id };
    this.#update(known, { session_uuid: thread_id, app });
  }

  #end(known: Known): void {
    const ended_reason = known.record.app.thread_id === null ? 'never_begun' : 'conversation_missing';
    this.#update(known, { state: 'ended', ended_at: this.#world.clock.now(), ended_reason });
    known.state = 'ended';
    this.#world.logger.warn(
      { launch: known.record.launch_id, thread: known.record.app.thread_id, reason: ended_reason },
      'an app capture ended before a fiber was claimed for it; its text is in its run directory',
    );
  }

  #update(known: Known, change: Parameters<typeof updateCapture>[2]): void {
    const { app } = known.record;
    const changed = updateCapture(this.#world.settings.data_dir, known.record, change);
    known.record = { ...changed, app: changed.app ?? app };
  }

  #all(): Known[] {
    if (!this.#recalled) this.recall();
    return [...this.#known.values()];
  }
}
