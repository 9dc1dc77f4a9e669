import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { FiberReply } from '../../src/contract/http/fibers.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import type { Answer, Json } from '../kit/http.ts';
import { until } from '../kit/until.ts';
import type { Fleet, Listener, Remote } from './fleet.ts';

/** Between two writes of one hand, in milliseconds. */
const PAUSE_MS = 150;
/** Hands that make fibers at one remote at the same time. */
const CREATORS = 2;
/** One message of so many is sent twice at the same time. */
const TWICE_OF = 4;
/** Messages that are brought to their end at the same time. */
const SETTLERS = 8;
/** How long a message may take to its end once all is well again. */
const SETTLE_MS = 15_000;
/** What a kill cuts off may stay unknown; nearly everything arrives. */
const LEAST_ARRIVED = 0.9;

/** What was said of one write. `unsaid`: whoever was asked died, so that nobody could say. */
type Told = 'done' | 'not_done' | 'maybe' | 'unsaid';

/**
 * Writes to the remotes through the hub all the time: makes fibers, appends lines to a document, and sends messages, each of
 * them again with the same id until its receipt says that it was given. Afterwards `faults` tells what was lost or doubled.
 */
export class Writes {
  readonly #fleet: Fleet;
  readonly #run = Math.random().toString(36).slice(2, 8);
  readonly #hands: Promise<void>[] = [];
  readonly #made: { remote: Remote; slug: string; told: Told }[] = [];
  readonly #lines: { remote: Remote; line: string; told: Told }[] = [];
  readonly #letters: Letter[] = [];
  readonly #faults: string[] = [];
  #going = true;

  private constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** For the test that runs; it goes on until `faults` is asked for, or the test has failed. */
  static async begin(fleet: Fleet): Promise<Writes> {
    const writes = new Writes(fleet);
    onTestFinished(() => {
      writes.#going = false;
    });
    for (const remote of fleet.remotes) {
      const listeners = await remote.listeners();
      for (let hand = 0; hand < CREATORS; hand += 1)
        writes.#hand((nth) => writes.#make(remote, `${hand}-${nth}`));
      writes.#hand((nth) => writes.#append(remote, nth));
      for (const listener of listeners) writes.#hand((nth) => writes.#send(remote, listener, nth));
    }
    return writes;
  }

  /** Resolves once so many further writes to a remote were told so. */
  async further(remote: Remote, told: Told, count: number, most_ms?: number): Promise<void> {
    const all = () =>
      [...this.#made, ...this.#lines].filter((one) => one.remote === remote && one.told === told).length;
    const from = all();
    await until(`${count} writes to ${remote.name} being ${told}`, () => all() >= from + count, most_ms);
  }

  /** Ends the writing, sends each message until it has arrived, and tells what is wrong at the owners then. */
  async faults(): Promise<string[]> {
    this.#going = false;
    await Promise.all(this.#hands);
    const left = [...this.#letters];
    const settle = async () => {
      for (let letter = left.pop(); letter !== undefined; letter = left.pop())
        await letter.settle((body) => this.#message(body));
    };
    await Promise.all(Array.from({ length: SETTLERS }, settle));
    const present = new Map<Remote, { slugs: string[]; notes: string[] }>();
    for (const remote of this.#fleet.remotes) {
      const slugs = (await remote.daemon.fibers()).map(({ id }) => id);
      present.set(remote, { slugs, notes: remote.daemon.home.document('notes').split('\n') });
    }
    const wrong = (what: string, told: Told, times: number) => {
      const right = told === 'done' ? times === 1 : told === 'not_done' ? times === 0 : times <= 1;
      return right ? [] : [`${what} was told as ${told} and is there ${times} times`];
    };
    const times = (all: readonly string[], one: string) => all.filter((other) => other === one).length;
    const arrived = this.#letters.filter((letter) => letter.arrived).length;
    console.log(JSON.stringify(this.#figures()));
    return [
      ...this.#faults,
      ...this.#made.flatMap(({ remote, slug, told }) =>
        wrong(`${slug} at ${remote.name}`, told, times(present.get(remote)!.slugs, slug)),
      ),
      ...this.#lines.flatMap(({ remote, line, told }) =>
        wrong(`"${line}" at ${remote.name}`, told, times(present.get(remote)!.notes, line)),
      ),
      ...this.#letters.flatMap((letter) => letter.faults()),
      ...(arrived < this.#letters.length * LEAST_ARRIVED ? [`only ${arrived} messages arrived`] : []),
    ];
  }

  /** How many writes of each kind were told what, and how often messages were sent. */
  #figures(): object {
    const count = (told: readonly string[]) => {
      const groups = Object.groupBy(told, (one) => one);
      return Object.fromEntries(Object.entries(groups).map(([key, some]) => [key, some!.length]));
    };
    return {
      made: count(this.#made.map(({ told }) => told)),
      lines: count(this.#lines.map(({ told }) => told)),
      messages: count(this.#letters.map(({ receipt }) => receipt?.status ?? 'none')),
      sent: this.#letters.reduce((sum, { asked }) => sum + asked, 0),
    };
  }

  /** Does one thing after the other until the end. */
  #hand(write: (nth: number) => Promise<void>): void {
    const work = async () => {
      for (let nth = 0; this.#going; nth += 1) {
        await write(nth);
        await delay(PAUSE_MS);
      }
    };
    this.#hands.push(work());
  }

  async #make(remote: Remote, nth: string): Promise<void> {
    const slug = `made-${this.#run}-${nth}`;
    const told = await this.#write('/fiber/create', {
      name: slug,
      slug,
      status: 'open',
      origin: remote.name,
    });
    this.#made.push({ remote, slug, told });
  }

  /** Appends a line to what the document is now, and to nothing else. */
  async #append(remote: Remote, nth: number): Promise<void> {
    const read = await this.#fleet.hub.http
      .get<FiberReply>(`/fibers/notes?origin=${remote.name}`)
      .catch(() => null);
    if (read?.status !== 200) return;
    const { body = '', digest } = read.body.fiber;
    const line = `line-${this.#run}-${nth}`;
    const request = {
      fiber_id: 'notes',
      body: `${body}${line}\n`,
      expected_digest: digest,
      origin: remote.name,
    };
    this.#lines.push({ remote, line, told: await this.#write('/fiber-edit', request) });
  }

  async #send(remote: Remote, listener: Listener, nth: number): Promise<void> {
    const letter = new Letter(
      listener,
      `${this.#run}-${this.#letters.length}`,
      `Do number ${nth} at ${remote.name}.`,
    );
    this.#letters.push(letter);
    const ask = () => letter.ask((body) => this.#message(body));
    while (this.#going && !letter.isGiven) {
      await Promise.all(nth % TWICE_OF === 0 ? [ask(), ask()] : [ask()]);
      await delay(PAUSE_MS);
    }
  }

  async #write(path: string, body: Json): Promise<Told> {
    const answer = await this.#fleet.patient.post(path, body).catch(() => null);
    if (answer === null) return 'unsaid';
    if (answer.status === 200 || answer.status === 201) return 'done';
    const told = failureOf(answer);
    if (told === null) this.#faults.push(`${path} was answered ${answer.status} ${answer.text}`);
    return told ?? 'unsaid';
  }

  async #message(body: object): Promise<Receipt | null> {
    const answer = await this.#fleet.patient.post<Receipt & Json>('/messages', body).catch(() => null);
    if (answer?.status === 200) return answer.body;
    if (answer !== null && failureOf(answer) === null)
      this.#faults.push(`/messages was answered ${answer.status} ${answer.text}`);
    return null;
  }
}

/** Codes that say that nothing was done: by the hub, by an owner that starts, and of a document that has changed. */
const REFUSALS = ['queue_full', 'component_unavailable', 'booting', 'digest_mismatch'];

/** What a refusal says of its write; null where it does not say it clearly. */
function failureOf({ status, body, text }: Answer): Told | null {
  if (REFUSALS.includes(String(body?.error)) || text.includes('Nothing was sent')) return 'not_done';
  if ((status === 503 || status === 504) && text.includes('It may have taken effect')) return 'maybe';
  return null;
}

/** One message, and what the transcript of its session holds of it. */
class Letter {
  receipt: Receipt | null = null;
  asked = 0;
  readonly #request: { address: string; text: string; from: string; message_id: string };
  readonly #transcript: string;
  readonly #faults: string[] = [];

  constructor({ address, transcript }: Listener, message_id: string, text: string) {
    this.#request = { address, text, from: 'ada', message_id };
    this.#transcript = transcript;
  }

  get isGiven(): boolean {
    return this.receipt !== null && this.receipt.transport !== 'held';
  }

  async ask(send: (body: object) => Promise<Receipt | null>): Promise<void> {
    this.asked += 1;
    this.receipt = (await send(this.#request)) ?? this.receipt;
    if (this.arrived && this.#times() === 0)
      this.#faults.push(`${this.#request.message_id} was ${this.receipt?.status} too early`);
  }

  /** Sends the same id again until its receipt says that the session has it. */
  async settle(send: (body: object) => Promise<Receipt | null>): Promise<void> {
    const ended = async () => {
      await this.ask(send);
      return this.arrived;
    };
    await until(this.#request.message_id, ended, SETTLE_MS).catch(() => undefined);
  }

  get arrived(): boolean {
    const status = this.receipt?.status;
    return status === 'submitted' || status === 'accepted';
  }

  /** What is wrong with it: one that is unknown may have been given, and none more than once. */
  faults(): string[] {
    const times = this.#times();
    const status = this.receipt?.status ?? 'none';
    const right = this.arrived ? times === 1 : status === 'unknown' ? times <= 1 : times === 0;
    return [...this.#faults, ...(right ? [] : [`${this.#request.message_id}: ${status}, ${times} times`])];
  }

  #times(): number {
    const mark = `"content":"[message ${this.#request.message_id} (`;
    return readFileSync(this.#transcript, 'utf8').split(mark).length - 1;
  }
}
