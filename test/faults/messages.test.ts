import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { printAddress } from '../../src/contract/session-address.ts';
import { projectFolder } from '../../src/harness/claude/transcript.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon, HOST } from './bed.ts';
import { type Seeded, seeded } from './seeded.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000_000);
const WORKERS = 20;
const MESSAGES = Number(process.env.FAULT_MESSAGES ?? 1_000);
/** Messages on their way at the same time. */
const SENDERS = 60;
/** How long a daemon lives after it is ready, in milliseconds. */
const LIFE_MS = [500, 15_000] as const;
/** How long messages are sent: a session that takes none any more ends the run, and the messages for it are told. */
const SENDING_MS = 2 * 60_000 + MESSAGES * 400;
/** How long an agent on a busy machine may take to write down what it was given, in milliseconds. */
const LATE_MS = 20_000;

it(`[MSG-3] [MDS-1] [RCP-5] gives none of ${MESSAGES} messages to ${WORKERS} workers twice, and claims none that is not there, while the daemon is killed (FAULT_SEED=${SEED})`, {
  timeout: SENDING_MS + 5 * 60_000,
}, async () => {
  const random = seeded(SEED);
  const bed = new Bed({ env: { SVC_MESSAGE_OBSERVE_MS: '1000', SVC_LOG_LEVEL: 'info' } });
  onTestFinished(() => bed.dispose());
  for (let nth = 0; nth < WORKERS; nth += 1) await bed.fiber(slugOf(nth), { agent: 'composer' });
  const current = new CurrentDaemon(bed);
  await current.start();
  await current.daemon.post('/quarantine/release', {});
  const sessions = await sessionsOf(current.daemon);
  const letters = Array.from(
    { length: MESSAGES },
    (_, nth) => new Letter(bed, sessions[nth % WORKERS]!, nth),
  );

  let kills = 0;
  let sending = true;
  const until_ms = Date.now() + SENDING_MS;
  const killing = async () => {
    while (sending) {
      await delay(random.whole(...LIFE_MS));
      if (!sending) return;
      kills += 1;
      await current.replace(random.chance(0.3) ? random.whole(0, 1_000) : null);
    }
  };
  const send = async () => {
    try {
      await inParallel(letters, SENDERS, (letter) => letter.send(current, random, until_ms));
    } finally {
      sending = false;
    }
  };
  // Both are over before a fault is told: a daemon that is started later would outlive the test.
  const over = await Promise.allSettled([killing(), send()]);
  for (const end of over) if (end.status === 'rejected') throw end.reason;

  // The last daemon stays: every id answers, and every receipt comes to what the transcript holds.
  await inParallel(letters, SENDERS, (letter) => letter.settle(current));
  const faults = letters.flatMap((letter) => letter.faults());
  const ends = Object.groupBy(letters, ({ receipt }) => receipt?.status ?? 'none');
  const statuses = Object.fromEntries(Object.entries(ends).map(([status, some]) => [status, some.length]));
  console.log(JSON.stringify({ seed: SEED, kills, requests: current.requests, ...statuses }));
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(5);
  // A kill may leave what it cut off unknown, one for each worker at most; nearly everything arrives.
  expect(letters.filter((letter) => letter.timesGiven() === 1).length).toBeGreaterThan(MESSAGES * 0.9);
});

const slugOf = (nth: number) => `listener-${String(nth).padStart(2, '0')}`;

/** The daemon that lives now; a request that its death cut off says nothing. */
class CurrentDaemon {
  daemon!: Daemon;
  requests = 0;
  readonly #bed: Bed;

  constructor(bed: Bed) {
    this.#bed = bed;
  }

  async start(): Promise<void> {
    this.daemon = this.#bed.daemon();
    await this.daemon.ready();
  }

  /** Kills it and starts another one, which is killed while it starts if a time in milliseconds is given. */
  async replace(next_lives_ms: number | null): Promise<void> {
    await this.daemon.kill('SIGKILL');
    if (next_lives_ms !== null) {
      this.daemon = this.#bed.daemon();
      await delay(next_lives_ms);
      await this.daemon.kill('SIGKILL');
    }
    await this.start();
  }

  async send(body: object): Promise<Receipt | null> {
    this.requests += 1;
    try {
      const { status, json } = await this.daemon.post<Receipt>('/messages', body, 20_000);
      if (status !== 200 && !NOT_TAKEN.includes(status))
        throw new Refused(`${status} ${JSON.stringify(json)}`);
      return status === 200 ? json : null;
    } catch (error) {
      if (error instanceof Refused) throw error;
      await delay(100);
      return null;
    }
  }
}

/** Starting or busy; or the client got no processor to send the whole request in time. */
const NOT_TAKEN = [503, 408];

class Refused extends Error {}

/** One message, everything that was answered about it, and what its session's transcript holds of it. */
class Letter {
  receipt: Receipt | null = null;
  readonly #request: { address: string; text: string; from: string; message_id: string };
  readonly #transcript: string;
  readonly #faults: string[] = [];

  constructor(bed: Bed, session: string, nth: number) {
    this.#transcript = join(
      ...[bed.root, 'agent', 'projects', projectFolder(join(bed.root, 'project'))],
      `${session}.jsonl`,
    );
    this.#request = {
      address: printAddress({ host: HOST, harness: 'claude', native_id: session }),
      text: `Please do number ${nth}.\nAnd tell me.`,
      from: 'ada',
      message_id: `letter-${nth}`,
    };
  }

  /** Sends it, some of them twice at once, until a daemon has given it to its session or the time is over. */
  async send(current: CurrentDaemon, random: Seeded, until_ms: number): Promise<void> {
    while (Date.now() < until_ms) {
      const copies = random.chance(0.2) ? 2 : 1;
      const answers = await Promise.all(Array.from({ length: copies }, () => this.#ask(current)));
      if (answers.some((answer) => answer !== null && answer.transport !== 'held')) return;
      await delay(random.whole(200, 1_500));
    }
  }

  /**
   * Sends the same id again until its receipt and the transcript say the same; what neither tells may still be on its way
   * for a while.
   */
  async settle(current: CurrentDaemon): Promise<void> {
    let given_at: number | null = null;
    await until(
      `the end of ${this.#request.message_id}`,
      async () => {
        const receipt = await this.#ask(current);
        if (receipt === null || receipt.transport === 'held' || this.faults().length > 0) return false;
        given_at ??= performance.now();
        return this.timesGiven() > 0 || performance.now() - given_at > LATE_MS;
      },
      120_000,
    ).catch(() => this.#faults.push(`${this.#request.message_id}: no end, ${JSON.stringify(this.receipt)}`));
  }

  async #ask(current: CurrentDaemon): Promise<Receipt | null> {
    const receipt = await current.send(this.#request);
    if (receipt === null) return null;
    this.receipt = receipt;
    const { status, message_id } = receipt;
    const claims = status === 'submitted' || status === 'accepted';
    if (claims && this.timesGiven() === 0) this.#faults.push(`${message_id} was ${status} too early`);
    return receipt;
  }

  timesGiven(): number {
    const mark = `"content":"[message ${this.#request.message_id} (`;
    return readFileSync(this.#transcript, 'utf8').split(mark).length - 1;
  }

  /** What is wrong with it; a receipt without evidence is right as long as there is none. */
  faults(): string[] {
    const times = this.timesGiven();
    const status = this.receipt?.status ?? 'no receipt';
    const arrived = status === 'submitted' || status === 'accepted';
    const right = times === (arrived ? 1 : 0);
    return [...this.#faults, ...(right ? [] : [`${this.#request.message_id}: ${status}, ${times} times`])];
  }
}

/** The session of each worker, once all of them show their composer. */
async function sessionsOf(daemon: Daemon): Promise<string[]> {
  return until(
    'a session for every worker',
    async () => {
      const { json } = await daemon.get<{ fibers: FiberRow[] }>('/fibers');
      const found = json.fibers.flatMap(({ runtime }) => runtime?.session_uuid ?? []);
      return found.length === WORKERS ? found : null;
    },
    60_000,
  );
}

async function inParallel<T>(
  items: readonly T[],
  most: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items].reverse();
  const lane = async () => {
    try {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await run(item);
    } finally {
      left.length = 0;
    }
  };
  const over = await Promise.allSettled(Array.from({ length: most }, lane));
  for (const end of over) if (end.status === 'rejected') throw end.reason;
}
