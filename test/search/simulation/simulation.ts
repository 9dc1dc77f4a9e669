import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FiberRow } from '../../../src/contract/fiber.ts';
import type { PollerState } from '../../../src/contract/http/state.ts';
import type { Why } from '../../../src/contract/http/why.ts';
import type { CallInput } from '../../../src/contract/threads/call-table.ts';
import type { pollerCalls } from '../../../src/contract/threads/poller.ts';
import { END_UNREAD } from '../../../src/dispatch/end/death.ts';
import type { DirectoryLook } from '../../../src/dispatch/world/world.ts';
import { Store } from '../../../src/fibers/store.ts';
import { parseWorkerSessionName } from '../../../src/mux/session-name.ts';
import type { WithBulk } from '../../../src/threads/bulk.ts';
import type { Worker } from '../../dispatch/world/fake-machine.ts';
import { type Seeded, seeded } from '../../faults/seeded.ts';
import { contradictions } from '../../kit/agreement.ts';
import { type Action, type Fault, numberOf, type Plan } from './plan.ts';
import { Crash, type SimulatedDisks } from './simulated-disks.ts';
import {
  copyOf,
  editByHand,
  faultOfDocument,
  isCopy,
  mend,
  moveByHand,
  pathOf,
  removeByHand,
  type SimulatedFiber,
  setLock,
  setStatus,
  spoil,
  statusOf,
  writeNewDocument,
} from './simulated-documents.ts';
import { type Called, SimulatedHost } from './simulated-host.ts';
import { SimulatedTime } from './simulated-time.ts';

/** Thrown for what must not happen. */
class Violation extends Error {}

/** A poll interval, a listing that takes until its deadline, and a moment. */
const ROUND_MS = 45_000;
/** Within so many rounds whatever is healthy and due has been listed and started. */
const ROUNDS = 3;
/** Longer than the deadline of every call that is made here. */
const CALLS_MS = 110_000;
const STEP_MS = 5_000;
/** More starts of one fiber than this within `PAUSE_MS` are a loop that the breaker should have stopped. */
const MOST_STARTS = 14;
const PAUSE_MS = 120_000;
/** A look at everything, and the time that tmux may take to answer it. */
const LOOK_MS = 8_000;
const TEMP = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

type Calls = typeof pollerCalls;
/** What persons told a host, as far as they were told that it was heard. */
type Words = {
  booted_at: number;
  stopped_at: number | null;
  last_brake: number;
  released: boolean;
  seen: Set<string>;
};
/** What persons told of one fiber. */
type FiberWords = {
  /**
   * The last kill, until a later word lets it start again; `at`: when it was answered, null until then. `lasts`: it was
   * not said that it is forgotten with the daemon.
   */
  kill: { at: number | null; lasts: boolean } | null;
  disarmed_at: number | null;
  /** Calls under way that may start it. */
  asked: number;
  starts: number[];
};

/** One simulated world, from its setup to its end. Everything in it happens in the time of this object alone. */
export class Simulation {
  readonly time = new SimulatedTime();
  readonly disks: SimulatedDisks;
  readonly folder = mkdtempSync(join(TEMP, 'svc-simulation-'));
  readonly stores: string[];
  readonly hosts: SimulatedHost[];
  readonly fibers: SimulatedFiber[] = [];
  readonly #directories = new Map<string, DirectoryLook>();
  readonly #hung = new Set<string>();
  readonly #words: Words[];
  readonly #fiberWords = new Map<string, FiberWords>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #random: Seeded;
  readonly #violations: string[] = [];
  /**
   * Two daemons have one host id. Which of them has the lease of a store is theirs to settle, so that only what must
   * never happen is judged: two workers of one fiber, and a document that is lost.
   */
  readonly #has_twins: boolean;
  /** Fibers of the setup; those after them were filed by probes. */
  readonly #planned: number;
  #turned_back = false;
  /** Which step is done, for the sentence of a violation. */
  #doing = 'the beginning';

  constructor(plan: Plan, seed: string, disks: SimulatedDisks) {
    this.disks = disks;
    this.#random = seeded(numberOf(`${seed} runs`));
    this.stores = Array.from({ length: plan.setup.stores }, (_, index) =>
      join(this.folder, `store-${index}`),
    );
    for (const root of this.stores) mkdirSync(join(root, '.fibers'), { recursive: true });
    this.hosts = plan.setup.hosts.map(({ skew_ms, stores, max_concurrent, twin_of }, index) => {
      const name = String.fromCharCode(65 + index);
      const data_dir = join(this.folder, `data-${name}`);
      mkdirSync(join(data_dir, 'state'), { recursive: true });
      // Of a daemon that has started workers before: it holds what is due until it is released.
      mkdirSync(join(data_dir, 'runs'), { mode: 0o700 });
      mkdirSync(join(this.folder, `runtime-${twin_of ?? index}`), { recursive: true });
      const host = new SimulatedHost({
        places: {
          name,
          host_id: `host-${String.fromCharCode(97 + (twin_of ?? index))}`,
          data_dir,
          runtime_folder: join(this.folder, `runtime-${twin_of ?? index}`),
          stores: stores.map((store) => this.stores[store]!),
          max_concurrent,
        },
        time: this.time,
        disks,
        random: this.#random,
        directories: this.#directories,
        hung: this.#hung,
      });
      host.skew_ms = skew_ms;
      host.onStart = (worker, asked_at) => this.#started(index, worker, asked_at);
      return host;
    });
    this.#words = this.hosts.map(() => ({
      booted_at: 0,
      stopped_at: null,
      last_brake: 0,
      released: false,
      seen: new Set(),
    }));
    disks.onRename = (path) => this.#hint(dirname(path));
    this.#planned = plan.setup.fibers.length;
    this.#has_twins = plan.setup.hosts.some(({ twin_of }) => twin_of !== null);
    for (const { store, host, kind, armed } of plan.setup.fibers)
      this.#file({ root: this.stores[store]!, host, kind, armed });
  }

  /** Runs the whole plan; throws a `Violation` for what must not happen. */
  async run(plan: Plan): Promise<void> {
    const onRejection = (error: unknown) => {
      if (!(error instanceof Crash))
        this.#violations.push(`a rejection that nobody handles: ${String(error)}`);
    };
    process.on('unhandledRejection', onRejection);
    try {
      for (const host of this.hosts.keys()) this.#boot(host);
      await this.time.advance(1_000);
      for (const { action, then_ms } of plan.steps) {
        this.#doing = JSON.stringify(action);
        await this.#do(action);
        await this.time.advance(then_ms);
        this.#check();
        await this.#agree();
      }
      this.#doing = 'the end';
      await this.#finish();
    } finally {
      for (const host of this.hosts) host.crash();
      await this.time.advance(0);
      process.off('unhandledRejection', onRejection);
      this.disks.faults.clear();
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  async #do(action: Action): Promise<void> {
    switch (action.do) {
      case 'begin':
        this.#begin(action.fault);
        break;
      case 'end':
        this.#end(action.fault);
        break;
      case 'crash':
        this.hosts[action.host]!.crash(action.changes);
        this.#bootLater(action.host, action.down_ms);
        break;
      case 'stop':
        // One that is killed meanwhile never ends its stop.
        void this.hosts[action.host]!.stop();
        this.#bootLater(action.host, action.down_ms);
        break;
      case 'lose_tmux': {
        const { machine } = this.hosts[action.host]!;
        if (machine.server === 'down') break;
        machine.loseServer({ told: action.told });
        if (action.replaced) machine.startServer();
        break;
      }
      case 'jump':
        // Two daemons of one host share its clock, and what one has started counts for the other for a day.
        if (this.#has_twins) break;
        this.hosts[action.host]!.skew_ms += action.ms;
        if (action.ms < 0) this.#turned_back = true;
        break;
      case 'release':
        this.#words[action.host]!.released = true;
        this.#call(action.host, 'release_quarantine', {});
        break;
      case 'stop_all':
        this.#stopAll(action.host, action.kill);
        break;
      case 'resume_all':
        this.#resumeAll(action.host);
        break;
      case 'worker_ends':
        await this.#endWorker(action.fiber, action.how);
        break;
      case 'create':
        this.#call(action.host, 'create_fiber', {
          name: 'made by a call',
          store: this.stores[action.store]!,
        });
        break;
      case 'probe':
        await this.#probe(action.fault, action.reboots);
        break;
      default:
        await this.#doToFiber(action);
    }
  }

  async #doToFiber(action: Extract<Action, { fiber: number; fault?: never }>): Promise<void> {
    const fiber = this.fibers[action.fiber]!;
    const words = this.#wordsOf(fiber);
    if (!fiber.exists || fiber.hostile !== null) return;
    // A person who asks the one daemon is not held up by what the other has started.
    if (this.#has_twins && (action.do === 'dispatch' || action.do === 'lifecycle')) return;
    switch (action.do) {
      case 'arm':
        words.disarmed_at = null;
        setStatus(fiber, 'active');
        this.#hint(dirname(pathOf(fiber)));
        break;
      case 'disarm':
        words.disarmed_at = this.time.now();
        setStatus(fiber, 'open');
        this.#hint(dirname(pathOf(fiber)));
        break;
      case 'move':
        if (fiber.is_locked) break;
        moveByHand(fiber, `${fiber.leaf.split('-')[0]}-m${this.time.now() % 10_000}`);
        this.#hint(join(fiber.root, '.fibers'));
        break;
      case 'remove':
        removeByHand(fiber);
        this.#hint(join(fiber.root, '.fibers'));
        break;
      case 'edit_by_hand':
        if (action.within)
          for (const host of this.hosts) host.interruptNextWrite(() => this.#noteByHand(fiber));
        else this.#noteByHand(fiber);
        break;
      case 'kill':
        this.#kill(fiber);
        break;
      case 'edit':
        this.#edit(action.host, fiber);
        break;
      case 'dispatch':
        this.#ask(fiber, this.#call(action.host, 'dispatch', { fiber_id: fiber.uid, force: action.force }), {
          lets_go: true,
        });
        break;
      case 'why':
        this.#call(action.host, 'why', { fiber: fiber.uid, look: true });
        break;
      case 'lifecycle': {
        const { verb, kill } = action;
        const request = {
          action: verb,
          fiber: fiber.uid,
          ...(kill && (verb === 'pause' || verb === 'close') ? { kill } : {}),
        };
        const call = this.#call(fiber.host, 'lifecycle', request as CallInput<Calls, 'lifecycle'>);
        this.#ask(fiber, call, { lets_go: verb !== 'pause' || kill });
        break;
      }
    }
  }

  #begin(fault: Fault): void {
    switch (fault.of) {
      case 'tmux':
        this.hosts[fault.host]!.mux_fault = fault.is;
        break;
      case 'data_disk':
        this.disks.faults.set(this.hosts[fault.host]!.places.data_dir, fault.is);
        break;
      case 'store_disk':
        this.disks.faults.set(this.stores[fault.store]!, fault.is);
        break;
      case 'listing':
        this.#hung.add(this.stores[fault.store]!);
        break;
      case 'directory': {
        const { project_dir } = this.fibers[fault.fiber]!;
        const looks: Record<typeof fault.is, DirectoryLook> = {
          missing: { kind: 'missing' },
          unreadable: { kind: 'unreadable', detail: 'EACCES' },
          silent: { kind: 'silent', after_ms: 5_000, place: project_dir },
        };
        this.#directories.set(project_dir, looks[fault.is]);
        break;
      }
      case 'document': {
        const fiber = this.fibers[fault.fiber]!;
        if (!fiber.exists || fiber.hostile !== null) break;
        // One that is no service meanwhile is armed again with its text.
        this.#wordsOf(fiber).kill = null;
        spoil(fiber, fault.is);
        this.#hint(dirname(pathOf(fiber)));
        this.#hint(join(fiber.root, '.fibers'));
        break;
      }
      case 'lock': {
        const fiber = this.fibers[fault.fiber]!;
        if (fiber.exists) setLock(fiber, true);
        break;
      }
      case 'daemon':
        this.hosts[fault.host]!.crash();
        break;
    }
  }

  #end(fault: Fault): void {
    switch (fault.of) {
      case 'tmux':
        this.hosts[fault.host]!.mux_fault = null;
        break;
      case 'data_disk':
        this.disks.faults.delete(this.hosts[fault.host]!.places.data_dir);
        break;
      case 'store_disk':
        this.disks.faults.delete(this.stores[fault.store]!);
        break;
      case 'listing':
        this.#hung.delete(this.stores[fault.store]!);
        break;
      case 'directory':
        this.#directories.delete(this.fibers[fault.fiber]!.project_dir);
        break;
      case 'document': {
        const fiber = this.fibers[fault.fiber]!;
        mend(fiber);
        if (fiber.exists) this.#hint(dirname(pathOf(fiber)));
        break;
      }
      case 'lock': {
        const fiber = this.fibers[fault.fiber]!;
        if (fiber.is_locked) setLock(fiber, false);
        break;
      }
      case 'daemon':
        this.#boot(fault.host);
        break;
    }
  }

  #boot(host: number): void {
    const one = this.hosts[host]!;
    if (one.is_up) return;
    const words = this.#words[host]!;
    words.booted_at = this.time.now();
    words.released = false;
    words.seen = new Set(one.machine.living.map(({ session }) => uidOf(session.name)));
    this.#forgetKills(host);
    one.boot();
  }

  /** The daemon is started again, unless somebody did so before. */
  #bootLater(host: number, down_ms: number): void {
    const again = () => {
      if (this.hosts[host]!.is_up) this.time.after(STEP_MS, again);
      else this.time.after(down_ms, () => this.#boot(host));
    };
    again();
  }

  /** Kills whose hold could not be written end with their daemon. */
  #forgetKills(host: number): void {
    for (const fiber of this.fibers) {
      const words = this.#wordsOf(fiber);
      if (fiber.host === host && words.kill?.lasts === false) words.kill = null;
    }
  }

  #file(fiber: { root: string; host: number; kind: SimulatedFiber['kind']; armed: boolean }): SimulatedFiber {
    const number = this.fibers.length;
    const filed: SimulatedFiber = {
      uid: `01KF${String(number).padStart(22, '0')}`,
      root: fiber.root,
      other_root: this.stores[(this.stores.indexOf(fiber.root) + 1) % this.stores.length]!,
      host: fiber.host,
      host_id: this.hosts[fiber.host]!.places.host_id,
      kind: fiber.kind,
      project_dir: `/srv/project-${number}`,
      leaf: `f${number}`,
      exists: true,
      hostile: null,
      is_locked: false,
      notes: new Set([0]),
      note: 0,
    };
    this.fibers.push(filed);
    this.#fiberWords.set(filed.uid, { kill: null, disarmed_at: null, asked: 0, starts: [] });
    writeNewDocument(filed, fiber.armed);
    this.#hint(join(filed.root, '.fibers'));
    return filed;
  }

  /** The kernel tells watchers of a change, soon. */
  #hint(folder: string): void {
    for (const host of this.hosts)
      this.time.after(this.#random.whole(0, 3), () => {
        // Hints can be lost, and nothing but a delay may come of it.
        if (this.#random.chance(0.9)) host.hint(folder);
      });
  }

  #call<N extends keyof Calls & string>(host: number, name: N, input: CallInput<Calls, N>) {
    const call = this.hosts[host]!.call(name, input);
    this.#track(call);
    return call;
  }

  #track(work: Promise<unknown>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  /** A call that may start a worker: until it is over, a start is somebody's wish. `lets_go`: a kill is over with it. */
  #ask(fiber: SimulatedFiber, call: Promise<Called<unknown>>, { lets_go }: { lets_go: boolean }): void {
    const words = this.#wordsOf(fiber);
    if (lets_go) words.kill = null;
    words.disarmed_at = null;
    words.asked += 1;
    this.#words[fiber.host]!.seen.add(fiber.uid);
    // A call that nobody hears of any more may still have its effect.
    void call.then((called) => {
      if (called.kind !== 'lost') words.asked -= 1;
      else this.time.after(60_000, () => (words.asked -= 1));
    });
  }

  #kill(fiber: SimulatedFiber): void {
    const words = this.#wordsOf(fiber);
    const { host } = fiber;
    const kill = { at: words.kill?.at ?? null, lasts: words.kill?.lasts ?? false };
    words.kill = kill;
    void this.#call(host, 'kill', { fiber_id: fiber.uid }).then((called) => {
      // Whoever releases or arms it while the kill is under way has the last word.
      if (called.kind !== 'answered' || words.kill !== kill) return;
      if (statusOf(fiber) !== 'active' || words.asked > 0) return;
      kill.at = this.time.now();
      kill.lasts = !('dry_run' in called.value) && called.value.fault === undefined;
    });
  }

  #stopAll(host: number, kill: boolean): void {
    const words = this.#words[host]!;
    words.last_brake += 1;
    const own = words.last_brake;
    void this.#call(host, 'pull_brake', { kill }).then((called) => {
      // What could not be written lasts until the daemon ends, and the answer says so.
      if (called.kind !== 'answered' || 'dry_run' in called.value) return;
      if (words.last_brake === own && called.value.fault === undefined) words.stopped_at = this.time.now();
    });
  }

  #resumeAll(host: number): void {
    const words = this.#words[host]!;
    words.last_brake += 1;
    words.stopped_at = null;
    this.#call(host, 'release_brake', {});
  }

  #noteByHand(fiber: SimulatedFiber): void {
    if (!fiber.exists || fiber.hostile !== null) return;
    fiber.note += 1;
    // An edit that is under way is planned again on this text.
    fiber.notes.add(fiber.note);
    editByHand(fiber, (text) => {
      const before = Number(/^note: (\d+)$/m.exec(text)?.[1]);
      for (const note of fiber.notes) if (note <= before) fiber.notes.delete(note);
      return text.replace(/^note: .*$/m, `note: ${fiber.note}`);
    });
  }

  /** A call that sets the note; from its answer on an older one must not be seen. */
  #edit(host: number, fiber: SimulatedFiber): void {
    fiber.note += 1;
    const own = fiber.note;
    fiber.notes.add(own);
    void this.#call(host, 'edit_fiber', { fiber_id: fiber.uid, set: { note: own } }).then((called) => {
      if (called.kind === 'answered')
        for (const note of fiber.notes) if (note < own) fiber.notes.delete(note);
      if (called.kind === 'refused') fiber.notes.delete(own);
    });
  }

  async #endWorker(index: number, how: Extract<Action, { do: 'worker_ends' }>['how']): Promise<void> {
    const fiber = this.fibers[index]!;
    const { machine, places, clock } = this.hosts[fiber.host]!;
    const worker = machine.living.find(({ session }) => uidOf(session.name) === fiber.uid);
    if (worker === undefined) return;
    if (how === 'hand_off' && !this.disks.faults.has(fiber.root) && statusOf(fiber) !== null) {
      const store = new Store(fiber.root, { clock, lockTimeoutMs: 0, owner: { name: 'cli', generation: 0 } });
      try {
        await store.edit(fiber.leaf, {
          set: { 'svc.runtime.handed_off_at': new Date(clock.now()).toISOString() },
          unset: [],
        });
        this.#hint(dirname(pathOf(fiber)));
      } catch {
        // Whoever cannot hand off ends all the same.
      }
    }
    // The run script of a worker writes into the data dir as well.
    if (how === 'vanish' || this.disks.faults.has(places.data_dir)) machine.vanish(worker);
    else if (how === 'hand_off') machine.exit(worker, { signal: 'SIGHUP' });
    else machine.exit(worker, { code: how === 'success' ? 0 : 1, screen: 'bye' });
  }

  /** Every start is judged here, by what persons said, and not by what the daemon thinks. */
  #started(host: number, worker: Worker, asked_at: number): void {
    const uid = uidOf(worker.session.name);
    const fiber = this.fibers.find((one) => one.uid === uid);
    const words = this.#words[host]!;
    const fault = (what: string) => this.#violations.push(`${worker.session.name} was started ${what}`);
    this.#checkAlone(uid);
    if (this.#has_twins) return;
    if (words.stopped_at !== null && asked_at > words.stopped_at) fault('while everything is stopped');
    if (fiber === undefined) return;
    const { host_id } = this.hosts[host]!.places;
    if (fiber.host_id !== host_id) fault(`on ${host_id}`);
    const own = this.#wordsOf(fiber);
    const now = this.time.now();
    own.starts = [...own.starts.filter((at) => at > now - PAUSE_MS), now];
    if (own.starts.length > MOST_STARTS) fault(`${own.starts.length} times within ${PAUSE_MS} ms`);
    const was_seen = words.seen.has(uid);
    words.seen.add(uid);
    if (own.asked > 0) return;
    if (own.kill !== null && own.kill.at !== null && asked_at > own.kill.at)
      fault('although a person had killed it');
    if (own.disarmed_at !== null && asked_at > own.disarmed_at) fault('although it is not armed');
    // What the daemon before had asked tmux for may come about after its end.
    if (!words.released && !was_seen && asked_at > words.booted_at) fault('in quarantine');
  }

  #checkAlone(uid: string): void {
    const workers = this.hosts.flatMap(({ machine, places }) =>
      machine.living
        .filter(({ session }) => uidOf(session.name) === uid)
        .map(({ session }) => `${session.name} on ${places.host_id}`),
    );
    if (workers.length > 1) this.#violations.push(`${workers.join(' and ')} are workers of one fiber`);
  }

  #check(): void {
    for (const fiber of this.fibers) {
      const fault = faultOfDocument(fiber);
      if (fault !== null) this.#violations.push(fault);
      this.#checkAlone(fiber.uid);
    }
    const [first] = this.#violations;
    if (first !== undefined) throw new Violation(`${first} (after ${this.#doing})`);
  }

  /** No two reads of one daemon contradict each other for longer than it takes to look at everything once. */
  async #agree(): Promise<void> {
    for (const host of this.hosts) {
      let said = await this.#contradiction(host);
      for (let passed = 0; said !== null && passed < LOOK_MS; passed += 1_000) {
        await this.time.advance(1_000);
        said = await this.#contradiction(host);
      }
      if (said !== null) this.#fail(`${host.places.host_id} contradicts itself: ${said}`);
    }
  }

  async #contradiction(host: SimulatedHost): Promise<string | null> {
    if (!host.is_up) return null;
    const whys = await this.#atOnce(
      this.fibers.map(({ uid }) => host.call('why', { fiber: uid, look: false })),
    );
    const [state] = await this.#atOnce([host.call('state', {})]);
    const [feed] = await this.#atOnce([host.call('feed', { svc: false, body: false })]);
    if (state?.kind !== 'answered' || feed?.kind !== 'answered') return null;
    const said = contradictions({
      host: host.places.host_id,
      state: state.value,
      rows: rowsIn(feed.value as unknown as WithBulk<unknown>),
      whys: whys.flatMap((why) => (why?.kind === 'answered' ? [why.value] : [])),
      // A clock that is turned back puts what is new before what is old.
      sessions: this.#turned_back ? null : host.sessions,
    });
    return said[0] ?? null;
  }

  /** The answers that come without any time passing. */
  async #atOnce<T>(calls: readonly Promise<T>[]): Promise<(T | undefined)[]> {
    const answers: (T | undefined)[] = calls.map(() => undefined);
    for (const [index, call] of calls.entries())
      void call.then((answer) => {
        answers[index] = answer;
      });
    await this.time.advance(0);
    return answers;
  }

  #fail(what: string): never {
    throw new Violation(`${what} (after ${this.#doing})`);
  }

  /** Ends every fault, and lets everything go on that persons held back. */
  async #mendAll(): Promise<void> {
    this.disks.faults.clear();
    this.#hung.clear();
    this.#directories.clear();
    for (const fiber of this.fibers) {
      mend(fiber);
      if (fiber.is_locked) setLock(fiber, false);
    }
    for (const [index, host] of this.hosts.entries()) {
      host.mux_fault = null;
      this.#boot(index);
    }
    await this.time.advance(CALLS_MS);
    // One that was to crash or to stop within that time is started again.
    for (const index of this.hosts.keys()) this.#boot(index);
    await this.time.advance(STEP_MS);
    if (this.#open.size > 0) this.#fail('a call was never answered');
    for (const index of this.hosts.keys()) await this.#letGo(index);
  }

  async #letGo(host: number): Promise<void> {
    this.hosts[host]!.forgetCrash();
    this.#words[host]!.released = true;
    this.#resumeAll(host);
    this.#call(host, 'release_quarantine', {});
    for (const fiber of this.fibers) {
      if (fiber.host !== host || !fiber.exists || statusOf(fiber) !== 'active') continue;
      this.#wordsOf(fiber).kill = null;
      this.#call(host, 'lifecycle', { action: 'resume', fiber: fiber.uid });
    }
    await this.time.advance(100);
  }

  /** With this one fault and no other, whatever is healthy is listed and started, and the fault is named. */
  async #probe(fault: Fault | null, reboots: boolean): Promise<void> {
    await this.#mendAll();
    await this.#makeRoom();
    if (fault !== null) this.#begin(fault);
    await this.time.advance(100);
    for (const [index, host] of this.hosts.entries())
      if (reboots && !isHurt(fault, index)) {
        host.crash();
        this.#boot(index);
        await this.time.advance(ROUND_MS);
        await this.#letGo(index);
      }
    const filed = this.hosts.flatMap((host, index) =>
      host.places.stores.map((root) => this.#file({ root, host: index, kind: 'oneshot', armed: true })),
    );
    const healthy = filed.filter(
      (fiber) =>
        !this.#isHurtById(fault, fiber.host_id) &&
        !(isOfStore(fault) && this.stores[fault.store] === fiber.root),
    );
    let wrong: string | null = null;
    for (let passed = 0; passed < ROUNDS * ROUND_MS; passed += STEP_MS) {
      await this.time.advance(STEP_MS);
      this.#check();
      if (this.#has_twins) continue;
      wrong = (await this.#unserved(healthy)) ?? (fault === null ? null : await this.#unnamed(fault, filed));
      if (wrong === null) break;
    }
    if (wrong !== null) this.#fail(wrong);
    if (fault !== null) this.#end(fault);
    await this.time.advance(1_000);
  }

  /** Earlier fibers end, so that those of a probe find a place below every bound. */
  async #makeRoom(): Promise<void> {
    const ended = this.fibers.filter(
      (fiber, index) => index >= this.#planned || this.hosts[fiber.host]!.places.max_concurrent !== null,
    );
    for (const fiber of ended) if (fiber.exists) setStatus(fiber, 'open');
    // What is being started by now has its worker by then.
    await this.time.advance(STEP_MS);
    for (const { host, uid } of ended) {
      const { machine } = this.hosts[host]!;
      for (const worker of machine.living)
        if (uidOf(worker.session.name) === uid) machine.exit(worker, { code: 0 });
    }
  }

  async #unserved(healthy: readonly SimulatedFiber[]): Promise<string | null> {
    for (const host of this.hosts) {
      if (!host.is_up) continue;
      const rows = await this.#rows(host);
      const missing = healthy.find(
        (fiber) => host.places.stores.includes(fiber.root) && !rows.some(({ uid }) => uid === fiber.uid),
      );
      if (missing !== undefined) return `${missing.leaf} is not listed by ${host.places.host_id}`;
    }
    const waiting = healthy.find(({ uid }) => this.#fiberWords.get(uid)?.starts.length === 0);
    return waiting === undefined ? null : `${waiting.leaf} is due and was not started on ${waiting.host_id}`;
  }

  /** What of a fault the daemons do not tell; null when they tell it. */
  async #unnamed(fault: Fault, filed: readonly SimulatedFiber[]): Promise<string | null> {
    switch (fault.of) {
      case 'daemon':
        return null;
      case 'tmux': {
        const { mux } = (await this.#state(this.hosts[fault.host]!)).poll_health;
        const is_named = mux.state === 'unknown' && mux.detail !== null;
        return fault.is === 'slow' || is_named
          ? null
          : `the state says of a silent tmux: ${JSON.stringify(mux)}`;
      }
      case 'listing':
        return this.#unnamedStore(this.stores[fault.store]!);
      case 'store_disk':
        if (fault.is === 'failing') return this.#unnamedStore(this.stores[fault.store]!);
        return this.#unblocked(filed.filter(({ root }) => root === this.stores[fault.store]));
      case 'data_disk':
        return this.#unblocked(filed.filter(({ host }) => host === fault.host));
      case 'document':
        return this.#unnamedDocument(this.fibers[fault.fiber]!, fault.is);
      case 'directory':
      case 'lock':
        return null;
    }
  }

  async #unnamedStore(root: string): Promise<string | null> {
    for (const host of this.hosts) {
      if (!host.places.stores.includes(root)) continue;
      const store = (await this.#state(host)).poll_health.stores.find((one) => one.store === root);
      if (store === undefined || store.state === 'ok' || store.error === null)
        return `${host.places.host_id} says of a store that cannot be read: ${JSON.stringify(store)}`;
    }
    return null;
  }

  /** Fibers that cannot be started are shown with the reason. */
  async #unblocked(fibers: readonly SimulatedFiber[]): Promise<string | null> {
    for (const fiber of fibers) {
      const { blocked, data_dir } = await this.#state(this.hosts[fiber.host]!);
      if (data_dir.fault !== null) continue;
      const row = blocked.find(({ uid }) => uid === fiber.uid);
      if (row === undefined || row.message === '')
        return `${fiber.leaf} cannot be started, and ${fiber.host_id} does not say why`;
    }
    return null;
  }

  async #unnamedDocument(fiber: SimulatedFiber, is: string): Promise<string | null> {
    if (fiber.hostile?.is !== is) return null;
    if (isCopy(is)) return this.#untoldCopy(fiber, is);
    const path = pathOf(fiber);
    for (const host of this.hosts) {
      if (!host.places.stores.includes(fiber.root)) continue;
      const row = (await this.#rows(host)).find((one) => one.path === path);
      // A folder of that name is a folder, and the document is gone.
      if (row === undefined && is === 'folder') continue;
      if (row === undefined) return `${host.places.host_id} does not list ${path}, which is ${is}`;
      const may_be_read = is === 'wrong_types' || is === 'no_end';
      if (!may_be_read && row.error === undefined)
        return `${host.places.host_id} lists ${path} without an error, and it is ${is}`;
    }
    return null;
  }

  /** Two documents with one ULID name each other, and nothing that is known by it is told of the copy. */
  async #untoldCopy(fiber: SimulatedFiber, is: string): Promise<string | null> {
    if (!fiber.exists) return null;
    const [path, copy] = [pathOf(fiber), copyOf({ ...fiber, leaf: fiber.hostile!.leaf }, is)];
    for (const host of this.hosts) {
      if (![fiber.root, fiber.other_root].every((root) => host.places.stores.includes(root))) continue;
      const rows = await this.#rows(host);
      for (const [own, other] of [
        [path, copy],
        [copy, path],
      ]) {
        const twins = rows.find((row) => row.path === own)?.twins ?? [];
        if (twins.join() !== other)
          return `${host.places.host_id} names ${twins} beside ${own}, not ${other}`;
      }
      const row = rows.find((one) => one.path === copy)!;
      const why = (await this.#answer(host, 'why', { fiber: row.id, look: false })) as Why;
      const told = [row.runtime, row.last_death, row.held === 'killed', why.runtime, why.last_death].find(
        Boolean,
      );
      if (told !== undefined || why.verdict === 'running')
        return `${host.places.host_id} says of the copy ${copy}: ${JSON.stringify(told ?? why.first)}`;
    }
    return null;
  }

  async #state(host: SimulatedHost): Promise<PollerState> {
    const state = await this.#answer(host, 'state', {});
    return state as PollerState;
  }

  async #rows(host: SimulatedHost): Promise<FiberRow[]> {
    return rowsIn((await this.#answer(host, 'feed', { svc: false, body: false })) as WithBulk<unknown>);
  }

  /** A call that must be answered whatever is wrong. */
  async #answer<N extends keyof Calls & string>(
    host: SimulatedHost,
    name: N,
    input: CallInput<Calls, N>,
  ): Promise<unknown> {
    let called: Called<unknown> | null = null;
    void host.call(name, input).then((one) => {
      called = one;
    });
    for (let passed = 0; called === null && passed < 10_000; passed += 100) await this.time.advance(100);
    const done = called as Called<unknown> | null;
    if (done?.kind === 'answered') return done.value;
    const why = done?.kind === 'refused' ? String(done.error) : 'nothing';
    return this.#fail(`${host.places.host_id} answers a call of ${name} with ${why}`);
  }

  /** With everything fixed, whatever is armed has a worker or a reason, and what is shown is what is. */
  async #finish(): Promise<void> {
    await this.#mendAll();
    const before = this.hosts.map(({ logs }) => logs.length);
    for (let passed = 0; passed < 2 * PAUSE_MS; passed += ROUND_MS) {
      await this.time.advance(ROUND_MS);
      this.#check();
    }
    if (this.#has_twins) return;
    for (const [index, host] of this.hosts.entries()) {
      const { running } = await this.#state(host);
      const living = host.machine.living.map(({ session }) => uidOf(session.name)).sort();
      // Of a worker that was started in times to come it may be told later that it has ended.
      const told = running.filter(
        ({ uid, state }) => !this.#turned_back || state !== 'unknown' || living.includes(uid ?? ''),
      );
      const shown = told.map(({ uid }) => uid).sort();
      if (shown.join() !== living.join())
        this.#fail(`${host.places.host_id} shows the workers ${shown}, and there are ${living}`);
      await this.#requireTrueRows(host);
      const errors = host.logs.slice(before[index]).filter(({ level }) => level >= 50);
      if (errors.length > 0) this.#fail(`${host.places.host_id} logs ${JSON.stringify(errors[0])}`);
      for (const fiber of this.fibers) if (fiber.host === index) await this.#requireServed(host, fiber);
    }
  }

  /** What rows say of workers, deaths and places is what the machine and the disk say. */
  async #requireTrueRows(host: SimulatedHost): Promise<void> {
    const rows = await this.#rows(host);
    for (const fiber of this.fibers) {
      if (!fiber.exists || fiber.host_id !== host.places.host_id) continue;
      const row = rows.find(({ uid }) => uid === fiber.uid);
      if (row === undefined) continue;
      const { runtime, last_death } = row;
      const tell = (what: string) => this.#fail(`${host.places.host_id} says of ${fiber.leaf} that ${what}`);
      if (row.id !== fiber.leaf) tell(`it is ${row.id}`);
      const runs = host.runsOf(fiber.uid);
      const living = runs.find(({ alive }) => alive);
      if (!this.#turned_back && runtime?.run_id !== living?.run_id)
        tell(`it runs as ${runtime?.run_id}, and it is ${living?.run_id}`);
      // What could not be read then is not looked for again.
      if (last_death === undefined || last_death.message.startsWith(END_UNREAD)) continue;
      const died = runs.find(({ run_id }) => run_id === last_death.run_id);
      if (died === undefined || died.alive) tell(`${last_death.run_id} has died`);
      const { code = null, signal = null } = died?.exit ?? {};
      if (last_death.code !== code || last_death.signal !== signal)
        tell(`it died by ${last_death.message}, and it was ${code ?? signal ?? 'without a word'}`);
    }
  }

  async #requireServed(host: SimulatedHost, fiber: SimulatedFiber): Promise<void> {
    if (statusOf(fiber) !== 'active') return;
    const living = this.hosts.flatMap(({ machine }) => machine.living);
    if (living.some(({ session }) => uidOf(session.name) === fiber.uid)) return;
    const why = (await this.#answer(host, 'why', { fiber: fiber.uid, look: false })) as {
      verdict: string;
      first: { gate: string } | null;
    };
    const gate = why.first?.gate ?? '';
    const may_wait = [
      ...(fiber.kind === 'standing' ? ['due'] : []),
      ...(host.places.max_concurrent === null ? [] : ['max_concurrent']),
      ...(this.#turned_back ? ['breaker', 'cooldown', 'due', 'running'] : []),
    ];
    if (!may_wait.includes(gate))
      this.#fail(
        `${fiber.leaf} is armed and never started on ${fiber.host_id}: ${JSON.stringify(why.first)}`,
      );
  }

  /** One of two daemons with one host id must not take over what the other may still be at. */
  #isHurtById(fault: Fault | null, host_id: string): boolean {
    return this.hosts.some(({ places }, host) => places.host_id === host_id && isHurt(fault, host));
  }

  #wordsOf(fiber: SimulatedFiber): FiberWords {
    return this.#fiberWords.get(fiber.uid)!;
  }
}

function rowsIn(feed: WithBulk<unknown>): FiberRow[] {
  return JSON.parse(new TextDecoder().decode(feed.bytes)).fibers;
}

function uidOf(session: string): string {
  return parseWorkerSessionName(session)?.uid ?? '';
}

/** Nothing can be started on this host. */
function isHurt(fault: Fault | null, host: number): boolean {
  if (fault === null || !('host' in fault) || fault.host !== host) return false;
  return fault.of !== 'tmux' || fault.is === 'silent';
}

function isOfStore(fault: Fault | null): fault is Extract<Fault, { store: number }> {
  return fault !== null && 'store' in fault;
}
