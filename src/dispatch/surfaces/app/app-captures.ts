import { isCoded, messageOf } from '../../../base/errors.ts';
import { InFlight } from '../../../base/in-flight.ts';
import type { Captured, CaptureRefused, CaptureView } from '../../../contract/http/capture.ts';
import { type Rehearsal, rehearsal } from '../../../contract/http/rehearsal.ts';
import { APP_AGENT } from '../../../contract/surface.ts';
import { agentPolicy } from '../../../harness/app-server/agent-policy.ts';
import { type AppConversation, desktopLink } from '../../../harness/app-server/conversation.ts';
import {
  type AskedCapture,
  type CheckedCapture,
  capturePrompt,
  checkCapture,
  refusedCapture,
} from '../../claims/capture-checks.ts';
import type { Memory } from '../../holds/memory.ts';
import type { Refusal } from '../../holds/refusals.ts';
import { requireMayStart } from '../../holds/start-refusal.ts';
import { NEW_CONVERSATION, sourceOf } from '../../run/app-run.ts';
import {
  bindCapture,
  removeCapture,
  unbindCapture,
  updateCapture,
  writeCapture,
} from '../../run-directory/capture-directory.ts';
import type { RunManifest } from '../../run-directory/run-records.ts';
import type { World } from '../../world/world.ts';
import { perform, type Write } from '../../world/write.ts';
import { type AppCaptureRecord, UnclaimedConversations } from './app-captures-unclaimed.ts';
import { refuseByAppServer, refuseWithoutServer, requireAppServer } from './app-preflight.ts';

/** A capture that passed its checks; its launch message takes the conversation's id. */
type PlannedCapture = { checked: CheckedCapture; record: AppCaptureRecord; claim: AskedCapture['claim'] };

/** Captures as app conversations, until a fiber is claimed for each (CAP-5). */
export class AppCaptures
  implements
    Write<AskedCapture, PlannedCapture | Refusal, Rehearsal | CaptureRefused, Captured | CaptureRefused>
{
  readonly #world: World;
  readonly #memory: Memory;
  readonly #unclaimed: UnclaimedConversations;
  readonly #starts = new InFlight();

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
    this.#unclaimed = new UnclaimedConversations(world);
  }

  view(): CaptureView[] {
    return this.#unclaimed.view();
  }

  dismiss(run_id: string): void {
    this.#unclaimed.dismiss(run_id);
  }

  removeOld(now: number): void {
    this.#unclaimed.removeOld(now);
  }

  /** Holds the unclaimed conversations against the app server. */
  look(): Promise<void> {
    return this.#unclaimed.look();
  }

  /**
   * `POST /capture` on the app surface: every check before any effect, the record before the conversation, and
   * the conversation's id on disk before its first turn.
   */
  capture<Q extends AskedCapture>(asked: Q) {
    return perform(this, asked);
  }

  /** Resolves when no conversation is being started. */
  settled(): Promise<void> {
    return this.#starts.settled();
  }

  async plan(asked: AskedCapture): Promise<PlannedCapture | Refusal> {
    requireMayStart(this.#memory, asked.store, { look: asked.dry_run !== true });
    const checked = await this.#check(asked);
    if ('reason' in checked) return checked;
    return { checked, record: this.#recordOf(checked), claim: asked.claim };
  }

  /** The id of the conversation is given by the app server when it begins. */
  show(planned: PlannedCapture | Refusal): Rehearsal | CaptureRefused {
    const world = this.#world;
    if ('reason' in planned) return refusedCapture(world.host, planned);
    const record = { ...planned.record, session_uuid: NEW_CONVERSATION };
    const { agent, project_dir, launch_id, session_uuid } = record;
    return rehearsal(`start a conversation of ${agent} in ${project_dir} to file a fiber of the text`, {
      prompt: capturePrompt(world, planned.checked, record, planned.claim, 'app'),
      minted: { launch_id, session_uuid },
    });
  }

  async apply(planned: PlannedCapture | Refusal): Promise<Captured | CaptureRefused> {
    if ('reason' in planned) return refusedCapture(this.#world.host, planned);
    // The brake may have been pulled, or the lease lost, while the checks were asked.
    requireMayStart(this.#memory, planned.record.store, { look: true });
    return this.#starts.add(this.#converse(planned));
  }

  async #converse({ checked, record, claim }: PlannedCapture): Promise<Captured | CaptureRefused> {
    const world = this.#world;
    // The words are on disk before anything is asked; the whole message needs the conversation's id.
    writeCapture(world.settings.data_dir, {
      record,
      text: checked.prompt,
      prompt: checked.prompt,
      files: [],
    });
    this.#unclaimed.begin(record);
    let conversation: AppConversation;
    try {
      conversation = await this.#start(record, checked);
    } catch (error) {
      removeCapture(world.settings.data_dir, record.launch_id);
      this.#unclaimed.forget(record.launch_id);
      return refusedCapture(world.host, {
        reason: isCoded(error) ? error.code : 'app_launch_failed',
        message: messageOf(error),
      });
    }
    try {
      return await this.#begin(record, checked, conversation, claim);
    } finally {
      this.#unclaimed.begun(record.launch_id);
    }
  }

  /** The unclaimed capture that is this conversation. */
  byConversation(thread_id: string): AppCaptureRecord | undefined {
    return this.#unclaimed.byConversation(thread_id);
  }

  bind(manifest: RunManifest): void {
    bindCapture(this.#world.settings.data_dir, manifest);
    this.#unclaimed.forget(manifest.launch_id);
  }

  giveBack(launch_id: string): void {
    unbindCapture(this.#world.settings.data_dir, launch_id);
    this.#unclaimed.recall();
  }

  async #check(request: AskedCapture): Promise<CheckedCapture | Refusal> {
    const world = this.#world;
    const down = await refuseWithoutServer(world);
    if (down !== null) return down;
    const checked = await checkCapture(world, { ...request, agent: request.agent ?? APP_AGENT });
    if ('reason' in checked) return checked;
    return (await refuseByAppServer(world, { id: 'this capture' }, checked.agent)) ?? checked;
  }

  async #begin(
    record: AppCaptureRecord,
    checked: CheckedCapture,
    conversation: AppConversation,
    claim: AskedCapture['claim'],
  ): Promise<Captured | CaptureRefused> {
    const world = this.#world;
    const { thread_id, transcript_session_uuid, project_id } = conversation;
    const identities = { thread_id, transcript_session_uuid, project_id };
    const named = this.#update(record, {
      session_uuid: thread_id,
      app: { ...record.app, ...identities, turn: 'asked' },
    });
    const server = requireAppServer(world);
    const { launch_id } = record;
    const text = capturePrompt(world, checked, named, claim, 'app');
    try {
      await server.send(thread_id, { id: launch_id, text, effort: checked.effort });
    } catch (error) {
      if ((await server.messageStage(thread_id, launch_id).catch(() => null)) === null)
        return refusedCapture(world.host, {
          reason: 'app_launch_failed',
          message: `the first turn of the app conversation ${thread_id} could not be confirmed (${messageOf(error)}); open that conversation and send the text again rather than capture it twice`,
          thread_id,
        });
    }
    this.#update(named, { state: 'spawned', app: { ...record.app, ...identities, turn: 'confirmed' } });
    world.recordSession({
      fiber: null,
      uid: null,
      session: transcript_session_uuid,
      thread_id,
      harness: record.harness,
      agent: record.agent,
      host: world.host,
      mux: null,
      at: record.captured_at,
      kind: 'capture',
      run_id: record.run_id,
    });
    const desktop_link = desktopLink(world.settings.app_scheme, thread_id);
    return {
      captured: true,
      surface: 'app',
      host: world.host,
      mux_session: null,
      session_uuid: thread_id,
      ...identities,
      ...(desktop_link === null ? {} : { desktop_link }),
      run_id: record.run_id,
      agent: record.agent,
      harness: record.harness,
    };
  }

  async #start(record: AppCaptureRecord, checked: CheckedCapture): Promise<AppConversation> {
    const world = this.#world;
    const { agent, effort, project_dir } = checked;
    const server = requireAppServer(world);
    const source = sourceOf(record.launch_id);
    const env = {
      ...world.workerEnv,
      ...agent.env,
      SVC_STORE: record.store,
      SVC_RUN_ID: record.run_id,
      SVC_RUN_DIR: world.runDirectories.directory(record.launch_id),
      SVC_HARNESS: record.harness,
      SVC_SURFACE: 'app',
    };
    const settings = { project_dir, model: agent.model, effort, ...agentPolicy(agent), env };
    try {
      return await server.start(settings, source);
    } catch (error) {
      const sent = isCoded(error, 'app_server_unavailable') && error.details.sent === true;
      const found = sent ? await server.find(source).catch(() => null) : null;
      if (found === null) throw error;
      return found;
    }
  }

  #recordOf({ agent, effort, project_dir, store }: CheckedCapture): AppCaptureRecord {
    const launch_id = this.#world.newUlid();
    return {
      version: 1,
      launch_id,
      run_id: launch_id,
      mux_session: `app-${launch_id}`,
      agent: agent.id,
      harness: agent.harness,
      session_uuid: null,
      project_dir,
      store,
      captured_at: this.#world.clock.now(),
      state: 'claimed',
      ended_at: null,
      ended_reason: null,
      boot_id: this.#world.bootId,
      asked: { effort },
      app: {
        ...{ thread_id: null, transcript_session_uuid: null, project_id: null },
        ...{ turn: 'none', resumed: false, effort },
      },
    };
  }

  #update(record: AppCaptureRecord, change: Parameters<typeof updateCapture>[2]): AppCaptureRecord {
    const changed = updateCapture(this.#world.settings.data_dir, record, change);
    const next = { ...changed, app: changed.app ?? record.app };
    this.#unclaimed.note(next);
    return next;
  }
}
