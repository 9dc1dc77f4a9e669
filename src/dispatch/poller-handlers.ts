import { isCoded } from '../base/errors.ts';
import { dataPaths } from '../config/paths.ts';
import { agentsReplySchema } from '../contract/agent.ts';
import { rehearsal } from '../contract/http/rehearsal.ts';
import { DEFAULT_SURFACE, type Surface } from '../contract/surface.ts';
import type { pollerCalls } from '../contract/threads/poller.ts';
import { encodeCatalogue } from '../fibers/search/catalogue.ts';
import { agentsReply } from '../harness/agents/registry.ts';
import { withStorageErrors } from '../platform/storage-error.ts';
import { withBulk } from '../threads/bulk.ts';
import type { Handlers } from '../threads/calls.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Feed } from './feed.ts';
import type { Memory } from './holds/memory.ts';
import type { PollLoop } from './poll-loop.ts';
import { appMessageStage, giveAppMessage } from './requests/app-message.ts';
import { pullBrake, releaseBrake, releaseHeld } from './requests/brake-requests.ts';
import { contextTarget } from './requests/context-target.ts';
import { storeForNew } from './requests/document-requests.ts';
import { DocumentWrites } from './requests/document-writes.ts';
import { KeptAnswers } from './requests/kept-answers.ts';
import { LifecycleCalls } from './requests/lifecycle-calls.ts';
import { messageTarget } from './requests/message-target.ts';
import { openTerminal } from './requests/open-terminal.ts';
import type { OperatorCalls } from './requests/operator-calls.ts';
import { endRecorder, recorderSession, startRecorder } from './requests/recorder-session.ts';
import { dismissCapture, dismissIncident, resumeIncident } from './requests/resume-incident.ts';
import { createTunnelCalls } from './requests/tunnel-calls.ts';
import { workerScreen } from './requests/worker-screen.ts';
import type { Rows } from './rows.ts';
import { viewState } from './state-view.ts';
import type { StoreDocuments } from './stores/store-documents.ts';
import type { Surroundings } from './surroundings.ts';
import { lookAtSignIns, lookAtTools } from './tools.ts';
import type { PollerSettings } from './world/poller-settings.ts';
import type { World } from './world/world.ts';
import { perform } from './world/write.ts';

/** The parts of a running poller. */
export type PollerParts = {
  world: World;
  memory: Memory;
  dispatcher: Dispatcher;
  documents: StoreDocuments;
  feed: Feed;
  rows: Rows;
  loop: PollLoop;
  settings: PollerSettings;
  surroundings: Surroundings;
  operator: OperatorCalls;
};

/** What the main thread may ask of the poller. */
export function pollerHandlers(parts: PollerParts): Handlers<typeof pollerCalls> {
  const { world, memory, dispatcher, documents, feed, rows, loop, settings, surroundings, operator } = parts;
  const tunnels = createTunnelCalls({ settings, surroundings });
  const lifecycle = new LifecycleCalls({
    world,
    memory,
    dispatcher,
    look: (reference, store) => documents.look(reference, store),
    agents: () => surroundings.agents.registry,
    cli: world.cli,
    onMoved: (keys) => rows.runtimeMoved(keys),
  });
  const writes = new DocumentWrites({
    world,
    memory,
    agents: () => surroundings.agents.registry,
    documents,
    rows,
  });
  const terminal = openTerminal(world, dispatcher.pastSessions);
  const surfaceOf = ({ surface = DEFAULT_SURFACE }: { surface?: Surface | undefined }) =>
    dispatcher.surfaces[surface];
  const epoch = world.newUlid();
  const answers = new KeptAnswers(dataPaths(settings).answers_dir, () => world.clock.now());
  return withStorageErrors<Handlers<typeof pollerCalls>>(settings.data_dir, {
    feed({ svc, body }) {
      const { etag, bytes } = body
        ? feed.encodeWithBodies({ svc }, (document) => documents.bodyOf(document))
        : feed.encode({ svc });
      return withBulk({ etag, state: feed.state }, bytes);
    },
    feed_first() {
      const bytes = feed.encodeFirst(world.clock.now());
      return bytes === null ? {} : withBulk({}, bytes);
    },
    feed_changes({ svc, since }) {
      const { value, bytes } = feed.changesSince(since, svc ? 'svc' : 'all');
      return withBulk(value, bytes);
    },
    catalogue({ known }) {
      const { silent } = documents;
      const catalogue = [`${epoch}-${documents.generation}`, ...silent].join(' ');
      if (catalogue === known) return { catalogue };
      // Reading a store whose disk does not answer would hold a thread that every other search needs.
      const rows = [...documents.all()].filter(({ store }) => !silent.includes(store));
      return withBulk({ catalogue }, encodeCatalogue(rows, documents));
    },
    async fiber({ id }) {
      const { document, body } = await documents.open(id);
      return { fiber: rows.row(document, body) };
    },
    state: async () =>
      viewState({
        world,
        memory,
        dispatcher,
        health: loop.health,
        rebooted: settings.rebooted,
        cli_contract: settings.cli_contract,
        mux_owner: await surroundings.muxOwner(dispatcher.listing),
        operator_file_errors: await operator.errors(),
        skills: surroundings.skills,
        dropped_hook_events: surroundings.hooks.dropped,
      }),
    resume_incident: (request) => resumeIncident({ world, memory, dispatcher }, request),
    dismiss_incident(request) {
      const lost = Object.values(dispatcher.surfaces).find(({ captures }) =>
        captures.view().some(({ run_id, state }) => run_id === request.id && state === 'ended'),
      );
      return lost === undefined
        ? dismissIncident(memory, request)
        : dismissCapture(memory, lost.captures, request);
    },
    begin_write: ({ id, content }) => ({ kept: answers.begin(id, content) }),
    end_write({ id, answer }) {
      answers.end(id, answer);
      return {};
    },
    async sweep_store({ store, dry_run }) {
      return dry_run === true ? rehearsal(`read the store ${store}`) : loop.sweep(store);
    },
    async dispatch(request) {
      await listUntilKnown(documents, loop, request.fiber_id);
      return documents.whenRead(() => dispatcher.dispatch(request));
    },
    kill: (request) => perform(dispatcher.kills, request),
    message_target: (query) => messageTarget(world, memory, query),
    context_target: (query) => contextTarget(world, memory.runs.all(), query),
    give_app_message: (message) => giveAppMessage(world, memory.runs, message),
    app_message_stage: async (query) => ({ stage: await appMessageStage(world, query) }),
    start_recorder: (spec) => startRecorder(world, spec),
    recorder_session: (query) => recorderSession(world, query),
    end_recorder: (query) => endRecorder(world, query),
    fiber_of_meeting({ launch }) {
      for (const { id, svc } of documents.all()) if (svc?.runtime?.meeting === launch) return { fiber: id };
      return { fiber: null };
    },
    worker_screen: (query) => workerScreen(world, memory, query),
    why: ({ fiber, look }) => dispatcher.why(fiber, { look }),
    async pull_brake(request) {
      const answer = await pullBrake(parts, request);
      if ('stopped' in answer) rows.refreshAll(loop.health.stores);
      return answer;
    },
    async release_brake(request) {
      const answer = await releaseBrake(parts, request);
      if ('stopped' in answer) void loop.tick();
      return answer;
    },
    async lifecycle(request) {
      await documents.settle(request.fiber, request.store);
      return lifecycle.lifecycle(request);
    },
    async transition(request) {
      await documents.settle(request.fiber_id);
      return lifecycle.transition(request);
    },
    capture(request) {
      const store = storeForNew(documents.roots, request.store, undefined);
      // No session could file its fiber there.
      documents.requireThere(store);
      return surfaceOf(request).captures.capture({ ...request, store });
    },
    async claim(request) {
      await listUntilKnown(documents, loop, request.fiber_id);
      await documents.settle(request.fiber_id);
      return surfaceOf(request).claims.claim(request);
    },
    resume_session: (request) => dispatcher.resumeSession(request),
    open_terminal: (request) => perform(terminal, request),
    create_fiber: (request) => writes.create(request),
    edit_fiber: (request) => writes.edit(request),
    nest_fiber: (request) => writes.nest(request),
    agent_effort: (request) => operator.writeEffort(request),
    async release_quarantine(request) {
      const answer = await releaseHeld(dispatcher, request);
      if ('released' in answer) void loop.tick();
      return answer;
    },
    agents: () =>
      world.cli === null
        ? agentsReply(surroundings.agents.registry)
        : world.cli.ask(['agents', '--json'], agentsReplySchema, 'invalid_config'),
    config_list: () => operator.list(),
    config_read: ({ id }) => operator.read(id),
    config_write: (request) => operator.write(request),
    write_remote: (request) => operator.writeRemote(request),
    async write_tunnels(request) {
      await operator.requireDisk('remotes');
      return tunnels.install(request);
    },
    fiber_stores: () => operator.lists(),
    write_stores: (request) => operator.writeStores(request),
    write_projects: (request) => operator.writeProjects(request),
    choose_folder: ({ dialog, title }) => operator.chooseFolder(dialog, title),
    end_dialog: ({ dialog }) => operator.endDialog(dialog),
    async tools() {
      const { agents } = surroundings.agents.registry;
      const [tools, signed] = await Promise.all([
        lookAtTools(surroundings.runner, agents),
        lookAtSignIns(agents, world.harness.adapter),
      ]);
      return { ...tools, agents: signed };
    },
  });
}

/**
 * A fiber that was filed a moment ago is in no listing yet. By its canonical id it is found without one; for a uid or a
 * leaf the stores are listed, by a tick that begins after the request.
 */
async function listUntilKnown(documents: StoreDocuments, loop: PollLoop, fiber_id: string): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) {
    try {
      await documents.whenRead(() => documents.look(fiber_id));
      return;
    } catch (error) {
      if (!isCoded(error, 'fiber_not_found')) throw error;
      await loop.tick({ whole: true });
    }
  }
}
