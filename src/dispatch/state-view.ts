import { startCommand } from '../config/own-command.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { PollerState, StoreHealth } from '../contract/http/state.ts';
import { CONTRACT_LEVEL } from '../contract/level.ts';
import type { Dispatcher } from './dispatcher.ts';
import { placesOf } from './due/fiber-facts.ts';
import { standingDue } from './due/standing.ts';
import type { Memory } from './holds/memory.ts';
import { viewNotOurs } from './holds/not-ours.ts';
import { explainResources } from './holds/resource-words.ts';
import { viewRun } from './run/runs.ts';
import { mendOfLease, refusalOfLease } from './stores/store-leases.ts';
import { keyOf } from './world/documents.ts';
import type { World } from './world/world.ts';

/** Documents with an error that are named one by one. */
const MOST_NAMED = 50;

export type PollHealth = {
  last_tick_at: number | null;
  last_tick_ms: number | null;
  ticks: number;
  stores: StoreHealth[];
};

/** What the poller tells of itself in `GET /state` (OPR-2). */
export function viewState(options: {
  world: World;
  memory: Memory;
  dispatcher: Dispatcher;
  health: PollHealth;
  rebooted: boolean;
  cli_contract: number | null;
  mux_owner: PollerState['poll_health']['mux']['owner'];
  operator_file_errors: PollerState['operator_file_errors'];
  skills: PollerState['skills'];
  dropped_hook_events: number;
}): PollerState {
  const { world, memory, dispatcher, health } = options;
  const pending = dispatcher.rounds.pending();
  const held = pending.filter((one) => one.reason === 'boot_quarantine').length;
  const { quarantine } = memory;
  return {
    running: memory.runs.all().map((run) => ({
      ...viewRun(run, world.clock.now()),
      fiber_id: run.fiber_id,
      uid: run.uid,
      store: run.store,
    })),
    blocked: rowsOf(world, (document) => memory.refusals.get(keyOf(document))),
    deaths: rowsOf(world, (document) => memory.deaths.of(document, world.host, memory.runs)),
    pending_launch: pending.map(({ document, ...hold }) => ({ ...reference(document), ...hold })),
    standing_roles: standingRows(world, memory),
    not_ours: [...memory.not_ours.keys()].flatMap((uid) => {
      const document = world.documents.byUid(uid);
      if (document === undefined) return [];
      const sessions = viewNotOurs(world, memory, document) ?? [];
      return sessions.map((one) => ({ ...one, ...reference(document) }));
    }),
    captures: Object.values(dispatcher.surfaces).flatMap(({ captures }) => captures.view()),
    start_command: startCommand(world.settings),
    dropped_hook_events: options.dropped_hook_events,
    boot_quarantine: {
      active: quarantine.active && (held > 0 || !quarantine.first_start),
      reason: options.rebooted ? 'reboot' : 'restart',
      held,
      released_at: quarantine.released_at,
    },
    brake: {
      on: memory.brake.pulled !== null,
      since: memory.brake.pulled?.since ?? null,
      note: memory.brake.pulled?.note ?? null,
      ...(memory.brake.fault === null ? {} : { fault: memory.brake.fault }),
    },
    data_dir: { path: world.settings.data_dir, fault: memory.data_dir.fault },
    workers: placesOf(memory, world.clock.now()),
    worker_memory: world.workerMemory.view(),
    start_gate: viewStartGate(memory),
    contract: {
      ok: options.cli_contract === CONTRACT_LEVEL,
      daemon: CONTRACT_LEVEL,
      cli: options.cli_contract,
    },
    poll_health: {
      last_tick_at: health.last_tick_at,
      last_tick_ms: health.last_tick_ms,
      ticks: health.ticks,
      interval_ms: world.settings.poll_interval_ms,
      stores: health.stores.map((store) => ({ ...store, ...leaseOf(memory, store.store) })),
      mux: { ...muxHealth(dispatcher), owner: options.mux_owner },
    },
    document_errors: documentErrors(world),
    operator_file_errors: options.operator_file_errors,
    incidents: memory.incidents.all(),
    skills: options.skills,
  };
}

function viewStartGate({ starts }: Memory): PollerState['start_gate'] {
  const hold = starts.hold();
  return { hold: hold === null ? null : explainResources(hold), waiting: hold === null ? 0 : starts.waiting };
}

function leaseOf({ leases }: Memory, root: string) {
  const lease = leases.of(root);
  const message = refusalOfLease(root, lease);
  return { lease, held_back: message === null ? null : { message, mend: mendOfLease(lease) } };
}

function rowsOf<View>(
  world: Pick<World, 'documents'>,
  viewOf: (document: FiberDocument) => View | undefined,
): (View & ReturnType<typeof reference>)[] {
  const rows: (View & ReturnType<typeof reference>)[] = [];
  for (const document of world.documents.all()) {
    const view = viewOf(document);
    if (view !== undefined) rows.push({ ...view, ...reference(document) });
  }
  return rows;
}

function documentErrors(world: Pick<World, 'documents'>): PollerState['document_errors'] {
  const all: PollerState['document_errors']['first'] = [];
  for (const { store, path, error } of world.documents.all()) {
    if (error !== undefined) all.push({ store, path, error });
  }
  const byPath = all.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { count: all.length, first: byPath.slice(0, MOST_NAMED) };
}

function standingRows(
  world: Pick<World, 'clock' | 'documents' | 'host' | 'zone'>,
  memory: Pick<Memory, 'runs'>,
): PollerState['standing_roles'] {
  const rows: PollerState['standing_roles'] = [];
  for (const document of world.documents.all()) {
    if (document.svc?.kind !== 'standing' || document.svc.host !== world.host) continue;
    const due = standingDue(document, world.clock.now(), world.zone);
    rows.push({
      ...reference(document),
      schedule: document.svc.schedule ?? '',
      tz: document.svc.tz ?? world.zone,
      state: memory.runs.get(keyOf(document)) === undefined ? roleState(document) : 'running',
      auto_accept: document.svc.auto_accept === true,
      next_due_at:
        roleState(document) !== 'armed' || due.kind === 'never'
          ? null
          : due.kind === 'due'
            ? due.occurrence
            : due.next,
      error: due.kind === 'never' ? due.error : null,
    });
  }
  return rows;
}

function roleState({ status, tempered }: FiberDocument) {
  if (status === 'open') return 'parked';
  if (tempered !== undefined) return tempered ? 'accepted' : 'set_aside';
  return status === 'closed' ? 'awaiting_review' : 'armed';
}

function muxHealth(dispatcher: Dispatcher): Omit<PollerState['poll_health']['mux'], 'owner'> {
  const listing = dispatcher.listing;
  return { state: listing.kind, detail: listing.kind === 'unknown' ? listing.detail : null };
}

function reference(document: FiberDocument): { fiber_id: string; uid: string | null; store: string } {
  return { fiber_id: document.id, uid: document.uid, store: document.store };
}
