import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCoded } from '../../src/base/errors.ts';
import type { FiberDocument } from '../../src/contract/fiber.ts';
import {
  LIFECYCLE_ACTIONS,
  type LifecycleRequest,
  TRANSITION_TARGETS,
  type TransitionTarget,
} from '../../src/contract/http/lifecycle.ts';
import { requireMayStart } from '../../src/dispatch/holds/start-refusal.ts';
import { LifecycleCalls } from '../../src/dispatch/requests/lifecycle-calls.ts';
import { dismissIncident, resumeIncident } from '../../src/dispatch/requests/resume-incident.ts';
import { STORE } from './world/fake-documents.ts';
import { AGENT, type Daemon, FakeWorld, HOST, LEARNING } from './world/fake-world.ts';
import { MODEL_TIMEOUT_MS, modelRuns } from './world/model-runs.ts';

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
  | { do: 'capture' | 'desk' }
  | { do: 'claim'; fiber: Name; session: number }
  | { do: 'limit'; fiber: Name; ms: number }
  | { do: 'crash'; effects: number; during: 'round' | 'dispatch' | 'kill' | 'claim'; fiber: Name };

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
      ms: fc.constantFrom(1_000, 12_000, 2 * MINUTE, 6 * MINUTE, 120 * MINUTE, 25 * 60 * MINUTE),
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
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'capture' }, { do: 'desk' }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('claim' as const), fiber, session: fc.nat({ max: 1 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      fiber,
      ms: fc.constantFrom(MINUTE, 5 * 60 * MINUTE, 4 * DAY),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      effects: fc.integer({ min: 1, max: 16 }),
      during: fc.constantFrom('round', 'dispatch', 'kill', 'claim'),
      fiber,
    }),
  },
);

const round: Step = { do: 'round' };
const die = (name: Name): Step => ({ do: 'die', fiber: name, code: 1 });

/** What single steps meet too seldom: each is a situation in which one rule alone keeps a worker from being started. */
const scene: fc.Arbitrary<Step[]> = fc.oneof(
  // The brake is on, and somebody asks.
  fc
    .record({ fiber, force: fc.boolean(), despite_brake: fc.boolean() })
    .map((asked): Step[] => [
      ...[{ do: 'stop_all' } as const, die(asked.fiber), round],
      ...[{ do: 'dispatch', ...asked } as const, { do: 'capture' } as const, round],
    ]),
  // A role was served, and is armed again before its next occurrence.
  fc
    .constantFrom<Verb>({ action: 'accept' }, { action: 'resume' })
    .map((verb): Step[] => [round, die('role'), round, { do: 'verb', fiber: 'role', verb }, round]),
  // An account is over its limit, and a worker of it has ended.
  fc
    .record({ fiber, ms: fc.constantFrom(MINUTE, 5 * 60 * MINUTE, 4 * DAY), restarts: fc.boolean() })
    .map(({ fiber: name, ms, restarts }): Step[] => [
      ...[round, { do: 'limit', fiber: name, ms } as const, die(name), round],
      ...(restarts ? ([{ do: 'restart' }, { do: 'release' }, round] as const) : []),
      ...[{ do: 'advance', ms: 120 * MINUTE } as const, round],
    ]),
  // A person calls for a worker, and for all at once.
  fc
    .shuffledSubarray([...FIBERS], { minLength: 2 })
    .map((names): Step[] => [...names.map((name): Step => ({ do: 'arm', fiber: name })), round]),
);
const steps = fc
  .array(fc.oneof({ weight: 8, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: scene }), {
    maxLength: 26,
    size: 'max',
  })
  .map((all) => all.flat());

/** Runs one sequence on a machine of its own, and keeps its own account of who may start what. */
class Run {
  readonly world = new FakeWorld();
  daemon: Daemon;
  /** Fibers that a person asks for at this moment. */
  asked = new Set<Name>();
  /** Fibers that a person killed, until one starts or resumes them, or they are closed. */
  killed = new Set<Name>();
  /** Fibers whose workers this daemon has seen to go down with their server. */
  downed = new Set<Name>();
  /** Fibers for which a verb runs: what it starts needs no listing of its own. */
  ordered = new Set<Name>();
  /** The emergency brake is on. */
  stopped = false;
  /** Fibers whose workers went down with their server, of which nobody has spoken since. */
  lost = new Set<Name>();
  /** Fibers whose workers a daemon has found on the server as it is. */
  listed = new Set<Name>();
  /** Of the lost ones, those that no daemon had found on their server. */
  unlisted = new Set<Name>();
  started_at = new Map<Name, number>();
  /** The newest moment at which each fiber was started. */
  served = new Map<Name, number>();
  was_turned_back = false;
  /** Fibers whose worker a person told to end, by a request that its daemon did not outlive. */
  cut = new Set<Name>();
  /** The same by a forced start, while no later daemon has seen that the worker lives on. */
  forced = new Set<Name>();
  /** Captures and persons' sessions that were claimed, by their names. */
  owners = new Map<string, Name>();
  /** Sessions whose claim was cut short: it is made once its document says so. */
  unsettled = new Map<string, Name>();
  /** Until when the daemon has been told to wait, by account. */
  limited = new Map<string, number>();
  /** What this run went through, so that a test which meets none of it is known to prove nothing. */
  met = { claims: 0, limits: 0, starts: 0, incidents: 0 };
  calls: LifecycleCalls;
  released = false;
  /** Fibers whose workers this daemon has seen. */
  seen = new Set<Name>();
  faults: string[] = [];
  #boots = 1;

  constructor(beginning: { most_workers: number | null; released: boolean }) {
    this.world.most_workers = beginning.most_workers;
    this.world.fiber('once');
    this.world.fiber('role', { kind: 'standing', schedule: `"${DAILY}"` });
    this.world.fiber('pin', { kind: 'pinned' }, { status: 'open' });
    this.world.machine.startByHand('desk-0', ['/opt/demo']);
    this.daemon = this.world.boot();
    this.calls = this.#callsOf(this.daemon);
    if (beginning.released) this.#release();
    const { machine } = this.world;
    const create = machine.create.bind(machine);
    machine.create = (spec, started) =>
      create(spec, () => {
        started();
        const name = this.#ownerOf(spec.name);
        if (name !== null) this.#started(name);
        else if (this.stopped) this.faults.push(`${spec.name} was started while everything is stopped`);
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
        if (one.ms < 0) {
          this.was_turned_back = true;
          // Only by its start could the next server be told from theirs.
          for (const name of this.unlisted) this.lost.delete(name);
        }
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
        await this.world.run(dismissIncident(daemon.memory, {}));
        this.lost.clear();
        break;
      case 'release':
        this.#release();
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
      case 'capture':
        await this.#capture();
        break;
      case 'desk':
        if (machine.server === 'up') machine.startByHand(`desk-${machine.byHand.length}`, ['/opt/demo']);
        break;
      case 'claim':
        await this.#claim(one.fiber, this.#claimable().at(-one.session));
        break;
      case 'limit':
        await this.#meetLimit(one.fiber, one.ms);
        break;
      case 'arm':
        this.#edit(one.fiber, 'active');
        break;
      case 'disarm':
        this.#edit(one.fiber, 'open');
        await this.#round();
        break;
      default:
        await this.#toWorker(one);
    }
    // A role whose run was concluded is armed by a person alone, and with that nothing holds it back any more.
    for (const name of FIBERS)
      if (this.#status(name) === 'closed' || !this.#isService(name)) this.#forgive(name);
    this.#check(JSON.stringify(one));
    this.#forgetLimits();
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
    const living = FIBERS.flatMap((name) => this.#workersOf(name).map(() => name)).sort();
    const shown = this.daemon
      .state()
      .running.map((run) => run.fiber_id)
      .sort();
    expect(shown).toEqual(living);
    expect(this.daemon.memory.unconcluded.size).toBe(0);
    // A claim that was cut short is made or taken back: the daemon takes nobody for a worker of whom no document tells.
    const workers = this.daemon.state().running.map((run) => run.mux_session);
    expect(workers.filter((session) => session !== null && this.unsettled.has(session))).toEqual([]);
    const incidents = this.daemon.state().incidents.flatMap((one) => one.fibers.map((each) => each.fiber_id));
    expect(incidents).toEqual(expect.arrayContaining([...this.lost]));
    // What a daemon says after its crash is no word of a living one.
    const faults = world.logs.filter((line) => line.level >= 50 && !isCrash(line.err));
    expect(faults).toEqual([]);
    for (const name of FIBERS) {
      const row = this.daemon.row(name);
      expect([name, row?.status]).toEqual([name, expect.stringMatching(/^(open|active|closed)$/)]);
      if (row?.status !== 'active' || !this.#isService(name)) continue;
      // Nothing that is armed here is neither run nor told why it does not.
      const why = await this.daemon.dispatcher.why(name, { look: false });
      expect([name, why.verdict]).toEqual([name, living.includes(name) ? 'running' : 'waits']);
      const said = row.runtime ?? row.held ?? row.blocked ?? row.next_due_at ?? row.tempered;
      const shown = said ?? DAEMON_GATES[why.first?.gate ?? ''];
      expect([name, why.first?.gate, shown]).toEqual([name, expect.anything(), expect.anything()]);
    }
  }

  /** Once nothing is in the way any more, whatever is armed has a worker, or a person is told why not. */
  async comeToWork(): Promise<void> {
    const { world } = this;
    world.directories.clear();
    this.daemon.memory.brake.release();
    this.stopped = false;
    this.#release();
    for (const name of FIBERS) this.daemon.memory.quarantine.allow(this.#uid(name));
    this.killed.clear();
    this.downed.clear();
    this.lost.clear();
    world.clock.advance(5 * DAY);
    this.#forgetLimits();
    for (let turn = 0; turn < 4; turn += 1) {
      await world.run(this.daemon.round());
      this.#check('everything was let go');
    }
    const { most_workers } = world;
    const is_full = most_workers !== null && this.daemon.state().running.length >= most_workers;
    for (const name of FIBERS) {
      if (this.#status(name) !== 'active' || !this.#isService(name) || this.#lives(name)) continue;
      const why = await this.daemon.dispatcher.why(name, { look: false });
      // Five days hold an occurrence of every role, unless its runs were recorded in times to come; one that was
      // judged and armed by hand keeps its verdict, and is not due (STD-1).
      const is_judged = this.#kind(name) === 'standing' && this.#row(name)?.tempered !== undefined;
      const may_wait = [
        ...(is_judged ? ['due'] : []),
        ...(is_full ? ['max_concurrent'] : []),
        ...(this.was_turned_back ? ['due', 'breaker', 'usage_limit'] : []),
      ];
      if (!may_wait.includes(why.first?.gate ?? '') && this.daemon.row(name)?.blocked === undefined)
        throw new Error(`${name} was never started: ${JSON.stringify(why.first)}`);
    }
  }

  async #round(): Promise<void> {
    const { machine } = this.world;
    const before = new Set(FIBERS.flatMap((name) => this.#workersOf(name)));
    await this.world.run(this.daemon.round());
    if (machine.listing !== 'normal' || machine.kernel !== 'answers') return;
    for (const name of FIBERS)
      for (const session of this.#workersOf(name))
        if (before.has(session)) {
          this.listed.add(name);
          this.forced.delete(name);
        }
  }

  #loseServer(told: boolean): void {
    const { machine, clock } = this.world;
    if (machine.server === 'down') return;
    for (const name of FIBERS) {
      if (!this.#lives(name) || this.cut.has(name) || this.forced.has(name)) continue;
      const age = clock.now() - (this.started_at.get(name) ?? 0);
      const is_younger = age < STARTUP_MS || this.was_turned_back;
      if (is_younger && !this.listed.has(name)) continue;
      // One that was disarmed or handed off before, or is no service any more, waits for nobody.
      if (this.#status(name) === 'active' && this.#isService(name) && !this.#isHandedOff(name))
        this.lost.add(name);
      this.downed.add(name);
    }
    for (const name of FIBERS) if (!this.listed.has(name)) this.unlisted.add(name);
    if (this.lost.size > 0) this.met.incidents += 1;
    this.listed.clear();
    machine.loseServer({ told });
  }

  async #resumeIncident(): Promise<void> {
    const { daemon } = this;
    for (const { fiber_id } of daemon.memory.incidents.fibers()) this.asked.add(fiber_id as Name);
    try {
      const { fibers } = await this.world.run(resumeIncident(daemon, {}));
      for (const one of fibers) {
        if (one.outcome === 'refused' && one.message === '')
          this.faults.push(`${one.fiber_id} was refused without a word`);
        if (one.outcome === 'started') this.#forgive(one.fiber_id as Name);
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
    const worker = world.machine.living.find((each) => this.#ownerOf(each.session.name) === one.fiber);
    if (worker === undefined) {
      for (const each of world.machine.byHand)
        if (one.do !== 'panes' && one.do !== 'hand_off' && this.#ownerOf(each.session.name) === one.fiber)
          each.alive = false;
      return;
    }
    if (one.do === 'hand_off') this.lost.delete(one.fiber);
    if (one.do === 'die') world.machine.exit(worker, { code: one.code, screen: 'bye' });
    else if (one.do === 'silent_death') world.machine.vanish(worker);
    else if (one.do === 'panes') this.world.machine.openPane(worker);
    else if (
      one.do === 'hand_off' &&
      !this.owners.has(worker.session.name) &&
      !world.documents.locked &&
      this.#isService(one.fiber)
    )
      await world.handOff(one.fiber);
  }

  async #crash(one: Extract<Step, { do: 'crash' }>): Promise<void> {
    const { dispatcher } = this.daemon;
    const session = this.#claimable().at(-(one.effects % 2)) ?? 'nobody';
    if (one.during === 'claim' && !this.owners.has(session)) this.unsettled.set(session, one.fiber);
    this.world.crashIn(one.effects);
    this.lost.delete(one.fiber);
    if (one.during !== 'round') this.asked.add(one.fiber);
    if (one.during === 'kill') this.cut.add(one.fiber);
    if (one.during === 'dispatch') this.forced.add(one.fiber);
    const work =
      one.during === 'round'
        ? this.daemon.round()
        : one.during === 'dispatch'
          ? dispatcher.dispatch({ fiber_id: one.fiber, force: true })
          : one.during === 'kill'
            ? dispatcher.kills.kill(one.fiber)
            : dispatcher.surfaces.cli.claims.claim({ fiber_id: one.fiber, mux_session: session });
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
    // Who has a worker replaced has said what becomes of it, also where it was lost already and none could be started.
    if (how.force) this.lost.delete(name);
    try {
      const reply = await this.world.run(this.daemon.dispatcher.dispatch({ fiber_id: name, ...how }));
      if (reply.dispatched) this.#forgive(name);
      else if (reply.message === '') this.faults.push(`${name} was refused without a word`);
      // Of what is no service nothing is shown but the answer.
      else if (this.#isService(name) && !this.#isShown(name))
        this.faults.push(`a refusal of ${name} is not shown`);
    } catch (error) {
      if (!isCoded(error, 'mux_unavailable')) throw error;
    } finally {
      this.asked.delete(name);
      this.stopped = stopped;
    }
  }

  async #kill(name: Name): Promise<void> {
    this.lost.delete(name);
    try {
      await this.world.run(this.daemon.dispatcher.kills.kill(name));
      if (this.#status(name) === 'active') this.killed.add(name);
    } catch (error) {
      if (!isCoded(error, 'no_worker') && !isCoded(error, 'mux_unavailable')) throw error;
    }
  }

  async #capture(): Promise<void> {
    const { daemon } = this;
    try {
      // As the poller's handler asks before it starts one.
      requireMayStart(daemon.memory, null, { look: true });
      const request = { prompt: 'x', project_dir: DIR, claim: { url: 'http://x', socket: null } };
      await this.world.run(daemon.dispatcher.surfaces.cli.captures.capture({ ...request, store: STORE }));
    } catch (error) {
      if (!isCoded(error, 'stopped_all')) throw error;
    }
  }

  async #claim(name: Name, mux_session = 'nobody'): Promise<void> {
    const lived = this.#workersOf(name);
    try {
      const { claims } = this.daemon.dispatcher.surfaces.cli;
      const claimed = await this.world.run(claims.claim({ fiber_id: name, mux_session }));
      if (claimed.already_claimed) return;
      if (lived.length > 0) this.faults.push(`${mux_session} was claimed for ${name} beside ${lived}`);
      if (this.owners.has(mux_session)) this.faults.push(`${mux_session} was claimed twice`);
      this.#claimed(name, mux_session, this.world.clock.now());
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      if (!isCoded(error)) throw error;
      if (message === '') this.faults.push(`a claim of ${name} was refused without a word`);
    }
  }

  #claimed(name: Name, mux_session: string, at: number): void {
    this.owners.set(mux_session, name);
    this.met.claims += 1;
    this.unsettled.delete(mux_session);
    this.#forgive(name);
    this.lost.delete(name);
    this.listed.delete(name);
    this.unlisted.delete(name);
    this.started_at.set(name, at);
    this.served.set(name, Math.max(this.served.get(name) ?? at, at));
  }

  /** The account of a fiber's worker is over a limit, and its transcript says so. */
  async #meetLimit(name: Name, ms: number): Promise<void> {
    const { world } = this;
    const session = this.#row(name)?.svc?.runtime?.session_uuid;
    if (!this.#lives(name) || session === undefined || world.machine.listing === 'unknown') return;
    const now = world.clock.now();
    const before = world.conversations.get(session);
    world.writesConversation(session, { size: before?.kind === 'found' ? before.size + 10 : 100 });
    const limit = { notice: 'limit', at: now, resets_at: now + ms, family: null };
    world.usage.set(`/t/${session}.jsonl`, { kind: 'limited', limit });
    await this.#round();
    // An agent that the document was given meanwhile is that of the next worker.
    const agent = this.daemon.state().running.find((run) => run.fiber_id === name)?.agent;
    const account = accountOf(agent ?? this.#row(name)?.svc?.agent);
    const told = this.daemon.memory.limits.of({ account, model: null }, world.clock.now());
    if (told?.at !== now) return;
    if (told.until !== now + ms)
      this.faults.push(`a limit that ends at ${now + ms} is noted as ${told.until}`);
    this.limited.set(account, now + ms);
    this.met.limits += 1;
  }

  /** What has run out once may be forgotten, even when the clock is turned back afterwards. */
  #forgetLimits(): void {
    const now = this.world.clock.now();
    for (const [account, until] of this.limited) if (until <= now) this.limited.delete(account);
  }

  async #verb(name: Name, verb: Verb): Promise<void> {
    const before = [this.killed.has(name), this.downed.has(name)];
    const was_service = this.#isService(name);
    const lived = this.#lives(name);
    // Only this verb gives leave to start what was held; it is an order also where it finds nothing to do.
    if (verb.action === 'resume' || this.#status(name) === 'closed') this.#forgive(name);
    const is_let_go = verb.action === 'resume' && !this.seen.has(name);
    if (is_let_go) this.seen.add(name);
    this.lost.delete(name);
    this.ordered.add(name);
    const request = { fiber: name, ...verb } as LifecycleRequest & { dry_run?: false };
    const answer = await this.world.run(this.calls.lifecycle(request));
    if (answer.status !== 0) {
      if (before[0] || (lived && !this.#lives(name))) this.killed.add(name);
      if (before[1]) this.downed.add(name);
      if (is_let_go) this.seen.delete(name);
      if (answer.text === '') this.faults.push(`${verb.action} of ${name} was refused without a word`);
      // Only what no verb has a say in may refuse it: a lock of another program, a silent tmux, a missing folder.
      const may_refuse =
        this.world.documents.locked ||
        !was_service ||
        ['mux_unavailable', 'project_dir_missing'].includes(answer.error ?? '');
      if (!may_refuse) this.faults.push(`${verb.action} of ${name} was refused: ${answer.text}`);
    } else if ('kill' in verb || this.#status(name) === 'closed') this.#forgive(name);
    await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    this.ordered.delete(name);
    if (answer.status === 0 && (verb.action === 'accept' || verb.action === 'resume'))
      this.#countFromNow(name);
  }

  /** After a clock that was wrong a person's word takes the mark back to now (STD-1). */
  #countFromNow(name: Name): void {
    const served = this.served.get(name);
    if (served !== undefined) this.served.set(name, Math.min(served, this.world.clock.now()));
  }

  async #move(name: Name, target: TransitionTarget): Promise<void> {
    this.ordered.add(name);
    this.lost.delete(name);
    if (target === 'inFlight') this.asked.add(name);
    const lived = this.#lives(name);
    try {
      const answer = await this.world.run(this.calls.transition({ fiber_id: name, target }));
      if (answer.invoked && (lived || target === 'inFlight')) this.#forgive(name);
      await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    } catch (error) {
      const is_plain = isCoded(error, 'arm_refused') && !this.#isService(name);
      if (!is_plain && !isCoded(error, 'mux_unavailable') && !isCoded(error, 'locked')) throw error;
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
        problem: null,
      }),
      cli: null,
      onMoved: (keys) => rows.runtimeMoved(keys),
    });
  }

  #boot(): void {
    this.daemon = this.world.boot();
    this.calls = this.#callsOf(this.daemon);
    this.released = false;
    // A claim that the daemon makes now shows it a worker, also one that is taken away again at once.
    this.seen = new Set([...FIBERS.filter((name) => this.#lives(name)), ...this.unsettled.values()]);
    this.downed.clear();
  }

  #release(): void {
    this.daemon.dispatcher.release();
    this.released = true;
  }

  /** Whoever starts or resumes a fiber, or closes it, has the last word on it. */
  #forgive(name: Name): void {
    this.killed.delete(name);
    this.downed.delete(name);
  }

  /** Every start of a worker is judged by this account and not by the dispatcher's. */
  #started(name: Name): void {
    const { world } = this;
    this.met.starts += 1;
    const living = this.#workersOf(name);
    if (living.length !== 1) this.faults.push(`${living} are workers of ${name}`);
    const now = world.clock.now();
    const served = this.served.get(name) ?? Number.NEGATIVE_INFINITY;
    this.served.set(name, Math.max(served, now));
    this.started_at.set(name, now);
    this.listed.delete(name);
    this.unlisted.delete(name);
    this.lost.delete(name);
    if (!this.asked.has(name)) {
      this.cut.delete(name);
      this.forced.delete(name);
    }
    if (this.stopped) this.faults.push(`${name} was started while everything is stopped`);
    if (this.asked.has(name)) return;
    if (!this.#isService(name)) this.faults.push(`${name} was started and is no service`);
    if (this.#kind(name) === 'standing' && newestOccurrence(now) <= served)
      this.faults.push(`${name} was started again for an occurrence that was served`);
    const workers = FIBERS.flatMap((one) => this.#workersOf(one)).length;
    if (world.most_workers !== null && workers > world.most_workers)
      this.faults.push(`${name} was started beside ${workers - 1} others`);
    if (now < (this.limited.get(accountOf(this.#row(name)?.svc?.agent)) ?? 0) && !this.ordered.has(name))
      this.faults.push(`${name} was started before the usage limit was over`);
    if (this.#status(name) !== 'active') this.faults.push(`${name} was started while ${this.#status(name)}`);
    if (this.killed.has(name)) this.faults.push(`${name} was started although a person had killed it`);
    if (this.downed.has(name)) this.faults.push(`${name} was started although its server was lost`);
    if (!this.released && !this.seen.has(name)) this.faults.push(`${name} was started in quarantine`);
    // Between two rounds a verb goes by what tmux told last; where places are bounded, for everybody who waits for one.
    const is_ordered = this.ordered.has(name) || (world.most_workers !== null && this.ordered.size > 0);
    if (world.machine.listing === 'unknown' && !is_ordered) this.faults.push(`${name} was started blindly`);
    if (world.directories.has(this.#row(name)?.project_dir ?? DIR))
      this.faults.push(`${name} was started in a missing directory`);
    const blocked = this.daemon.memory.refusals.get(this.#uid(name));
    if (blocked?.retry_at != null && blocked.attempted_at <= now && blocked.retry_at > now)
      this.faults.push(`${name} was started within its cooldown (${blocked.reason})`);
    this.seen.add(name);
  }

  #check(after: string): void {
    const { running } = this.daemon.state();
    for (const { mux_session, fiber_id, run_id, started_at } of running)
      if (mux_session !== null && this.unsettled.has(mux_session) && this.#isMade(fiber_id as Name, run_id))
        this.#claimed(fiber_id as Name, mux_session, started_at);
    for (const name of FIBERS) {
      if (this.#lives(name)) this.seen.add(name);
      const workers = this.#workersOf(name);
      if (workers.length > 1) this.faults.push(`${workers} are workers of ${name}`);
    }
    const sessions = running.map((run) => run.mux_session);
    if (new Set(sessions).size < sessions.length) this.faults.push(`${sessions} are workers of two fibers`);
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
    return this.#row(name)?.status ?? 'gone';
  }

  /** Each refusal is in the list, or the brake that refuses everything is told. */
  #isShown(name: Name): boolean {
    const { blocked, brake } = this.daemon.state();
    return brake.on || blocked.some((row) => row.fiber_id === name);
  }

  /** True once the document has a claim, or has had it until it was uninstalled. */
  #isMade(name: Name, run_id: string): boolean {
    return !this.#isService(name) || this.#row(name)?.svc?.runtime?.run_id === run_id;
  }

  #kind(name: Name): string | undefined {
    return this.#row(name)?.svc?.kind;
  }

  #isService(name: Name): boolean {
    return this.#row(name)?.svc !== undefined;
  }

  #lives(name: Name): boolean {
    return this.#workersOf(name).length > 0;
  }

  /** The sessions in which an agent works for this fiber: launched for it, or claimed. */
  #workersOf(name: Name): string[] {
    const { living, byHand } = this.world.machine;
    const alive = [...living, ...byHand.filter((one) => one.alive)].map(({ session }) => session.name);
    return alive.filter((session) => this.#ownerOf(session) === name);
  }

  /** Captures and persons' sessions in which an agent works, oldest first. */
  #claimable(): string[] {
    const { living, byHand } = this.world.machine;
    const captures = living
      .map(({ session }) => session.name)
      .filter((session) => session.startsWith('capture-'));
    return [...byHand.filter((one) => one.alive).map(({ session }) => session.name), ...captures];
  }

  /** A verb that ends a role's run hands it off: of what its worker comes to then nobody waits for a word. */
  #isHandedOff(name: Name): boolean {
    const handed = Date.parse(this.#row(name)?.svc?.runtime?.handed_off_at ?? '');
    return handed >= (this.started_at.get(name) ?? 0);
  }

  #uid(name: Name): string {
    return this.world.documents.index.get(name).uid ?? '';
  }

  #row(name: Name): FiberDocument | null {
    return this.world.documents.row(this.world.documents.index.get(name).path);
  }

  #ownerOf(session: string): Name | null {
    const [first = ''] = session.split('-');
    return FIBERS.find((name) => name === first) ?? this.owners.get(session) ?? null;
  }
}

/** Gates that keep back everything: their reason is shown once and not in each row. */
const DAEMON_GATES: Record<string, string> = { stopped_all: 'the brake', max_concurrent: 'no place' };

/** The last 08:00 UTC at or before this moment. */
function newestOccurrence(now: number): number {
  return Math.floor((now - 8 * 60 * MINUTE) / DAY) * DAY + 8 * 60 * MINUTE;
}

/** The account that the agent of this id works on. */
function accountOf(agent: string | undefined): string {
  return agent === LEARNING.id ? 'codex-own' : 'claude-own';
}

function isCrash(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'type' in error && error.type === 'Crash';
}

it('drives every verb of the lifecycle', () => {
  expect(new Set([...OFTEN, ...SELDOM].map(({ action }) => action))).toEqual(new Set(LIFECYCLE_ACTIONS));
});

it(
  '[P5] [P13] [P4] [P6] [DSP-5] never has two workers for one fiber, never starts one without authority, and hides nothing',
  async () => {
    const met = { claims: 0, limits: 0, starts: 0, incidents: 0 };
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.record({ most_workers: fc.constantFrom(null, null, 1, 2), released: fc.boolean() }),
        async (all, beginning) => {
          const run = new Run(beginning);
          try {
            for (const one of all) await run.take(one);
            await run.finish();
            await run.comeToWork();
            for (const what of ['claims', 'limits', 'starts', 'incidents'] as const)
              met[what] += run.met[what];
          } finally {
            run.world.dispose();
          }
        },
      ),
      modelRuns(200),
    );
    for (const [what, times] of Object.entries(met)) expect(times, what).toBeGreaterThan(0);
  },
  MODEL_TIMEOUT_MS,
);
