import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isCoded } from '../../../../src/base/errors.ts';
import { STORE } from '../../world/fake-documents.ts';
import { type Daemon, FakeWorld } from '../../world/fake-world.ts';
import { MODEL_TIMEOUT_MS, modelRuns } from '../../world/model-runs.ts';

const FIBERS = ['red', 'blue'] as const;
const DESKS = ['desk-1', 'desk-2'] as const;
type Fiber = (typeof FIBERS)[number];

type Step =
  | { do: 'round' | 'capture' | 'restart' | 'listing' | 'lock' }
  | { do: 'claim'; fiber: Fiber; session: number; at_once: Fiber | null }
  | { do: 'crash'; fiber: Fiber; session: number; effects: number }
  | { do: 'dispatch'; fiber: Fiber; force: boolean }
  | { do: 'kill' | 'arm' | 'disarm'; fiber: Fiber }
  | { do: 'die'; session: number };

const fiber = fc.constantFrom(...FIBERS);
const session = fc.nat({ max: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>({ do: 'round' }, { do: 'capture' }, { do: 'restart' }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'listing' }, { do: 'lock' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      fiber,
      session,
      at_once: fc.option(fiber, { nil: null }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      fiber,
      session,
      effects: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dispatch' as const), fiber, force: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('kill', 'arm', 'disarm'), fiber }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('die' as const), session }) },
);

/** One sequence on a machine of its own, where captures and two persons' sessions may become workers. */
class Run {
  readonly world = new FakeWorld();
  daemon: Daemon;
  /** Whose worker each session is, by what claims were answered. */
  owners = new Map<string, Fiber>();

  constructor() {
    for (const name of FIBERS) this.world.fiber(name, {}, { status: 'open' });
    for (const name of DESKS) this.world.machine.startByHand(name, ['/opt/demo']);
    this.daemon = this.world.boot({ released: true });
  }

  async take(one: Step): Promise<void> {
    const { world, daemon } = this;
    switch (one.do) {
      case 'round':
        await world.run(daemon.round());
        break;
      case 'capture': {
        const request = { prompt: 'x', project_dir: '/srv/dev', claim: { url: 'http://x', socket: null } };
        await world.run(daemon.dispatcher.surfaces.cli.captures.capture({ ...request, store: STORE }));
        break;
      }
      case 'restart':
        this.daemon = world.boot({ released: true });
        break;
      case 'listing':
        world.machine.listing = world.machine.listing === 'normal' ? 'unknown' : 'normal';
        break;
      case 'lock':
        world.documents.locked = !world.documents.locked;
        break;
      case 'claim':
        await this.#claim(one.fiber, this.#session(one.session), one.at_once);
        break;
      case 'crash': {
        world.crashIn(one.effects);
        const mux_session = this.#session(one.session);
        const claim = daemon.dispatcher.surfaces.cli.claims.claim({ fiber_id: one.fiber, mux_session });
        const crashed = await world.crashes(
          claim.catch((error) => (world.crashed_at === null ? null : Promise.reject(error))),
        );
        world.crashIn(null);
        this.daemon = world.boot({ released: true });
        // Whether the claim was made is now for the daemon to say.
        if (!crashed) await world.run(this.daemon.round());
        break;
      }
      case 'dispatch':
        await this.#try(daemon.dispatcher.dispatch({ fiber_id: one.fiber, force: one.force }));
        break;
      case 'kill':
        await this.#try(daemon.dispatcher.kills.kill(one.fiber));
        break;
      case 'arm':
      case 'disarm':
        world.documents.edit(world.documents.index.get(one.fiber).path, (text) =>
          text.replace(/^status: .*$/m, `status: ${one.do === 'arm' ? 'active' : 'open'}`),
        );
        world.documents.list();
        break;
      case 'die':
        this.#die(this.#session(one.session));
    }
    this.#check(JSON.stringify(one));
    world.clock.advance(1_000);
  }

  async finish(): Promise<void> {
    const { world } = this;
    world.machine.listing = 'normal';
    world.documents.locked = false;
    world.clock.advance(12_000);
    for (let turn = 0; turn < 3; turn += 1) {
      await world.run(this.daemon.round());
      this.#check('the end');
    }
    const running = this.daemon.state().running;
    for (const [mux_session, owner] of this.owners)
      if (this.#lives(mux_session))
        expect(running).toContainEqual(expect.objectContaining({ mux_session, fiber_id: owner }));
    for (const run of running) expect(this.#lives(run.mux_session ?? ''), run.mux_session ?? '').toBe(true);
    expect(this.daemon.state().captures.every((one) => one.state !== 'unknown')).toBe(true);
  }

  async #claim(fiber_id: Fiber, mux_session: string, at_once: Fiber | null): Promise<void> {
    const { claims } = this.daemon.dispatcher.surfaces.cli;
    const asked = [fiber_id, ...(at_once === null ? [] : [at_once])];
    const replies = await this.world.run(
      Promise.allSettled(asked.map((one) => claims.claim({ fiber_id: one, mux_session }))),
    );
    for (const reply of replies) {
      if (reply.status === 'fulfilled') this.owners.set(mux_session, reply.value.fiber_id as Fiber);
      else if (!isCoded(reply.reason)) throw reply.reason;
    }
  }

  async #try(work: Promise<unknown>): Promise<void> {
    await this.world.run(work.catch((error) => (isCoded(error) ? null : Promise.reject(error))));
  }

  #check(after: string): void {
    const { machine } = this.world;
    const running = this.daemon.state().running;
    const sessions = running.map((run) => run.mux_session);
    expect(new Set(sessions).size, `after ${after}: one session, one fiber`).toBe(sessions.length);
    for (const name of FIBERS) {
      const launched = machine.living.filter((worker) => worker.session.name.startsWith(`${name}-`));
      const claimed = [...this.owners].filter(([one, owner]) => owner === name && this.#lives(one));
      const workers = [...launched.map((worker) => worker.session.name), ...claimed.map(([one]) => one)];
      expect(workers.length, `after ${after}: ${name} has ${workers.join(' and ')}`).toBeLessThan(2);
    }
  }

  /** A person's two sessions first, then the captures in the order of their starts. */
  #session(number: number): string {
    const captures = this.world.machine.workers
      .map((worker) => worker.session.name)
      .filter((name) => name.startsWith('capture-'));
    return [...DESKS, ...captures][number] ?? 'nobody';
  }

  #lives(mux_session: string): boolean {
    const { living, byHand } = this.world.machine;
    return (
      living.some((worker) => worker.session.name === mux_session) ||
      byHand.some((one) => one.alive && one.session.name === mux_session)
    );
  }

  #die(mux_session: string): void {
    const { machine } = this.world;
    const worker = machine.living.find((one) => one.session.name === mux_session);
    if (worker !== undefined) machine.exit(worker, { code: 0 });
    for (const one of machine.byHand) if (one.session.name === mux_session) one.alive = false;
  }
}

it(
  '[WPL-5] [P13] [P1] a session is one fiber’s worker, a fiber has one worker, and no claim that was answered is lost',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        const run = new Run();
        try {
          for (const one of steps) await run.take(one);
          await run.finish();
        } finally {
          run.world.dispose();
        }
      }),
      modelRuns(60),
    );
  },
  MODEL_TIMEOUT_MS,
);
