import { basename } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { CodedError, isCoded } from '../../src/base/errors.ts';
import type { LifecycleRequest } from '../../src/contract/http/lifecycle.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { printAddress } from '../../src/contract/session-address.ts';
import type { StartRequest } from '../../src/contract/threads/poller.ts';
import { LifecycleCalls } from '../../src/dispatch/requests/lifecycle-calls.ts';
import { messageTarget } from '../../src/dispatch/requests/message-target.ts';
import { MessagesService } from '../../src/messages/messages-service.ts';
import type { Callers } from '../../src/routes/callers.ts';
import { createDeliver, type Deliver } from '../../src/routes/deliver.ts';
import { AGENT, type Daemon, FakeWorld, HOST, LEARNING } from '../dispatch/world/fake-world.ts';
import { MODEL_TIMEOUT_MS, modelRuns } from '../dispatch/world/model-runs.ts';
import { FakeSession } from '../messages/fake-world.ts';

const FIBER = 'task';
/** A folder that is not there. */
const NOWHERE = '/nowhere';

type Request =
  /** `twice`: sent again under its id, as by somebody who got no answer. */
  | { do: 'deliver'; from: string | undefined; twice: boolean }
  | { do: 'dispatch'; how: Pick<StartRequest, 'force' | 'resume_mode' | 'project_dir'> }
  | { do: 'send' | 'kill' | 'die' }
  | { do: 'verb'; verb: 'pause' | 'resume' | 'close' | 'reopen'; kill: boolean };

const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      from: fc.constantFrom(undefined, 'ada'),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('dispatch' as const),
      how: fc.constantFrom(
        {},
        {},
        { force: true },
        { force: true, resume_mode: 'fresh' as const },
        { project_dir: NOWHERE },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Request>({ do: 'send' }, { do: 'kill' }, { do: 'die' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('verb' as const),
      verb: fc.constantFrom('pause', 'resume', 'close', 'reopen'),
      kill: fc.boolean(),
    }),
  },
);

const scenario = fc.record({
  /** Each with the moment at which it is made, in milliseconds. */
  requests: fc.array(
    fc.tuple(
      request,
      fc.nat({ max: 24 }).map((nth) => nth * 5),
    ),
    { minLength: 2, maxLength: 6 },
  ),
  armed: fc.boolean(),
  runs_before: fc.boolean(),
  learns: fc.boolean(),
  /** How long a call to a thread and a new session take, and how long a worker shows no composer. */
  call_ms: fc.constantFrom(0, 5),
  /** How long a delivery waits for the start of a worker. */
  deadline_ms: fc.constantFrom(null, null, 10),
  create_ms: fc.constantFrom(0, 20),
  ready_ms: fc.constantFrom(0, 40, 300),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer One> ? One : never;

/** What is known of one text once its requests were answered: given to a start, kept as messages, or refused. */
type Told = { prompted: number; receipts: Receipt[]; refused: number; unknown: number };

/** The real routes, dispatcher and messages of one daemon on an imagined machine, with one fiber. */
class Desk {
  readonly world = new FakeWorld();
  readonly session = new FakeSession();
  readonly #daemon: Daemon;
  readonly #deliver: Deliver;
  readonly #messages: MessagesService;
  readonly #verbs: LifecycleCalls;
  readonly #scenario: Scenario;
  /** Everything that any worker was told, prompts and messages apart. */
  readonly prompts: string[] = [];
  readonly typed: string[] = [];
  readonly #ready_at = new Map<string, number>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const { world } = this;
    const { machine, clock } = world;
    world.fiber(
      FIBER,
      { agent: scenario.learns ? LEARNING.id : AGENT.id },
      { status: scenario.armed ? 'active' : 'open' },
    );
    world.directories.set(NOWHERE, { kind: 'missing' });
    this.#daemon = world.boot({ released: true });
    const { memory, dispatcher, rows } = this.#daemon;
    this.#watchStarts();
    machine.latency_ms = scenario.create_ms;
    const own = this.session.world();
    this.#messages = new MessagesService(
      {
        ...own,
        ...{ host: HOST, clock },
        target: (of) => this.#called(() => messageTarget(this.#daemon.world, memory, of)),
        screen: async (_, { id }) => (clock.now() >= (this.#ready_at.get(id) ?? 0) ? 'ready' : 'unknown'),
        type: async ({ id }, text) => {
          await sleep(clock, scenario.call_ms);
          if (!machine.living.some((worker) => worker.session.id === id)) return { kind: 'gone' };
          this.typed.push(text);
          return { kind: 'pasted' };
        },
        evidence: async () => null,
      },
      { observe: 30, recheck: 0, hold: 3_600_000, pair: 20 },
    );
    const poller = {
      call: (name: string, input: { id: string } & StartRequest) =>
        this.#called(async () =>
          name === 'fiber' ? { fiber: this.#daemon.row(input.id) } : this.#inTime(dispatcher.dispatch(input)),
        ),
    };
    const messages = {
      call: (_: string, input: Parameters<MessagesService['send']>[0]) =>
        this.#called(() => this.#messages.send({ ...input, files: [] })),
    };
    this.#deliver = createDeliver({ poller, messages } as unknown as Callers, { host: HOST, clock });
    this.#verbs = new LifecycleCalls({
      ...{ world: this.#daemon.world, memory, dispatcher, cli: null },
      look: (reference) => world.documents.index.get(reference),
      agents: () => ({ agents: world.agents, names: {}, default_id: AGENT.id, problem: null }),
      onMoved: (keys) => rows.runtimeMoved(keys),
    });
  }

  /** What each text came to, by the text. */
  async run(): Promise<Map<string, Told>> {
    const { world } = this;
    await world.run(this.#daemon.round());
    if (this.#scenario.runs_before) await world.run(this.#daemon.dispatcher.dispatch({ fiber_id: FIBER }));
    let round = Promise.resolve();
    const stop = world.clock.every(50, () => {
      round = round.then(() => this.#daemon.round());
    });
    const told = new Map<string, Told>();
    const all = this.#scenario.requests.map(async ([one, at], nth) => {
      await sleep(world.clock, at);
      await this.#make(one, `text-${nth}.`, told);
    });
    await world.run(Promise.all(all));
    // What waits for a composer has it by now, or its session is over.
    for (let turn = 0; turn < 8; turn += 1) {
      world.clock.advance(500);
      await world.run(sleep(world.clock, 15));
    }
    stop();
    await world.run(round);
    this.#messages.stop();
    return told;
  }

  get starts(): number {
    return this.world.machine.creates.length;
  }

  /** How a message stands now. */
  now({ message_id }: Receipt): Receipt | undefined {
    return this.session.store().read(message_id)?.receipt;
  }

  dispose(): void {
    this.world.dispose();
    this.session.remove();
  }

  async #make(one: Request, text: string, told: Map<string, Told>): Promise<void> {
    const { dispatcher } = this.#daemon;
    const tell = async (how: () => Promise<{ receipt?: Receipt | undefined; given: boolean }>) => {
      const known = told.get(text) ?? { prompted: 0, receipts: [], refused: 0, unknown: 0 };
      told.set(text, known);
      try {
        const { receipt, given } = await how();
        if (receipt !== undefined) known.receipts.push(receipt);
        else if (given) known.prompted += 1;
        else known.refused += 1;
      } catch (error) {
        if (!isCoded(error)) throw error;
        known[error.code === 'deadline_exceeded' ? 'unknown' : 'refused'] += 1;
      }
    };
    switch (one.do) {
      case 'deliver': {
        const body = { fiber_id: FIBER, text, from: one.from, message_id: text };
        const deliver = () =>
          tell(async () => {
            const { status, json } = await this.#deliver.deliver(body);
            return { given: status === 200, ...(json as { receipt?: Receipt }) };
          });
        await Promise.all(
          one.twice
            ? [
                deliver(),
                sleep(this.world.clock, this.#scenario.deadline_ms === null ? 15 : 40).then(deliver),
              ]
            : [deliver()],
        );
        return;
      }
      case 'dispatch':
        await tell(async () => {
          const answer = await this.#deliver.dispatch({ fiber_id: FIBER, user_message: text, ...one.how });
          return { given: 'dispatched' in answer && answer.dispatched, ...(answer as { receipt?: Receipt }) };
        });
        return;
      case 'send': {
        const { session_uuid = null, harness = 'claude' } = this.#daemon.row(FIBER)?.runtime ?? {};
        if (session_uuid === null) return;
        const address = printAddress({ host: HOST, harness: harness as 'claude', native_id: session_uuid });
        await tell(async () => {
          const message = { address, text, from: 'ada', message_id: text, wake: true, files: [] };
          return { given: false, receipt: (await this.#messages.send(message)) as Receipt };
        });
        return;
      }
      case 'kill':
        await dispatcher.kills.kill(FIBER).catch(codedOnly);
        return;
      case 'die': {
        const [worker] = this.world.machine.living;
        if (worker !== undefined) this.world.machine.exit(worker, { code: 1 });
        return;
      }
      case 'verb': {
        const { verb, kill } = one;
        const asked = {
          action: verb,
          fiber: FIBER,
          ...(kill && ['pause', 'close'].includes(verb) && { kill }),
        };
        await this.#verbs.lifecycle(asked as LifecycleRequest).catch(codedOnly);
      }
    }
  }

  /** The work goes on where nobody waits for it any more. */
  #inTime<T>(work: Promise<T>): Promise<T> {
    const { deadline_ms } = this.#scenario;
    if (deadline_ms === null) return work;
    const late = sleep(this.world.clock, deadline_ms).then(() => {
      throw new CodedError('deadline_exceeded', 'it takes too long');
    });
    return Promise.race([work, late]);
  }

  /** A call to a thread, which takes its time both ways. */
  async #called<T>(work: () => Promise<T> | T): Promise<T> {
    await sleep(this.world.clock, this.#scenario.call_ms);
    const answer = await work();
    await sleep(this.world.clock, this.#scenario.call_ms);
    return answer;
  }

  /** A worker reads its prompt as it starts, and its conversation grows by that. */
  #watchStarts(): void {
    const { machine, clock } = this.world;
    const create = machine.create.bind(machine);
    machine.create = (spec, started) =>
      create(spec, () => {
        started();
        const worker = machine.living.at(-1)!;
        const launch_id = basename(worker.run_dir);
        const { runDirectories } = this.#daemon.world;
        this.prompts.push(runDirectories.readPrompt(launch_id) ?? '');
        this.#ready_at.set(worker.session.id, clock.now() + this.#scenario.ready_ms);
        const manifest = runDirectories.manifest(launch_id);
        const known = manifest.kind === 'found' ? manifest.value.session_uuid : null;
        const session = known ?? `learned-${launch_id}`;
        if (known === null) this.world.writesTranscript(launch_id, session);
        const before = this.world.conversations.get(session);
        this.world.writesConversation(session, { size: before?.kind === 'found' ? before.size + 10 : 100 });
      });
  }
}

function codedOnly(error: unknown): void {
  if (!isCoded(error)) throw error;
}

/** A worker is started for nobody but whoever finds none, or has ended the one before. */
function mostStarts({ requests, runs_before }: Scenario): number {
  const ends = ({ do: what, ...how }: Request) =>
    ['kill', 'die', 'verb'].includes(what) || ('how' in how && how.how.force === true);
  return (runs_before ? 1 : 0) + 1 + requests.filter(([one]) => ends(one)).length;
}

/** What is wrong with what the workers read of a text, by what its writer was told. */
function faultOf(text: string, { prompted, receipts, refused, unknown }: Told, desk: Desk): string | null {
  const count = (texts: readonly string[]) => texts.filter((one) => one.includes(text)).length;
  const read = { prompt: count(desk.prompts), message: count(desk.typed) };
  const said = `${text} was told ${JSON.stringify({ prompted, receipts, refused, unknown })} and read ${JSON.stringify(read)}`;
  if (read.prompt + read.message > 1) return said;
  // What timed out is not known, unless a repeat was told.
  if (unknown > 0 && prompted + receipts.length === 0) return null;
  const stages = receipts.map((receipt) => desk.now(receipt));
  const given = stages.filter((now) => now?.status !== 'rejected' && now?.transport !== 'held').length > 0;
  const isRight = prompted > 0 ? read.prompt === 1 : given === (read.message === 1) && read.prompt === 0;
  return isRight ? null : `${said}; its receipts came to ${JSON.stringify(stages)}`;
}

it(
  '[WPL-1] [WPL-10] [MSG-3] reads each text that was told as taken once, and one that was told as refused never, whatever meets at one fiber',
  async () => {
    const met = { prompted: 0, receipts: 0, refused: 0, unknown: 0 };
    await fc.assert(
      fc.asyncProperty(scenario, async (one) => {
        const desk = new Desk(one);
        try {
          const told = await desk.run();
          expect(desk.starts).toBeLessThanOrEqual(mostStarts(one));
          for (const [text, how] of told) {
            expect(faultOf(text, how, desk)).toBeNull();
            met.prompted += how.prompted;
            met.receipts += how.receipts.length;
            met.refused += how.refused;
            met.unknown += how.unknown;
          }
        } finally {
          desk.dispose();
        }
      }),
      modelRuns(60),
    );
    for (const [what, times] of Object.entries(met)) expect(times, what).toBeGreaterThan(0);
  },
  MODEL_TIMEOUT_MS,
);
