import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { CodedError, isCoded } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { requestPatience } from '../../src/base/request-scope.ts';
import type { LifecycleRequest } from '../../src/contract/http/lifecycle.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { markerOf } from '../../src/contract/message-text.ts';
import { printAddress } from '../../src/contract/session-address.ts';
import type { StartRequest } from '../../src/contract/threads/poller.ts';
import { appMessageStage, giveAppMessage } from '../../src/dispatch/requests/app-message.ts';
import { KeptAnswers } from '../../src/dispatch/requests/kept-answers.ts';
import { LifecycleCalls } from '../../src/dispatch/requests/lifecycle-calls.ts';
import { messageTarget } from '../../src/dispatch/requests/message-target.ts';
import { RUN_FILES } from '../../src/dispatch/run-directory/run-directory.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import type { Row } from '../../src/http/row.ts';
import { keptMessages } from '../../src/messages/kept-message.ts';
import { MessagesService } from '../../src/messages/messages-service.ts';
import type { Callers } from '../../src/routes/callers.ts';
import { createDeliver } from '../../src/routes/deliver.ts';
import { dispatchRows } from '../../src/routes/dispatch.ts';
import { meetingRows } from '../../src/routes/meeting.ts';
import { messagesRows } from '../../src/routes/messages.ts';
import { OnceById } from '../../src/routes/once-by-id.ts';
import { AGENT, type Daemon, FakeWorld, HOST, LEARNING } from '../dispatch/world/fake-world.ts';
import { MODEL_TIMEOUT_MS, modelRuns } from '../dispatch/world/model-runs.ts';
import { FakeSession } from '../messages/fake-world.ts';

const FIBER = 'task';
/** A folder that is not there. */
const NOWHERE = '/nowhere';

type Request =
  /** `again`: sent again under its id so many milliseconds later, as by somebody who got no answer. */
  | { do: 'deliver'; from: string | undefined; again: number | null }
  | {
      do: 'dispatch';
      how: Pick<StartRequest, 'force' | 'resume_mode' | 'project_dir'>;
      again: number | null;
    }
  /** A meeting whose recording joins the fiber, with a note. */
  | { do: 'join'; again: number | null }
  /** A worker of a free text, which then takes the fiber for its own. */
  | { do: 'capture' }
  | { do: 'send' | 'kill' | 'die' | 'claim' }
  /** The daemon is killed at this effect, and another one is started. */
  | { do: 'crash'; effect: number }
  | { do: 'verb'; verb: 'pause' | 'resume' | 'close' | 'reopen'; kill: boolean };

const again = fc.constantFrom(null, 15, 40, 150);
const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      from: fc.constantFrom(undefined, 'ada'),
      again,
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
      again,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), again }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Request>(
      { do: 'send' },
      { do: 'kill' },
      { do: 'die' },
      { do: 'capture' },
      { do: 'claim' },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('crash' as const), effect: fc.nat({ max: 12 }) }),
  },
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
  /** `learns`: the program chooses the id of its session; `app`: its conversations are at an app server. */
  worker: fc.constantFrom('own', 'own', 'learns', 'app'),
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

/** The parts of one daemon, until it is killed. */
type Parts = {
  daemon: Daemon;
  rows: readonly Row[];
  messages: MessagesService;
  verbs: LifecycleCalls;
};

/** A host records one meeting at a time; how long one lasts, in milliseconds. */
const MEETING_MS = 60;

/** The daemon was killed: nobody hears any more of what it did. */
const KILLED = Symbol('killed');

/** The real routes, dispatcher and messages of one daemon after the other on an imagined machine, with one fiber. */
class Desk {
  readonly world = new FakeWorld();
  readonly session = new FakeSession();
  readonly #scenario: Scenario;
  #parts: Parts;
  #generation = 0;
  #rounds: Promise<unknown> = Promise.resolve();
  #killed = Promise.withResolvers<typeof KILLED>();
  /** Everything that any worker was told, prompts and messages apart. */
  readonly prompts: string[] = [];
  readonly typed: string[] = [];
  crashes = 0;
  /** The recorder outlives daemons. */
  #records_until = 0;
  readonly #ready_at = new Map<string, number>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const { world } = this;
    world.fiber(
      FIBER,
      {
        agent: scenario.worker === 'own' ? AGENT.id : LEARNING.id,
        ...(scenario.worker === 'app' && { surface: 'app' }),
      },
      { status: scenario.armed ? 'active' : 'open' },
    );
    world.directories.set(NOWHERE, { kind: 'missing' });
    this.#parts = this.#boot();
    this.#watchStarts();
    world.machine.latency_ms = scenario.create_ms;
  }

  /** Another daemon over the same files; the one before does nothing any more. */
  #boot(): Parts {
    const { world, session } = this;
    const { clock, machine } = world;
    this.#generation += 1;
    const generation = this.#generation;
    const isDead = () => generation !== this.#generation || world.crashed_at !== null;
    /** A call to a thread, which takes its time both ways. What is dead goes on with nothing. */
    const called = async <T>(work: () => Promise<T> | T): Promise<T> => {
      const alive = () => (isDead() ? new Promise<never>(() => {}) : undefined);
      await sleep(clock, this.#scenario.call_ms);
      await alive();
      try {
        const answer = await work();
        await sleep(clock, this.#scenario.call_ms);
        await alive();
        return answer;
      } catch (error) {
        await alive();
        throw error;
      }
    };
    const daemon = world.boot({ released: true });
    const { memory, dispatcher, rows } = daemon;
    const answers = new KeptAnswers(join(world.data_dir, 'answers'), () => clock.now());
    const own = session.world();
    const messages = new MessagesService(
      {
        ...own,
        ...{ host: HOST, clock },
        store: refusing(own.store, isDead),
        target: (of) => called(() => messageTarget(daemon.world, memory, of)),
        screen: (_, { id }) =>
          called(() => (clock.now() >= (this.#ready_at.get(id) ?? 0) ? 'ready' : 'unknown')),
        type: ({ id }, text) =>
          called(() => {
            if (!machine.living.some((worker) => worker.session.id === id)) return { kind: 'gone' };
            this.typed.push(text);
            return { kind: 'pasted' };
          }),
        give: (message) => called(() => giveAppMessage(daemon.world, memory.runs, message)),
        stageIn: async (query) => (await appMessageStage(daemon.world, query)) ?? null,
        evidence: async (_address, _place, framed) =>
          this.typed.some((text) => text.startsWith(markerOf(framed))) ? 'submitted' : null,
      },
      { observe: 30, recheck: 0, hold: 3_600_000, pair: 20 },
    );
    messages.start();
    const poller = {
      call: (name: string, input: { id: string; content: string; answer: unknown } & StartRequest) =>
        called<unknown>(() => {
          if (name === 'fiber') return { fiber: daemon.row(input.id) };
          if (name === 'begin_write') return { kept: answers.begin(input.id, input.content) };
          if (name === 'end_write') return answers.end(input.id, input.answer);
          return this.#inTime(dispatcher.dispatch(input));
        }),
    };
    const audio = {
      call: (_: 'start_meeting', { note, mode }: { note: string; mode: string }) =>
        called<unknown>(() => {
          if (clock.now() < this.#records_until)
            throw new CodedError('meeting_running', 'a meeting is recorded already');
          this.#records_until = clock.now() + MEETING_MS;
          const meeting = { title: note, mode, transcript: '/meetings/m.txt', launch: world.ulid() };
          return { meeting, scribe_transcript: meeting.transcript };
        }),
    };
    const callers = {
      ...{ poller, audio },
      messages: {
        call: (name: string, input: Parameters<MessagesService['send']>[0] & { ids: string[] }) =>
          called<unknown>(() =>
            name === 'texts'
              ? { messages: keptMessages(own.store, input.ids, silentLogger) }
              : messages.send({ ...input, files: [] }),
          ),
      },
    } as unknown as Callers;
    const deliver = createDeliver(callers, { host: HOST, clock });
    const once = new OnceById(callers.poller, clock);
    const verbs = new LifecycleCalls({
      ...{ world: daemon.world, memory, dispatcher, cli: null },
      look: (reference) => world.documents.index.get(reference),
      agents: () => ({ agents: world.agents, names: {}, default_id: AGENT.id, problem: null }),
      onMoved: (keys) => rows.runtimeMoved(keys),
    });
    const all = [
      ...messagesRows(callers, deliver),
      ...dispatchRows(callers, deliver),
      ...meetingRows(callers, deliver, { host: HOST, clock }),
    ];
    return { daemon, rows: all.map((row) => once.row(row)), messages, verbs };
  }

  /** What each text came to, by the text. */
  async run(): Promise<Map<string, Told>> {
    const { clock } = this.world;
    await this.#until(this.#parts.daemon.round());
    if (this.#scenario.runs_before)
      await this.#until(this.#parts.daemon.dispatcher.dispatch({ fiber_id: FIBER }));
    const stop = clock.every(50, () => {
      const { daemon } = this.#parts;
      this.#rounds = this.#rounds
        .then(() => Promise.race([daemon.round(), this.#killed.promise]))
        .catch(crashedOnly);
    });
    const told = new Map<string, Told>();
    const all = this.#scenario.requests.map(async ([one, at], nth) => {
      await sleep(clock, at);
      await this.#make(one, `text-${nth}.`, told);
    });
    await this.#until(Promise.all(all));
    // What waits for a composer has it by now, or its session is over.
    for (let turn = 0; turn < 8; turn += 1) {
      clock.advance(500);
      await this.#until(sleep(clock, 15));
    }
    stop();
    await this.#until(this.#rounds);
    this.#parts.messages.stop();
    return told;
  }

  /** Lets fake time pass until the work is done; a daemon that has crashed is followed by another one. */
  async #until(work: Promise<unknown>): Promise<void> {
    let outcome: { error?: unknown } | null = null;
    work.then(
      () => {
        outcome = {};
      },
      (error) => {
        outcome = { error };
      },
    );
    for (let turn = 0; turn < 4_000; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.world.crashed_at !== null) this.#restart();
      const done = outcome as { error?: unknown } | null;
      if (done !== null) {
        if ('error' in done) throw done.error;
        return;
      }
      this.world.clock.advance(5);
    }
    throw new Error('the work did not come to an end');
  }

  /** The daemon is killed, if it has not crashed by itself, and another one is started. */
  #restart(): void {
    this.crashes += 1;
    this.#parts.messages.stop();
    this.#killed.resolve(KILLED);
    this.#killed = Promise.withResolvers();
    this.world.crashIn(null);
    this.#parts = this.#boot();
    const { daemon } = this.#parts;
    this.#rounds = Promise.race([daemon.round(), this.#killed.promise]).catch(crashedOnly);
  }

  get starts(): number {
    return this.world.machine.creates.length;
  }

  /** What workers were told by their start, and what as messages. */
  read(): { prompts: readonly string[]; messages: readonly string[] } {
    const { conversations } = this.world.app;
    const first = conversations.flatMap(({ messages }) => messages.filter(({ text }) => isLaunch(text)));
    const later = conversations.flatMap(({ messages }) => messages.filter(({ text }) => !isLaunch(text)));
    return {
      prompts: [...this.prompts, ...first.map(({ text }) => text)],
      messages: [...this.typed, ...later.map(({ text }) => text)],
    };
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
    const tell = async (how: () => Promise<{ receipt?: Receipt | undefined; given: boolean }>) => {
      const known = told.get(text) ?? { prompted: 0, receipts: [], refused: 0, unknown: 0 };
      told.set(text, known);
      try {
        const answer = await Promise.race([how(), this.#killed.promise]);
        if (answer === KILLED) known.unknown += 1;
        else if (answer.receipt !== undefined) known.receipts.push(answer.receipt);
        else if (answer.given) known.prompted += 1;
        else known.refused += 1;
      } catch (error) {
        const code = isCoded(error) ? error.code : null;
        if (code === null) crashedOnly(error);
        known[
          code === null || ['deadline_exceeded', 'outcome_unknown'].includes(code) ? 'unknown' : 'refused'
        ] += 1;
      }
    };
    const post = (path: string, id: string | null, body: object) =>
      tell(async () => {
        const row = this.#parts.rows.find((row) => row.path === `/api/v1${path}`)!;
        const headers = id === null ? {} : { 'idempotency-key': id };
        const reply = await row.handler({ body, headers, params: {}, query: {} } as unknown as RequestView);
        const json = ('json' in reply ? reply.json : {}) as { receipt?: Receipt; delivery?: object };
        return {
          given: reply.status === 200,
          ...(path === '/messages' ? { receipt: json as Receipt } : json),
          ...(path === '/meeting/join' && json.delivery),
        };
      });
    const byId = async (path: string, body: object, again_ms: number) => {
      const repeat = sleep(this.world.clock, again_ms).then(() => post(path, text, body));
      await Promise.all([post(path, text, body), repeat]);
    };
    switch (one.do) {
      case 'deliver': {
        const body = { fiber_id: FIBER, text, from: one.from, message_id: text };
        if (one.again !== null) await byId('/deliver', body, one.again);
        else await post('/deliver', null, body);
        return;
      }
      case 'dispatch': {
        const body = { fiber_id: FIBER, user_message: text, ...one.how };
        if (one.again !== null) await byId('/dispatch', body, one.again);
        else await post('/dispatch', null, body);
        return;
      }
      case 'join': {
        const body = { fiber_id: FIBER, note: text, meeting: { mode: 'phone' } };
        if (one.again !== null) await byId('/meeting/join', body, one.again);
        else await post('/meeting/join', null, body);
        return;
      }
      case 'send': {
        const { session_uuid = null, harness = 'claude' } = this.#parts.daemon.row(FIBER)?.runtime ?? {};
        if (session_uuid === null) return;
        const address = printAddress({ host: HOST, harness: harness as 'claude', native_id: session_uuid });
        await post('/messages', null, { address, text, from: 'ada', message_id: text, wake: true });
        return;
      }
      case 'capture':
        await tell(async () => {
          const { captures } = this.#parts.daemon.dispatcher.surfaces.cli;
          const answer = await captures.capture({
            ...{ prompt: text, project_dir: '/srv/dev', agent: AGENT.id, store: '/srv/store' },
            claim: { url: 'http://127.0.0.1:1/api/v1/claim', socket: null },
          });
          return { given: 'captured' in answer && answer.captured };
        });
        return;
      case 'claim': {
        const { captures, claims } = this.#parts.daemon.dispatcher.surfaces.cli;
        const captured = this.world.machine.living.find(
          ({ session }) => captures.bySession(session.name) !== undefined,
        );
        if (captured === undefined) return;
        await this.#quietly(claims.claim({ fiber_id: FIBER, mux_session: captured.session.name }));
        return;
      }
      case 'crash': {
        const before = this.#generation;
        this.world.crashIn(one.effect + 1);
        await sleep(this.world.clock, 25);
        if (this.#generation === before) this.#restart();
        return;
      }
      case 'kill':
        await this.#quietly(this.#parts.daemon.dispatcher.kills.kill(FIBER));
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
        await this.#quietly(this.#parts.verbs.lifecycle(asked as LifecycleRequest));
      }
    }
  }

  /** Whatever it comes to. */
  async #quietly(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#killed.promise]).catch((error) => {
      if (!isCoded(error)) crashedOnly(error);
    });
  }

  /** The work goes on where nobody waits for it any more. */
  #inTime<T>(work: Promise<T>): Promise<T> {
    const { deadline_ms } = this.#scenario;
    if (deadline_ms === null) return work;
    const error = new CodedError('deadline_exceeded', 'it takes too long');
    const patience = requestPatience();
    const late = sleep(this.world.clock, deadline_ms).then(() => {
      if (patience === undefined || patience.late === null) throw error;
      patience.late(error);
      return work;
    });
    return Promise.race([work, late]);
  }

  /** A worker reads its prompt as it starts, and its conversation grows by that. */
  #watchStarts(): void {
    const { machine, clock } = this.world;
    const create = machine.create.bind(machine);
    machine.create = (spec, started) =>
      create(spec, () => {
        const worker = machine.living.at(-1)!;
        const launch_id = basename(worker.run_dir);
        this.prompts.push(readFileSync(join(worker.run_dir, RUN_FILES.prompt), 'utf8'));
        this.#ready_at.set(worker.session.id, clock.now() + this.#scenario.ready_ms);
        const manifest = this.#parts.daemon.world.runDirectories.manifest(launch_id);
        const known = manifest.kind === 'found' ? manifest.value.session_uuid : null;
        const session = known ?? `learned-${launch_id}`;
        if (known === null) this.world.writesTranscript(launch_id, session);
        const before = this.world.conversations.get(session);
        this.world.writesConversation(session, { size: before?.kind === 'found' ? before.size + 10 : 100 });
        started();
      });
  }
}

/** What a worker is told by its start opens with the worker preamble (PRM-1). */
function isLaunch(text: string): boolean {
  return text.includes('Fiber:');
}

/** A store that nothing of a daemon that is gone reaches. */
function refusing<T extends object>(store: T, isGone: () => boolean): T {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (isGone()) throw new Gone();
        return value.apply(target, args);
      };
    },
  });
}
class Gone extends Error {}

/** What is thrown where a daemon was killed. */
function crashedOnly(error: unknown): void {
  if (!(error instanceof Gone) && (error as Error).constructor.name !== 'Crash') throw error;
}

/** A worker is started for nobody but whoever finds none, or has ended the one before. */
function mostStarts({ requests, runs_before }: Scenario): number {
  const ends = ({ do: what, ...how }: Request) =>
    ['kill', 'die', 'verb', 'capture', 'crash'].includes(what) || ('how' in how && how.how.force === true);
  return (runs_before ? 1 : 0) + 1 + requests.filter(([one]) => ends(one)).length;
}

/** What is wrong with what the workers read of a text, by what its writer was told. */
function faultOf(text: string, { prompted, receipts, refused, unknown }: Told, desk: Desk): string | null {
  const count = (texts: readonly string[]) => texts.filter((one) => one.includes(text)).length;
  const all = desk.read();
  const read = { prompt: count(all.prompts), message: count(all.messages) };
  const said = `${text} was told ${JSON.stringify({ prompted, receipts, refused, unknown })} and read ${JSON.stringify(read)}`;
  if (read.prompt + read.message > 1) return said;
  const stages = receipts.map((receipt) => desk.now(receipt));
  // What timed out is not known, unless a repeat was told; nor is what a daemon was giving as it was killed.
  if (unknown > 0 && prompted + receipts.length === 0) return null;
  if (desk.crashes > 0 && stages.some((now) => now?.status === 'unknown')) return null;
  const given = stages.filter((now) => now?.status !== 'rejected' && now?.transport !== 'held').length > 0;
  const isRight = prompted > 0 ? read.prompt === 1 : given === (read.message === 1) && read.prompt === 0;
  return isRight ? null : `${said}; its receipts came to ${JSON.stringify(stages)}`;
}

it(
  '[WPL-1] [WPL-10] [MSG-3] [MTG-2] reads each text that was told as taken once, and one that was told as refused never, whatever meets at one fiber',
  async () => {
    const met = { prompted: 0, receipts: 0, refused: 0, unknown: 0, crashes: 0 };
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
          met.crashes += desk.crashes;
        } finally {
          desk.dispose();
        }
      }),
      modelRuns(100),
    );
    for (const [what, times] of Object.entries(met)) expect(times, what).toBeGreaterThan(0);
  },
  MODEL_TIMEOUT_MS,
);
