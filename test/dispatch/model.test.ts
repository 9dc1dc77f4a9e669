import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  LIFECYCLE_ACTIONS,
  type LifecycleRequest,
  TRANSITION_TARGETS,
  type TransitionTarget,
} from '../../src/contract/http/lifecycle.ts';
import { LifecycleCalls } from '../../src/dispatch/lifecycle-calls.ts';
import { dismissIncident, resumeIncident } from '../../src/dispatch/resume-incident.ts';
import { AGENT, type Daemon, FakeWorld, HOST, LEARNING } from './world/fake-world.ts';
import { modelRuns } from './world/model-runs.ts';

const MINUTE = 60_000;
const FIBERS = ['once', 'role', 'pin'] as const;
type Name = (typeof FIBERS)[number];
const DAY = 24 * 60 * MINUTE;
/** Every role of this test is due at 08:00 UTC. */
const DIR = '/srv/dev';
const DAILY = '0 8 * * *';
/** A worker that is younger cannot be told to be older than the server that took the place of its own. */
const STARTUP_MS = 11_000;
type Verb = LifecycleRequest extends infer One ? (One extends unknown ? Omit<One, 'fiber'> : never) : never;
const OFTEN: Verb[] = [
  { action: 'pause' },
  { action: 'resume' },
  { action: 'accept' },
  { action: 'close' },
  { action: 'reopen' },
];
const SELDOM: Verb[] = [
  { action: 'pause', kill: true },
  { action: 'close', kill: true },
  { action: 'install', project_dir: DIR },
  { action: 'pin', project_dir: DIR },
  { action: 'repeat', schedule: DAILY, project_dir: DIR },
  { action: 'reshape', kind: 'oneshot' },
  { action: 'reshape', kind: 'standing', schedule: DAILY },
  { action: 'reshape', kind: 'pinned' },
  { action: 'set-agent', agent: 'learning' },
  { action: 'set-model', model: 'demo-model' },
  { action: 'set-outcome', outcome: 'It is done.' },
  { action: 'uninstall' },
  { action: 'uninstall', kill: true },
];

type Step =
  | { do: 'round' | 'release' | 'restart' | 'listing' | 'kernel' | 'reboot' | 'lock' }
  | { do: 'stop_all' | 'resume_all' | 'resume_incident' | 'dismiss' }
  | { do: 'server_lost'; told: boolean; replaced: boolean }
  | { do: 'advance' | 'jump'; ms: number }
  | { do: 'dispatch'; fiber: Name; force: boolean; despite_brake: boolean }
  | { do: 'kill' | 'arm' | 'disarm' | 'hand_off' | 'silent_death' | 'panes'; fiber: Name }
  | { do: 'die'; fiber: Name; code: number }
  | { do: 'directory' | 'fail_create' }
  | { do: 'verb'; fiber: Name; verb: Verb }
  | { do: 'move'; fiber: Name; target: TransitionTarget }
  | { do: 'crash'; effects: number; during: 'round' | 'dispatch' | 'kill'; fiber: Name };

const fiber = fc.constantFrom(...FIBERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Step>({ do: 'round' }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('kill', 'arm', 'disarm', 'hand_off', 'silent_death', 'panes'),
      fiber,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('dispatch' as const),
      fiber,
      force: fc.boolean(),
      despite_brake: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('die' as const), fiber, code: fc.constantFrom(0, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1_000, 12_000, 2 * MINUTE, 6 * MINUTE, 25 * 60 * MINUTE),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      ms: fc.constantFrom(-2 * DAY, -DAY, -90 * MINUTE, 90 * MINUTE, 3 * DAY),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('server_lost' as const),
      told: fc.boolean(),
      replaced: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('verb' as const),
      fiber,
      verb: fc.oneof(fc.constantFrom(...OFTEN), fc.constantFrom(...SELDOM)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      fiber,
      target: fc.constantFrom(...TRANSITION_TARGETS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>(
      { do: 'release' },
      { do: 'restart' },
      { do: 'listing' },
      { do: 'kernel' },
      { do: 'stop_all' },
      { do: 'resume_all' },
      { do: 'resume_all' },
      { do: 'resume_incident' },
      { do: 'dismiss' },
      { do: 'reboot' },
      { do: 'lock' },
      { do: 'directory' },
      { do: 'fail_create' },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      effects: fc.integer({ min: 1, max: 16 }),
      during: fc.constantFrom('round', 'dispatch', 'kill'),
      fiber,
    }),
  },
);

/** Runs one sequence on a machine of its own, and keeps its own account of who may start what. */
class Run {
  readonly world = new FakeWorld();
  daemon: Daemon;
  /** Fibers that a person asks for at this moment. */
  asked = new Set<Name>();
  /** Fibers that a person killed and gave nobody leave to start. */
  killed = new Set<Name>();
  /** Fibers for which a verb runs: what it starts needs no listing of its own. */
  ordered = new Set<Name>();
  /** The emergency brake is on. */
  stopped = false;
  /** Fibers whose workers went down with their server, of which nobody has spoken since. */
  lost = new Set<Name>();
  /** Fibers whose workers a daemon has found on the server as it is. */
  listed = new Set<Name>();
  started_at = new Map<Name, number>();
  /** The newest moment at which each fiber was started. */
  served = new Map<Name, number>();
  was_turned_back = false;
  calls: LifecycleCalls;
  released = false;
  /** Fibers whose workers this daemon has seen. */
  seen = new Set<Name>();
  faults: string[] = [];
  #boots = 1;

  constructor(most_workers: number | null) {
    this.world.most_workers = most_workers;
    this.world.fiber('once');
    this.world.fiber('role', { kind: 'standing', schedule: `"${DAILY}"` });
    this.world.fiber('pin', { kind: 'pinned' }, { status: 'open' });
    this.daemon = this.world.boot();
    this.calls = this.#callsOf(this.daemon);
    const { machine } = this.world;
    const create = machine.create.bind(machine);
    machine.create = (spec, started) =>
      create(spec, () => {
        started();
        this.#started(this.#nameOf(spec.name));
      });
  }

  async take(one: Step): Promise<void> {
    const { world, daemon } = this;
    const { machine } = world;
    switch (one.do) {
      case 'round':
        await this.#round();
        break;
      case 'advance':
        world.clock.advance(one.ms);
        break;
      case 'jump':
        world.clock.jumpTo(world.clock.now() + one.ms);
        if (one.ms < 0) this.was_turned_back = true;
        break;
      case 'stop_all':
        daemon.memory.brake.pull('a test', world.clock.now());
        this.stopped = true;
        break;
      case 'resume_all':
        daemon.memory.brake.release();
        this.stopped = false;
        break;
      case 'resume_incident':
        await this.#resumeIncident();
        break;
      case 'dismiss':
        dismissIncident(daemon.memory, undefined);
        this.lost.clear();
        break;
      case 'release':
        daemon.dispatcher.release();
        this.released = true;
        this.killed.clear();
        break;
      case 'restart':
        this.#boot();
        break;
      case 'listing':
        machine.listing = machine.listing === 'normal' ? 'unknown' : 'normal';
        break;
      case 'kernel':
        machine.kernel = machine.kernel === 'answers' ? 'silent' : 'answers';
        break;
      case 'lock':
        world.documents.locked = !world.documents.locked;
        break;
      case 'directory':
        if (!world.directories.delete(DIR)) world.directories.set(DIR, { kind: 'missing' });
        break;
      case 'fail_create':
        machine.next = 'refuse_but_start';
        break;
      case 'server_lost':
        this.#loseServer(one.told);
        if (one.replaced) machine.startServer();
        break;
      case 'reboot':
        this.#loseServer(false);
        this.#boots += 1;
        world.boot_id = `boot-${this.#boots}`;
        this.#boot();
        break;
      case 'dispatch':
        await this.#dispatch(one.fiber, { force: one.force, despite_brake: one.despite_brake });
        break;
      case 'kill':
        await this.#kill(one.fiber);
        break;
      case 'verb':
        await this.#verb(one.fiber, one.verb);
        break;
      case 'move':
        await this.#move(one.fiber, one.target);
        break;
      case 'arm':
        this.#edit(one.fiber, 'active');
        break;
      case 'disarm':
        this.#edit(one.fiber, 'open');
        await this.#round();
        if (machine.listing === 'normal' && this.#status(one.fiber) === 'open') this.killed.delete(one.fiber);
        break;
      default:
        await this.#toWorker(one);
    }
    this.#check(JSON.stringify(one));
    // tmux tells whole seconds: within one, two sessions of one name cannot be told apart.
    this.world.clock.advance(1_000);
  }

  /** With everything answering again, what is shown is what is. */
  async finish(): Promise<void> {
    const { world } = this;
    world.machine.listing = 'normal';
    world.machine.kernel = 'answers';
    world.machine.next = 'create';
    world.documents.locked = false;
    world.clock.advance(12_000);
    for (let turn = 0; turn < 3; turn += 1) {
      await world.run(this.daemon.round());
      this.#check('the end');
    }
    const living = world.machine.living.map((worker) => this.#nameOf(worker.session.name)).sort();
    const shown = this.daemon
      .state()
      .running.map((run) => run.fiber_id)
      .sort();
    expect(shown).toEqual(living);
    expect(this.daemon.memory.unconcluded.size).toBe(0);
    const incidents = this.daemon.state().incidents.flatMap((one) => one.fibers.map((each) => each.fiber_id));
    expect(incidents).toEqual(expect.arrayContaining([...this.lost]));
    // What a daemon says after its crash is no word of a living one.
    const faults = world.logs.filter((line) => line.level >= 50 && !isCrash(line.err));
    expect(faults).toEqual([]);
    for (const name of FIBERS) {
      const row = this.daemon.row(name);
      expect([name, row?.status]).toEqual([name, expect.stringMatching(/^(open|active|closed)$/)]);
      const waits = row?.runtime ?? row?.held ?? row?.blocked ?? row?.next_due_at ?? this.#whyNot();
      // Nothing that is armed here is neither run nor told why it does not.
      if (row?.status === 'active' && this.#isService(name))
        expect([name, waits]).toEqual([name, expect.anything()]);
    }
  }

  /** What keeps everything from being started; null when nothing does. */
  #whyNot(): string | null {
    const { brake, running } = this.daemon.state();
    if (brake.on) return 'the brake';
    const most = this.world.most_workers;
    return most !== null && running.length >= most ? 'no place' : null;
  }

  async #round(): Promise<void> {
    const { machine } = this.world;
    const before = new Set(machine.living);
    await this.world.run(this.daemon.round());
    if (machine.listing !== 'normal' || machine.kernel !== 'answers') return;
    for (const worker of machine.living)
      if (before.has(worker)) this.listed.add(this.#nameOf(worker.session.name));
  }

  #loseServer(told: boolean): void {
    const { machine, clock } = this.world;
    if (machine.server === 'down') return;
    for (const { session } of machine.living) {
      const name = this.#nameOf(session.name);
      const age = clock.now() - (this.started_at.get(name) ?? 0);
      const is_younger = age < STARTUP_MS || this.was_turned_back;
      if (is_younger && !this.listed.has(name)) continue;
      // A fiber that was disarmed before, or is no service any more, waits for nobody.
      if (this.#status(name) === 'active' && this.#isService(name)) this.lost.add(name);
      this.killed.add(name);
    }
    this.listed.clear();
    machine.loseServer({ told });
  }

  async #resumeIncident(): Promise<void> {
    const { daemon } = this;
    for (const { fiber_id } of daemon.memory.incidents.fibers()) this.asked.add(fiber_id as Name);
    try {
      const { fibers } = await this.world.run(resumeIncident(daemon, undefined));
      for (const one of fibers) {
        if (one.outcome === 'refused' && one.message === '')
          this.faults.push(`${one.fiber_id} was refused without a word`);
        if (one.outcome === 'started') this.killed.delete(one.fiber_id as Name);
        if (one.outcome !== 'refused') this.lost.delete(one.fiber_id as Name);
      }
    } finally {
      this.asked.clear();
    }
  }

  async #toWorker(one: Extract<Step, { fiber: Name }>): Promise<void> {
    const { world } = this;
    if (one.do === 'crash') {
      await this.#crash(one);
      return;
    }
    const worker = world.machine.living.find((each) => this.#nameOf(each.session.name) === one.fiber);
    if (worker === undefined) return;
    if (one.do === 'hand_off') this.lost.delete(one.fiber);
    if (one.do === 'die') world.machine.exit(worker, { code: one.code, screen: 'bye' });
    else if (one.do === 'silent_death') world.machine.vanish(worker);
    else if (one.do === 'panes') worker.session = { ...worker.session, panes: 2 };
    else if (one.do === 'hand_off' && !world.documents.locked && this.#isService(one.fiber))
      await world.handOff(one.fiber);
  }

  async #crash(one: Extract<Step, { do: 'crash' }>): Promise<void> {
    const { dispatcher } = this.daemon;
    this.world.crashIn(one.effects);
    this.lost.delete(one.fiber);
    if (one.during !== 'round') this.asked.add(one.fiber);
    const work =
      one.during === 'round'
        ? this.daemon.round()
        : one.during === 'dispatch'
          ? dispatcher.dispatch({ fiber_id: one.fiber, force: true })
          : dispatcher.kill(one.fiber);
    await this.world.crashes(
      work.catch((error) => (this.world.crashed_at === null ? null : Promise.reject(error))),
    );
    this.asked.delete(one.fiber);
    this.world.crashIn(null);
    this.#boot();
  }

  async #dispatch(name: Name, how: { force: boolean; despite_brake: boolean }): Promise<void> {
    this.asked.add(name);
    const stopped = this.stopped;
    if (how.despite_brake) this.stopped = false;
    try {
      const reply = await this.world.run(this.daemon.dispatcher.dispatch({ fiber_id: name, ...how }));
      if (reply.dispatched) this.killed.delete(name);
      else if (reply.message === '') this.faults.push(`${name} was refused without a word`);
      // Of what is no service nothing is shown but the answer.
      else if (this.#isService(name) && !this.#isShown(name))
        this.faults.push(`a refusal of ${name} is not shown`);
    } catch (error) {
      if (!isCode(error, 'mux_unavailable')) throw error;
    } finally {
      this.asked.delete(name);
      this.stopped = stopped;
    }
  }

  async #kill(name: Name): Promise<void> {
    this.lost.delete(name);
    try {
      await this.world.run(this.daemon.dispatcher.kill(name));
      if (this.#status(name) === 'active') this.killed.add(name);
    } catch (error) {
      if (!isCode(error, 'no_worker') && !isCode(error, 'mux_unavailable')) throw error;
    }
  }

  async #verb(name: Name, verb: Verb): Promise<void> {
    const was_killed = this.killed.has(name);
    const was_service = this.#isService(name);
    const lived = this.#lives(name);
    // A verb that finds nothing to do gives no leave; these are an order all the same.
    const is_order = ['install', 'repeat', 'resume'].includes(verb.action);
    if (is_order || this.#status(name) !== 'active') this.killed.delete(name);
    this.lost.delete(name);
    this.ordered.add(name);
    const answer = await this.world.run(this.calls.lifecycle({ fiber: name, ...verb } as LifecycleRequest));
    if (answer.status !== 0) {
      if (was_killed || (lived && !this.#lives(name))) this.killed.add(name);
      if (answer.text === '') this.faults.push(`${verb.action} of ${name} was refused without a word`);
      // Only what no verb has a say in may refuse it: a lock of another program, a silent tmux, a missing folder.
      const may_refuse =
        this.world.documents.locked ||
        !was_service ||
        ['mux_unavailable', 'project_dir_missing'].includes(answer.error ?? '');
      if (!may_refuse) this.faults.push(`${verb.action} of ${name} was refused: ${answer.text}`);
    } else if (this.#status(name) !== 'active') this.killed.delete(name);
    await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    this.ordered.delete(name);
  }

  async #move(name: Name, target: TransitionTarget): Promise<void> {
    this.ordered.add(name);
    this.lost.delete(name);
    if (target === 'inFlight') this.asked.add(name);
    else this.killed.delete(name);
    try {
      const answer = await this.world.run(this.calls.transition({ fiber_id: name, target }));
      if (answer.invoked) this.killed.delete(name);
      await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    } catch (error) {
      const is_plain = isCode(error, 'arm_refused') && !this.#isService(name);
      if (!is_plain && !isCode(error, 'mux_unavailable') && !isCode(error, 'locked')) throw error;
    } finally {
      this.asked.delete(name);
      this.ordered.delete(name);
    }
  }

  #callsOf(daemon: Daemon): LifecycleCalls {
    const { world, memory, dispatcher, rows } = daemon;
    return new LifecycleCalls({
      world,
      memory,
      dispatcher,
      look: (reference) => this.world.documents.index.get(reference),
      agents: () => ({
        agents: [{ ...AGENT, model: 'demo-model' }, LEARNING],
        names: { demo: 'demo', learning: 'learning' },
        default_id: AGENT.id,
      }),
      cli: null,
      onMoved: (keys) => rows.runtimeMoved(keys),
    });
  }

  #boot(): void {
    this.daemon = this.world.boot();
    this.calls = this.#callsOf(this.daemon);
    this.released = false;
    this.seen = new Set(this.world.machine.living.map((worker) => this.#nameOf(worker.session.name)));
    this.killed.clear();
  }

  /** Every start of a worker is judged by this account and not by the dispatcher's. */
  #started(name: Name): void {
    const { world } = this;
    const living = world.machine.living.filter((worker) => this.#nameOf(worker.session.name) === name);
    if (living.length !== 1) this.faults.push(`${living.length} workers of ${name} live`);
    const now = world.clock.now();
    const served = this.served.get(name) ?? Number.NEGATIVE_INFINITY;
    this.served.set(name, Math.max(served, now));
    this.started_at.set(name, now);
    this.listed.delete(name);
    this.lost.delete(name);
    if (this.stopped) this.faults.push(`${name} was started while everything is stopped`);
    if (this.asked.has(name)) return;
    if (!this.#isService(name)) this.faults.push(`${name} was started and is no service`);
    if (this.#kind(name) === 'standing' && newestOccurrence(now) <= served)
      this.faults.push(`${name} was started again for an occurrence that was served`);
    if (world.most_workers !== null && world.machine.living.length > world.most_workers)
      this.faults.push(`${name} was started beside ${world.machine.living.length - 1} others`);
    if (this.#status(name) !== 'active') this.faults.push(`${name} was started while ${this.#status(name)}`);
    if (this.killed.has(name)) this.faults.push(`${name} was started although a person had killed it`);
    if (!this.released && !this.seen.has(name)) this.faults.push(`${name} was started in quarantine`);
    if (world.machine.listing === 'unknown' && !this.ordered.has(name))
      this.faults.push(`${name} was started blindly`);
    if (world.directories.has(DIR)) this.faults.push(`${name} was started in a missing directory`);
    const blocked = this.daemon.memory.refusals.get(this.#uid(name));
    if (blocked?.retry_at != null && blocked.retry_at > world.clock.now())
      this.faults.push(`${name} was started within its cooldown (${blocked.reason})`);
    this.seen.add(name);
  }

  #check(after: string): void {
    const { machine } = this.world;
    for (const worker of machine.living) this.seen.add(this.#nameOf(worker.session.name));
    if (this.faults.length > 0) throw new Error(`after ${after}: ${this.faults.join('; ')}`);
    for (const name of FIBERS) {
      const text = this.world.documents.files.get(this.world.documents.index.get(name).path);
      if (!text?.includes('status:') || (this.#isService(name) && !text.includes(`host: ${HOST}`)))
        throw new Error(`after ${after}: the document of ${name} lost what it said`);
    }
  }

  #edit(name: Name, status: string): void {
    this.lost.delete(name);
    const { path } = this.world.documents.index.get(name);
    this.world.documents.edit(path, (text) =>
      text.replace(/^status: .*$/m, `status: ${status}`).replace(/^closed-at: .*\n/m, ''),
    );
    this.world.documents.list();
  }

  #status(name: Name): string {
    return this.world.documents.row(this.world.documents.index.get(name).path)?.status ?? 'gone';
  }

  /** Each refusal is in the list, or the brake that refuses everything is told. */
  #isShown(name: Name): boolean {
    const { blocked, brake } = this.daemon.state();
    return brake.on || blocked.some((row) => row.fiber_id === name);
  }

  #kind(name: Name): string | undefined {
    return this.world.documents.row(this.world.documents.index.get(name).path)?.svc?.kind;
  }

  #isService(name: Name): boolean {
    return this.world.documents.row(this.world.documents.index.get(name).path)?.svc !== undefined;
  }

  #lives(name: Name): boolean {
    return this.world.machine.living.some((worker) => this.#nameOf(worker.session.name) === name);
  }

  #uid(name: Name): string {
    return this.world.documents.index.get(name).uid ?? '';
  }

  #nameOf(session: string): Name {
    return session.split('-')[0] as Name;
  }
}

/** The last 08:00 UTC at or before this moment. */
function newestOccurrence(now: number): number {
  return Math.floor((now - 8 * 60 * MINUTE) / DAY) * DAY + 8 * 60 * MINUTE;
}

function isCrash(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'type' in error && error.type === 'Crash';
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

it('drives every verb of the lifecycle', () => {
  expect(new Set([...OFTEN, ...SELDOM].map(({ action }) => action))).toEqual(new Set(LIFECYCLE_ACTIONS));
});

it('[P5] [P13] [P4] [P6] [DSP-5] never has two workers for one fiber, never starts one without authority, and hides nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30, size: 'max' }),
      fc.constantFrom(null, null, 1, 2),
      async (steps, most_workers) => {
        const run = new Run(most_workers);
        try {
          for (const one of steps) await run.take(one);
          await run.finish();
        } finally {
          run.world.dispose();
        }
      },
    ),
    modelRuns(40),
  );
}, 600_000);
