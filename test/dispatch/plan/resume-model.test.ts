import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ResumeMode } from '../../../src/dispatch/run/run-id.ts';
import { SESSION_STARTS_FILE } from '../../../src/dispatch/run-directory/session-starts.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';
import { MODEL_TIMEOUT_MS, modelRuns } from '../world/model-runs.ts';

const MINUTE = 60_000;
const WARM_MS = 45 * MINUTE;
const FIBERS = ['once', 'pin'] as const;
type Name = (typeof FIBERS)[number];

type Step =
  | { do: 'round' }
  | { do: 'restart' }
  | { do: 'advance'; ms: number }
  | { do: 'write' | 'die' | 'hand_off' | 'clear' | 'inside' | 'limit' | 'open'; fiber: Name }
  | { do: 'dispatch'; fiber: Name; mode: ResumeMode | null }
  | { do: 'crash'; effects: number };

const fiber = fc.constantFrom(...FIBERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Step>({ do: 'round' }, { do: 'restart' }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('write', 'die', 'hand_off', 'clear', 'inside', 'limit', 'open' as const),
      fiber,
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(5_000, 10 * MINUTE, 50 * MINUTE, 200 * MINUTE),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('dispatch' as const),
      fiber,
      mode: fc.constantFrom<ResumeMode | null>(null, 'previous', 'fresh', 'continue'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('crash' as const), effects: fc.integer({ min: 1, max: 14 }) }),
  },
);

/** Runs one sequence, and keeps its own account of each conversation. */
class Run {
  readonly world = new FakeWorld();
  daemon: Daemon;
  asked = new Map<Name, ResumeMode | null>();
  /** When each session was last written, and when it was handed off. */
  written = new Map<string, number>();
  over = new Set<string>();
  /** Sessions that were resumed and have not grown since. */
  idle = new Set<string>();
  /** Sessions of agents inside. */
  inside = new Set<string>();
  limited_until = 0;
  faults: string[] = [];
  #sessions = 0;

  constructor() {
    this.world.fiber('once');
    this.world.fiber('pin', { kind: 'pinned' }, { status: 'open' });
    this.daemon = this.world.boot({ released: true });
    const { machine } = this.world;
    const create = machine.create.bind(machine);
    machine.create = (spec, started) => {
      this.#judge(spec.name.split('-')[0] as Name, this.world.planned.at(-1)?.resume ?? null);
      return create(spec, started);
    };
  }

  async take(one: Step): Promise<void> {
    const { world } = this;
    if (one.do === 'round') await world.run(this.daemon.round());
    else if (one.do === 'restart') this.daemon = world.boot({ released: true });
    else if (one.do === 'advance') world.clock.advance(one.ms);
    else if (one.do === 'crash') {
      world.crashIn(one.effects);
      await world.crashes(this.daemon.round());
      world.crashIn(null);
      this.daemon = world.boot({ released: true });
    } else if (one.do === 'dispatch') {
      this.asked.set(one.fiber, one.mode);
      const mode = one.mode === null ? {} : { resume_mode: one.mode };
      await world.run(this.daemon.dispatcher.dispatch({ fiber_id: one.fiber, force: true, ...mode }));
      this.asked.delete(one.fiber);
    } else if (one.do === 'open') this.#toggleOpen(one.fiber);
    else await this.#toWorker(one.do, one.fiber);
    if (this.faults.length > 0) throw new Error(`after ${JSON.stringify(one)}: ${this.faults.join('; ')}`);
    world.clock.advance(1_000);
  }

  async #toWorker(what: 'write' | 'die' | 'hand_off' | 'clear' | 'inside' | 'limit', name: Name) {
    const { world } = this;
    const worker = world.machine.living.find((one) => one.session.name.startsWith(`${name}-`));
    if (worker === undefined) return;
    const session = this.#session(name);
    const report = (source: string, told: string) =>
      appendFileSync(
        join(worker.run_dir, SESSION_STARTS_FILE),
        `${JSON.stringify({ at: world.clock.now(), type: 'session_start', source, session: told, transcript: null })}\n`,
      );
    if (what === 'die') world.machine.exit(worker, { code: 1 });
    else if (what === 'hand_off') {
      if (session !== undefined) this.over.add(session);
      await world.handOff(name);
    } else if (what === 'inside') {
      const told = `inside-${this.#sessions++}`;
      this.inside.add(told);
      report('startup', told);
    } else if (session === undefined) return;
    else if (what === 'clear') {
      const told = `cleared-${this.#sessions++}`;
      report('clear', told);
      await world.run(this.daemon.round());
    } else {
      const before = world.conversations.get(session);
      const size = before?.kind === 'found' ? before.size + 10 : 100;
      world.writesConversation(session, { size });
      this.written.set(session, world.clock.now());
      this.idle.delete(session);
      if (what !== 'limit') return;
      const resets_at = world.clock.now() + 60 * MINUTE;
      const limit = { notice: 'limit', at: world.clock.now(), resets_at, family: null };
      world.usage.set(`/t/${session}.jsonl`, { kind: 'limited', limit });
      await world.run(this.daemon.round());
      this.limited_until = Math.max(this.limited_until, resets_at);
    }
  }

  #toggleOpen(name: Name): void {
    const { machine } = this.world;
    const session = `resume-${this.#session(name) ?? 'none'}`;
    const rest = machine.others.filter((one) => one.name !== session);
    machine.others = rest.length < machine.others.length ? rest : [...rest, machine.session(session)];
  }

  /** Every start is judged by this account and not by the dispatcher's. */
  #judge(name: Name, resumed: string | null): void {
    const { world } = this;
    const now = world.clock.now();
    const asked = this.asked.has(name);
    const mode = this.asked.get(name) ?? null;
    const fault = (text: string) => this.faults.push(`${name}: ${text}`);
    if (!asked && now < this.limited_until) fault('started by the poller under a usage limit');
    if (resumed === null) return;
    if (world.machine.others.some((one) => one.name === `resume-${resumed}`))
      fault('resumed beside a person');
    if (this.inside.has(resumed)) fault('resumed the session of an agent inside');
    if (mode === 'fresh') fault('resumed although fresh was asked for');
    if (mode !== 'previous') {
      if (this.over.has(resumed)) fault('resumed what was handed off');
      if (this.idle.has(resumed)) fault('resumed twice without growth');
      if (now - (this.written.get(resumed) ?? 0) > WARM_MS) fault('resumed what is cold');
      if (name === 'pin' && mode !== 'continue') fault('resumed a role by itself');
    }
    this.idle.add(resumed);
    // Whoever insisted on it has it going on: only a later handoff ends it again (RES-2, RES-7).
    this.over.delete(resumed);
  }

  #session(name: Name): string | undefined {
    const { path } = this.world.documents.index.get(name);
    return this.world.documents.row(path)?.svc?.runtime?.session_uuid;
  }
}

it(
  '[RES-2] [RES-3] [RES-6] [RES-9] [P7] [P10] over any run of events, restarts and crashes resumes only what may be resumed',
  async () => {
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const run = new Run();
        try {
          for (const one of steps) await run.take(one);
          resumed += run.world.planned.filter((request) => request.resume !== null).length;
        } finally {
          run.world.dispose();
        }
      }),
      modelRuns(40),
    );
    expect(resumed).toBeGreaterThan(0);
  },
  MODEL_TIMEOUT_MS,
);
