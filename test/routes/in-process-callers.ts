import { valueSymbol } from 'piscina';
import type { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import type { LentBytes } from '../../src/base/lent-bytes.ts';
import { audioCalls, audioEvents, audioHears } from '../../src/contract/threads/audio.ts';
import type { CallTable } from '../../src/contract/threads/call-table.ts';
import { fleetCalls, fleetEvents } from '../../src/contract/threads/fleet.ts';
import { ledgersCalls, ledgersEvents } from '../../src/contract/threads/ledgers.ts';
import { messagesCalls } from '../../src/contract/threads/messages.ts';
import { type FeedNotice, pollerCalls, pollerEvents } from '../../src/contract/threads/poller.ts';
import { poolJobs } from '../../src/contract/threads/pool.ts';
import { createFileReader } from '../../src/platform/file-reader.ts';
import type { Caller, Callers, Pool } from '../../src/routes/callers.ts';
import { bulkBuffer } from '../../src/threads/bulk.ts';
import { decodeFrame, encodeFrame } from '../../src/threads/frame.ts';
import type { JobPacket } from '../../src/threads/pool-entry.ts';
import runJob from '../../workers/pool.ts';
import { answeringDisks } from '../kit/answering-disks.ts';

type Answer = (input: never) => unknown;

/** A component in the test's own process: answers by call name, parsed with the real call table both ways. */
class InProcessComponent<C extends CallTable> implements Caller<C> {
  /** What each call answers; `exchange` answers are `{value, bulk, parts}`. A call without one is unavailable. */
  answers: { [N in keyof C]?: Answer } = {};
  /** Every call so far, oldest first. */
  asked: { name: string; input: unknown }[] = [];
  /** The bytes that came with each `exchange` so far. */
  bulks: (Uint8Array | null)[] = [];
  up = true;
  #name: string;
  #calls: C;

  constructor(name: string, calls: C) {
    this.#name = name;
    this.#calls = calls;
  }

  async call<N extends keyof C & string>(name: N, input: unknown): Promise<never> {
    const value = await this.#answer(name, input);
    return this.#calls[name]!.output.parse(value) as never;
  }

  async exchange<N extends keyof C & string>(
    name: N,
    input: unknown,
    sent: Uint8Array | null = null,
  ): Promise<{ value: never; bulk: Uint8Array | null; parts: LentBytes[] }> {
    this.bulks.push(sent);
    const answer = (await this.#answer(name, input)) as { value: unknown; bulk: Uint8Array | null };
    return { parts: [], ...answer, value: this.#calls[name]!.output.parse(answer.value) as never };
  }

  async #answer(name: string, input: unknown): Promise<unknown> {
    const parsed = this.#calls[name]!.input.parse(input);
    this.asked.push({ name, input: parsed });
    const answer = this.answers[name];
    if (!this.up || answer === undefined) {
      throw new CodedError(
        'component_unavailable',
        `the ${this.#name} is starting again; ask again in a moment`,
        {
          details: { component: this.#name },
        },
      );
    }
    return answer(parsed as never);
  }
}

type FeedChanged = (payload: z.output<typeof pollerEvents.feed_changed>, bulk: Uint8Array | null) => void;

/** The poller, which also gives notice of its feed. */
export class InProcessPoller extends InProcessComponent<typeof pollerCalls> {
  #hearers: FeedChanged[] = [];
  /** What is kept of writes by their ids; it outlives the routes, as it does a daemon. */
  readonly kept = new Map<string, { content: string; answer: unknown }>();

  constructor() {
    super('poller', pollerCalls);
    this.answers = {
      begin_write: ({ id, content }: { id: string; content: string }) => {
        const kept = this.kept.get(id) ?? null;
        if (kept === null) this.kept.set(id, { content, answer: null });
        return { kept };
      },
      end_write: ({ id, answer }: { id: string; answer: unknown }) => {
        if (answer === null) this.kept.delete(id);
        else this.kept.set(id, { ...this.kept.get(id)!, answer });
        return {};
      },
    };
  }

  onEvent<N extends keyof typeof pollerEvents>(
    event: N,
    hear: (payload: z.output<(typeof pollerEvents)[N]>, bulk: Uint8Array | null) => void,
  ): void {
    if (event === 'feed_changed') this.#hearers.push(hear as FeedChanged);
  }

  /** Says that the feed has new tags, and not what changed. */
  notify(all: string | null, svc: string | null = all): void {
    this.notice({
      value: {
        since: { all: null, svc: null },
        etags: { all, svc },
        state: all === null ? 'cold' : 'fresh',
        generated_at: { all: 0, svc: 0 },
        changes: null,
      },
      bytes: null,
    });
  }

  /** Says what changed in the feed. */
  notice({ value, bytes }: { value: FeedNotice; bytes: Uint8Array | null }): void {
    for (const hear of this.#hearers) hear(pollerEvents.feed_changed.parse(value), bytes);
  }
}

/** The jobs of the pool, each run by the very function that a pool thread runs, in this thread. */
class InProcessPool implements Pool {
  /** Names of the jobs so far, oldest first. */
  jobs: string[] = [];
  /** Runs before each job. */
  before: (job: string, signal?: AbortSignal) => void | Promise<void> = () => {};

  run: Pool['run'] = async (job, input, options = {}) => {
    this.jobs.push(job);
    await this.before(job, options.signal);
    const { bulk = null } = options;
    const frame = encodeFrame({ kind: 'call', id: 1, name: job, input });
    const moved = await runJob({ frame, bulk: bulk === null ? null : bulkBuffer(bulk) });
    const packet = (moved as Record<symbol, JobPacket>)[valueSymbol]!;
    const answer = decodeFrame(packet.frame);
    if (answer.kind === 'error')
      throw new CodedError(answer.code, answer.message, { details: answer.details });
    if (answer.kind !== 'reply') throw new Error(`a job was answered with ${answer.kind}`);
    const value = poolJobs[job].output.parse(answer.value) as never;
    return { value, bulk: packet.bulk === null ? null : new Uint8Array(packet.bulk) };
  };
}

type LedgersChanged = z.output<typeof ledgersEvents.ledgers_changed>;

/** The ledgers thread, which also gives notice of its files. */
class InProcessLedgers extends InProcessComponent<typeof ledgersCalls> {
  #hearers: ((stamps: LedgersChanged) => void)[] = [];

  constructor() {
    super('ledgers', ledgersCalls);
  }

  onEvent<N extends keyof typeof ledgersEvents>(
    _event: N,
    hear: (payload: z.output<(typeof ledgersEvents)[N]>, bulk: null) => void,
  ): void {
    this.#hearers.push(hear as (stamps: LedgersChanged) => void);
  }

  /** Says that the files are others now. */
  notify(stamps: LedgersChanged): void {
    for (const hear of this.#hearers) hear(ledgersEvents.ledgers_changed.parse(stamps));
  }
}

export type InProcessCallers = Callers & {
  poller: InProcessPoller;
  ledgers: InProcessLedgers;
  fleet: InProcessFleet;
  audio: InProcessAudio;
  messages: InProcessComponent<typeof messagesCalls>;
  pool: InProcessPool;
};

/** The audio component, which also takes and gives notices. */
export class InProcessAudio extends InProcessComponent<typeof audioCalls> {
  readonly #hearers: { event: string; hear: (payload: never, bulk: null) => void }[] = [];
  /** The notices that it was given, oldest first. */
  readonly heard: { event: string; payload: unknown; bulk: Uint8Array | null }[] = [];
  /** It takes no notice now. */
  refuses = false;

  constructor() {
    super('audio', audioCalls);
  }

  onEvent<N extends keyof typeof audioEvents>(
    event: N,
    hear: (payload: z.output<(typeof audioEvents)[N]>, bulk: null) => void,
  ): void {
    this.#hearers.push({ event, hear });
  }

  notify<N extends keyof typeof audioHears & string>(
    event: N,
    payload: z.input<(typeof audioHears)[N]>,
    bulk: Uint8Array | null = null,
  ): boolean {
    if (this.refuses) return false;
    this.heard.push({ event, payload: audioHears[event].parse(payload), bulk });
    return true;
  }

  /** Says something to the main thread. */
  tell<N extends keyof typeof audioEvents>(event: N, payload: z.input<(typeof audioEvents)[N]>): void {
    for (const one of this.#hearers)
      if (one.event === event) one.hear(audioEvents[event].parse(payload) as never, null);
  }
}

/** The fleet, which also gives notice of its remotes and of the copies of their feeds. */
export class InProcessFleet extends InProcessComponent<typeof fleetCalls> {
  readonly #hearers: { event: string; hear: (payload: never, bulk: null) => void }[] = [];

  constructor() {
    super('fleet', fleetCalls);
  }

  onEvent<N extends keyof typeof fleetEvents>(
    event: N,
    hear: (payload: z.output<(typeof fleetEvents)[N]>, bulk: null) => void,
  ): void {
    this.#hearers.push({ event, hear });
  }

  /** Says which remotes are configured, by name, and where each answers. */
  publish(remotes: Readonly<Record<string, string>>): void {
    const all = Object.entries(remotes).map(([name, url]) => ({ name, address: { url }, problem: null }));
    this.#tell('remotes_changed', { remotes: all });
  }

  /** Says which of them answer nobody now. */
  silence(silent: z.input<typeof fleetEvents.silent_changed>['silent']): void {
    this.#tell('silent_changed', { silent });
  }

  /** Says that the copies of their feeds have this tag now. */
  notify(tag: string | null): void {
    this.#tell('feeds_changed', { tag });
  }

  #tell<N extends keyof typeof fleetEvents>(event: N, payload: z.input<(typeof fleetEvents)[N]>): void {
    for (const one of this.#hearers)
      if (one.event === event) one.hear(fleetEvents[event].parse(payload) as never, null);
  }
}

export function createInProcessCallers(): InProcessCallers {
  return {
    poller: new InProcessPoller(),
    ledgers: new InProcessLedgers(),
    fleet: new InProcessFleet(),
    audio: new InProcessAudio(),
    messages: Object.assign(new InProcessComponent('messages', messagesCalls), {
      answers: { texts: () => ({ messages: [] }) },
    }),
    pool: new InProcessPool(),
    files: createFileReader(systemClock, answeringDisks),
  };
}
