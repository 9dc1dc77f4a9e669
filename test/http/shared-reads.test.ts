import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeferred, type Deferred } from '../../src/base/deferred.ts';
import { SharedReads } from '../../src/http/shared-reads.ts';

/** One who asks, and what became of it; times are counts of what happened so far. */
class Asker {
  readonly asked_at: number;
  readonly key: string;
  /** When the computation began that answered it; one that failed tells too. */
  begun_at: number | null = null;
  answers = 0;
  #controller = new AbortController();

  constructor(key: string, asked_at: number) {
    this.key = key;
    this.asked_at = asked_at;
  }

  get open(): boolean {
    return this.answers === 0 && !this.#controller.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  leave(): void {
    this.#controller.abort();
  }
}

type Work = {
  key: string;
  begun_at: number;
  signal: AbortSignal;
  end: Deferred<number>;
  done: boolean;
};

/** Shared reads whose event loop, clock and computations are turned by hand. */
class Bench {
  now = 0;
  ms = 0;
  readonly askers: Asker[] = [];
  readonly works: Work[] = [];
  #steps: (() => void)[] = [];
  readonly reads = new SharedReads<Asker, number>({
    answered: (asker, begun_at) => this.#told(asker, begun_at),
    failed: (asker, error) => this.#told(asker, Number((error as Error).message)),
    afterArrivals: (step) => void this.#steps.push(step),
    now: () => this.ms,
  });

  /** `at_once`: the computation answers without waiting. */
  ask(key: string, at_once = false): Asker {
    this.now += 1;
    const asker = new Asker(key, this.now);
    this.askers.push(asker);
    const compute = (shared: { readonly signal: AbortSignal }) => {
      this.now += 1;
      const begun_at = this.now;
      const work = { key, begun_at, signal: shared.signal, end: createDeferred<number>() };
      this.works.push({ ...work, done: at_once });
      return at_once ? begun_at : work.end.promise;
    };
    this.reads.join(key, asker, compute);
    return asker;
  }

  get running(): Work[] {
    return this.works.filter(({ done }) => !done);
  }

  async end(work: Work, how: 'answer' | 'fail'): Promise<void> {
    work.done = true;
    if (how === 'answer') work.end.resolve(work.begun_at);
    else work.end.reject(new Error(String(work.begun_at)));
    await Promise.resolve();
    await Promise.resolve();
  }

  turn(): void {
    const steps = this.#steps;
    this.#steps = [];
    for (const step of steps) step();
  }

  get idle(): boolean {
    return this.#steps.length === 0 && this.running.length === 0;
  }

  #told(asker: Asker, begun_at: number): void {
    // What delivers takes time, so that deliveries of many are cut into turns.
    this.ms += 0.4;
    if (!asker.open) return;
    asker.answers += 1;
    asker.begun_at = begun_at;
  }
}

type Event =
  | { do: 'ask'; key: string; at_once: boolean }
  | { do: 'turn' }
  | { do: 'end'; which: number; how: 'answer' | 'fail' }
  | { do: 'leave'; which: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      key: fc.constantFrom('a', 'b'),
      at_once: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(),
      how: fc.constantFrom('answer' as const, 'fail' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat() }) },
);

async function happen(bench: Bench, one: Event): Promise<void> {
  if (one.do === 'ask') bench.ask(one.key, one.at_once);
  else if (one.do === 'turn') bench.turn();
  else if (one.do === 'leave') bench.askers[one.which % Math.max(1, bench.askers.length)]?.leave();
  else {
    const { running } = bench;
    const work = running[one.which % Math.max(1, running.length)];
    if (work !== undefined) await bench.end(work, one.how);
  }
}

describe('reads that share a computation', () => {
  it('give each waiting caller an answer that was begun after its request, and run one computation of a kind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 120 }), async (events) => {
        const bench = new Bench();
        for (const one of events) {
          await happen(bench, one);
          const kinds = bench.running.map(({ key }) => key);
          expect(new Set(kinds).size).toBe(kinds.length);
        }
        for (let turns = 0; !bench.idle; turns += 1) {
          expect(turns).toBeLessThan(1_000);
          bench.turn();
          for (const work of bench.running) await bench.end(work, 'answer');
        }
        for (const asker of bench.askers) {
          const { answers, asked_at, begun_at, signal } = asker;
          if (!signal.aborted) expect(answers).toBe(1);
          if (begun_at !== null) expect(begun_at).toBeGreaterThan(asked_at);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('wait for requests of the same turn of the event loop, and for the running computation to end', async () => {
    const bench = new Bench();
    const early = [bench.ask('a'), bench.ask('a'), bench.ask('a')];
    expect(bench.works).toHaveLength(0);
    bench.turn();
    const late = [bench.ask('a'), bench.ask('a')];
    bench.turn();
    expect(bench.works).toHaveLength(1);
    await bench.end(bench.works[0]!, 'answer');
    expect([...early, ...late].map(({ answers }) => answers)).toEqual([1, 1, 1, 0, 0]);
    bench.turn();
    await bench.end(bench.works[1]!, 'fail');
    expect(late.map(({ answers }) => answers)).toEqual([1, 1]);
    expect(bench.works).toHaveLength(2);
    expect(bench.idle).toBe(true);
  });

  it('are cancelled when the last caller has left, and not before', async () => {
    const bench = new Bench();
    const [first, second] = [bench.ask('a'), bench.ask('a')];
    bench.turn();
    const [work] = bench.works;
    first.leave();
    expect(work!.signal.aborted).toBe(false);
    second.leave();
    expect(work!.signal.aborted).toBe(true);
  });

  it('are not begun without a caller', () => {
    const bench = new Bench();
    bench.ask('a').leave();
    bench.turn();
    expect(bench.works).toHaveLength(0);
    expect(bench.idle).toBe(true);
  });

  it('yield to other work between the deliveries to many callers', async () => {
    const bench = new Bench();
    const askers = Array.from({ length: 10 }, () => bench.ask('a'));
    bench.turn();
    await bench.end(bench.works[0]!, 'answer');
    const told = () => askers.filter(({ answers }) => answers === 1).length;
    expect(told()).toBeLessThan(10);
    while (!bench.idle) bench.turn();
    expect(told()).toBe(10);
  });
});
