import { isCoded } from '../base/errors.ts';
import type { pollerCalls } from '../contract/threads/poller.ts';
import { withBulk } from '../threads/bulk.ts';
import type { Handlers } from '../threads/calls.ts';
import type { Dispatcher } from './dispatcher.ts';
import { documentEdit, newFiber, storeForNew } from './document-requests.ts';
import type { Feed } from './feed.ts';
import type { Memory } from './memory.ts';
import { openTerminal } from './open-terminal.ts';
import type { PollLoop } from './poll-loop.ts';
import type { PollerSettings } from './poller.ts';
import type { Rows } from './rows.ts';
import { viewState } from './state-view.ts';
import type { StoreDocuments } from './store-documents.ts';
import type { Surroundings } from './surroundings.ts';
import { lookAtTools } from './tools.ts';
import type { World } from './world.ts';

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
};

/** What the main thread may ask of the poller. */
export function pollerHandlers(parts: PollerParts): Handlers<typeof pollerCalls> {
  const { world, memory, dispatcher, documents, feed, rows, loop, settings, surroundings } = parts;
  return {
    feed({ svc, body }) {
      const { etag, bytes } = body
        ? feed.encodeWithBodies({ svc }, (document) => documents.bodyOf(document))
        : feed.encode({ svc });
      return withBulk({ etag, state: feed.state }, bytes);
    },
    fiber({ id }) {
      const { document, body } = documents.open(id);
      return { fiber: rows.row(document, body) };
    },
    state: () =>
      viewState({
        world,
        memory,
        dispatcher,
        health: loop.health,
        rebooted: settings.rebooted,
        cli_contract: settings.cli_contract,
      }),
    dispatch: (request) => dispatcher.dispatch(request),
    kill: ({ fiber_id }) => dispatcher.kill(fiber_id),
    capture: (request) =>
      request.surface === 'app'
        ? dispatcher.appCaptures.capture(request, storeForNew(settings.store_roots, request.store, undefined))
        : dispatcher.captures.capture(request, storeForNew(settings.store_roots, request.store, undefined)),
    async claim(request) {
      await listUntilKnown(documents, loop, request.fiber_id);
      if (request.surface === 'app') return dispatcher.appClaims.claim(request);
      return dispatcher.claims.claim(request);
    },
    resume_session: (request) => dispatcher.resumeSession(request),
    open_terminal: ({ mux_session, ssh }) => openTerminal(world, mux_session, ssh),
    async create_fiber(request) {
      const parent = request.parent === undefined ? undefined : documents.find(request.parent);
      const root = storeForNew(settings.store_roots, request.store, parent?.store);
      const { body, ...document } = await documents.create(root, newFiber(request, parent?.id));
      return { fiber: rows.row(document, body) };
    },
    async edit_fiber(request) {
      const document = documents.find(request.fiber_id);
      const change = documentEdit(request);
      const { body, ...edited } = await documents.edit(document, () => change, request.expected_digest);
      return { fiber: rows.row(edited, body) };
    },
    release_quarantine() {
      const released = dispatcher.release();
      void loop.tick();
      return released;
    },
    agents: () => ({ agents: surroundings.registry().agents }),
    tools: () => lookAtTools(surroundings.runner, surroundings.registry().agents),
  };
}

/** A fiber that was filed a moment ago is in no listing yet: the tick that begins after the request has it. */
async function listUntilKnown(documents: StoreDocuments, loop: PollLoop, fiber_id: string): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) {
    try {
      documents.find(fiber_id);
      return;
    } catch (error) {
      if (!isCoded(error, 'fiber_not_found')) throw error;
      await loop.tick();
    }
  }
}
