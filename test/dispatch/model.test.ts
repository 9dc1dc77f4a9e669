import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TRANSITION_TARGETS, type TransitionTarget } from '../../src/contract/http/lifecycle.ts';
import { LifecycleCalls } from '../../src/dispatch/lifecycle-calls.ts';
import { type Daemon, FakeWorld, HOST } from './world/fake-world.ts';

const MINUTE = 60_000;
const FIBERS = ['once', 'role', 'pin'] as const;
type Name = (typeof FIBERS)[number];
const ACTIONS = ['pause', 'resume', 'accept', 'close', 'reopen'] as const;

type Step =
  | { do: 'round' | 'release' | 'restart' | 'listing' | 'kernel' | 'server_lost' | 'reboot' | 'lock' }
  | { do: 'advance'; ms: number }
  | { do: 'dispatch'; fiber: Name; force: boolean }
  | { do: 'kill' | 'arm' | 'disarm' | 'hand_off' | 'silent_death' | 'panes'; fiber: Name }
  | { do: 'die'; fiber: Name; code: number }
  | { do: 'directory' | 'fail_create' }
  | { do: 'verb'; fiber: Name; action: (typeof ACTIONS)[number] }
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
  { weight: 4, arbitrary: fc.record({ do: fc.constant('dispatch' as const), fiber, force: fc.boolean() }) },
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
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('verb' as const), fiber, action: fc.constantFrom(...ACTIONS) }),
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
      { do: 'server_lost' },
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
  calls: LifecycleCalls;
  released = false;
  /** Fibers whose workers this daemon has seen. */
  seen = new Set<Name>();
  refused_at = new Map<Name, number>();
  deaths = new Map<Name, number>();
  faults: string[] = [];
  #boots = 1;

  constructor() {
    this.world.fiber('once');
    this.world.fiber('role', { kind: 'standing', schedule: '"0 8 * * *"' });
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
        await world.run(daemon.round());
        break;
      case 'advance':
        world.clock.advance(one.ms);
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
        if (!world.directories.delete('/srv/dev')) world.directories.set('/srv/dev', { kind: 'missing' });
        break;
      case 'fail_create':
        machine.next = 'refuse_but_start';
        break;
      case 'server_lost':
        if (machine.server === 'up') machine.loseServer({ told: true });
        break;
      case 'reboot':
        machine.reboot();
        this.#boots += 1;
        world.boot_id = `boot-${this.#boots}`;
        this.#boot();
        break;
      case 'dispatch':
        await this.#dispatch(one.fiber, one.force);
        break;
      case 'kill':
        await this.#kill(one.fiber);
        break;
      case 'verb':
        await this.#verb(one.fiber, one.action);
        break;
      case 'move':
        await this.#move(one.fiber, one.target);
        break;
      case 'arm':
        this.#edit(one.fiber, 'active');
        break;
      case 'disarm':
        this.#edit(one.fiber, 'open');
        await world.run(daemon.round());
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
    // What a daemon says after its crash is no word of a living one.
    const faults = world.logs.filter((line) => line.level >= 50 && !isCrash(line.err));
    expect(faults).toEqual([]);
    for (const name of FIBERS) {
      const row = this.daemon.row(name);
      expect([name, row?.status]).toEqual([name, expect.stringMatching(/^(open|active|closed)$/)]);
      const waits = row?.runtime ?? row?.held ?? row?.blocked ?? row?.next_due_at;
      // Nothing that is armed here is neither run nor told why it does not.
      if (row?.status === 'active') expect([name, waits]).toEqual([name, expect.anything()]);
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
    if (one.do === 'die') world.machine.exit(worker, { code: one.code, screen: 'bye' });
    else if (one.do === 'silent_death') world.machine.vanish(worker);
    else if (one.do === 'panes') worker.session = { ...worker.session, panes: 2 };
    else if (one.do === 'hand_off' && !world.documents.locked) await world.handOff(one.fiber);
  }

  async #crash(one: Extract<Step, { do: 'crash' }>): Promise<void> {
    const { dispatcher } = this.daemon;
    this.world.crashIn(one.effects);
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

  async #dispatch(name: Name, force: boolean): Promise<void> {
    this.asked.add(name);
    try {
      const reply = await this.world.run(this.daemon.dispatcher.dispatch({ fiber_id: name, force }));
      if (reply.dispatched) this.killed.delete(name);
      else if (this.daemon.state().blocked.every((row) => row.fiber_id !== name))
        this.faults.push(`a refusal of ${name} is not shown`);
    } catch (error) {
      if (!isCode(error, 'mux_unavailable')) throw error;
    } finally {
      this.asked.delete(name);
    }
  }

  async #kill(name: Name): Promise<void> {
    try {
      await this.world.run(this.daemon.dispatcher.kill(name));
      if (this.#status(name) === 'active') this.killed.add(name);
    } catch (error) {
      if (!isCode(error, 'no_worker') && !isCode(error, 'mux_unavailable')) throw error;
    }
  }

  async #verb(name: Name, action: (typeof ACTIONS)[number]): Promise<void> {
    const was_killed = this.killed.has(name);
    // A verb that finds nothing to do gives no leave; only `resume` is an order all the same.
    if (action === 'resume' || this.#status(name) !== 'active') this.killed.delete(name);
    this.ordered.add(name);
    const answer = await this.world.run(this.calls.lifecycle({ fiber: name, action }));
    if (answer.status !== 0) {
      if (was_killed) this.killed.add(name);
      // Only what no verb has a say in may refuse it: the document is locked by another program.
      if (!this.world.documents.locked) this.faults.push(`${action} of ${name} was refused: ${answer.text}`);
    } else if (this.#status(name) !== 'active') this.killed.delete(name);
    await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    this.ordered.delete(name);
  }

  async #move(name: Name, target: TransitionTarget): Promise<void> {
    this.ordered.add(name);
    if (target === 'inFlight') this.asked.add(name);
    else this.killed.delete(name);
    try {
      const answer = await this.world.run(this.calls.transition({ fiber_id: name, target }));
      if (answer.invoked) this.killed.delete(name);
      await this.world.run(this.daemon.dispatcher.workerOf(this.#uid(name), { sure: false }));
    } catch (error) {
      if (!isCode(error, 'mux_unavailable') && !isCode(error, 'locked')) throw error;
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
      agents: () => ({ agents: [], names: {}, default_id: null }),
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
    if (this.asked.has(name)) return;
    if (this.#status(name) !== 'active') this.faults.push(`${name} was started while ${this.#status(name)}`);
    if (this.killed.has(name)) this.faults.push(`${name} was started although a person had killed it`);
    if (!this.released && !this.seen.has(name)) this.faults.push(`${name} was started in quarantine`);
    if (world.machine.listing === 'unknown' && !this.ordered.has(name))
      this.faults.push(`${name} was started blindly`);
    if (world.directories.has('/srv/dev')) this.faults.push(`${name} was started in a missing directory`);
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
      if (!text?.includes(`host: ${HOST}`) || !text.includes('status:'))
        throw new Error(`after ${after}: the document of ${name} lost what it said`);
    }
  }

  #edit(name: Name, status: string): void {
    const { path } = this.world.documents.index.get(name);
    this.world.documents.edit(path, (text) =>
      text.replace(/^status: .*$/m, `status: ${status}`).replace(/^closed-at: .*\n/m, ''),
    );
    this.world.documents.list();
  }

  #status(name: Name): string {
    return this.world.documents.row(this.world.documents.index.get(name).path)?.status ?? 'gone';
  }

  #uid(name: Name): string {
    return this.world.documents.index.get(name).uid ?? '';
  }

  #nameOf(session: string): Name {
    return session.split('-')[0] as Name;
  }
}

function isCrash(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'type' in error && error.type === 'Crash';
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

it('[P5] [P13] [P4] [P6] [DSP-5] never has two workers for one fiber, never starts one without authority, and hides nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const run = new Run();
      try {
        for (const one of steps) await run.take(one);
        await run.finish();
      } finally {
        run.world.dispose();
      }
    }),
    { numRuns: Number(process.env.SVC_MODEL_RUNS ?? 40), interruptAfterTimeLimit: 540_000 },
  );
}, 600_000);
