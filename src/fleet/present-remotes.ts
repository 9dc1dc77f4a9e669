import { z } from 'zod';
import { type Clock, within } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { FleetRow } from '../contract/http/fleet.ts';
import { type Peers, peersSchema } from '../contract/http/peers.ts';
import type { RemoteState } from '../contract/http/state.ts';
import { addressFault, placeOf } from '../contract/remote-address.ts';
import { hostIn } from '../contract/session-address.ts';
import type { Remote } from '../contract/threads/fleet.ts';
import type { DiscoveredHost } from '../tailnet/tailnet.ts';
import { type Contacts, faultOf } from './contacts.ts';
import { type Place, readValue, unreadable } from './read-remote.ts';
import type { RemoteEntry } from './remotes-file.ts';

/** Most bytes of the list of sessions of a host. */
const MOST_PEERS_BYTES = 1024 * 1024;
/** Most bytes of the version and of the state of a host. */
const MOST_STATE_BYTES = 16 * 1024 * 1024;

const short = z.string().max(200);
/** The fields of `GET /version` that are shown; other builds may have more. */
const buildSchema = z.object({
  ...{ version: short, git_short_sha: short, booted_at: short, ready: z.boolean() },
  host_class: z.enum(['personal', 'exposed']),
});
/** The fields of `GET /state` that are used: the time there, and the workers, which are counted. */
const presentSchema = z.object({
  generated_at: z.number(),
  running: z.array(z.object({ phase: z.string() })),
});

/** Requests to all remotes at once, made when somebody asks for the result. Only whether they answered is kept. */
export class PresentRemotes {
  readonly #host: string;
  readonly #remotes: () => readonly Remote[];
  readonly #entries: () => readonly RemoteEntry[];
  readonly #discovered: () => readonly DiscoveredHost[];
  readonly #contacts: Contacts;
  readonly #standings: () => readonly RemoteState[];
  readonly #deadline_ms: number;
  readonly #clock: Clock;

  constructor(options: {
    /** This host. */
    host: string;
    /** The configured remotes as of now, without this host, and what their file says of them. */
    remotes(): readonly Remote[];
    entries(): readonly RemoteEntry[];
    /** The daemons that were found in the private network. */
    discovered(): readonly DiscoveredHost[];
    contacts: Contacts;
    /** How fresh the copies of their feeds are. */
    standings(): readonly RemoteState[];
    /** Timeout for each remote, in milliseconds. */
    answer_ms: number;
    clock: Clock;
  }) {
    this.#host = options.host;
    this.#remotes = options.remotes;
    this.#entries = options.entries;
    this.#discovered = options.discovered;
    this.#contacts = options.contacts;
    this.#standings = options.standings;
    this.#deadline_ms = options.answer_ms;
    this.#clock = options.clock;
  }

  /** The sessions of all remotes; what cannot be listed in time is a gap (RPL-15). Never rejects. */
  async peers(): Promise<Omit<Peers, 'host'>> {
    const told = await Promise.all(
      this.#remotes().map(async ({ name, address, problem }) => {
        if (address === null) return gapOf(name, addressFault(name, problem));
        const asking = this.#contacts.ask(name, () => this.#peersOf({ name, address }));
        // What comes in time may still have to be read, after the answers of others.
        if (!(await within(this.#clock, this.#deadline_ms, asking))) return gapOf(name, this.#late(name));
        return asking.catch((error: unknown) => gapOf(name, faultOf(error)));
      }),
    );
    return {
      sessions: told.flatMap(({ sessions }) => sessions),
      gaps: told.flatMap(({ gaps }) => gaps),
    };
  }

  /**
   * How all remotes are now, and behind them the daemons of the private network that are none, as they were found last
   * (RPL-9). Never rejects.
   */
  async rows(): Promise<FleetRow[]> {
    const remotes = this.#remotes();
    const entries = new Map(this.#entries().map((entry) => [entry.name, entry]));
    this.#contacts.keepOnly(remotes.map(({ name }) => name));
    const found = await Promise.all(remotes.map((remote) => this.#row(remote, entries.get(remote.name))));
    const feeds = new Map(this.#standings().map((standing) => [standing.name, standing]));
    const rows = found.map((row) => withFeed(row, feedOf(feeds.get(row.name))));
    const names = new Set(remotes.map(({ name }) => name));
    const others = this.#discovered().filter(({ told }) => !names.has(told.host));
    return [...rows, ...others.map(discoveredRow)];
  }

  async #row(
    { name, address, problem }: Remote,
    entry: RemoteEntry | undefined,
  ): Promise<Omit<FleetRow, 'feed'>> {
    const { display, ssh }: Record<string, unknown> = entry ?? {};
    const head = {
      name,
      display: typeof display === 'string' ? display : null,
      source: 'file',
      address: address === null ? null : placeOf(address),
      ssh: typeof ssh === 'string' ? ssh : null,
    } as const;
    const unknown = { build: null, host_class: null, clock_ahead_ms: null, workers: null };
    if (address === null) {
      const reach = this.#contacts.note(name, 'no_address', addressFault(name, problem));
      return { ...head, reach, ...unknown };
    }
    const to = { name, address };
    const asked_at = this.#clock.now();
    const [version, present] = await Promise.allSettled([
      this.#read(to, '/version', buildSchema),
      this.#read(to, '/state', presentSchema),
    ]);
    if (version.status === 'rejected')
      return { ...head, reach: this.#contacts.note(name, 'no_answer', faultOf(version.reason)), ...unknown };
    const { host_class, ...build } = version.value;
    const reach = this.#contacts.note(name, 'answers', null);
    // It reports no state while it starts.
    if (present.status === 'rejected') return { ...head, reach, ...unknown, build, host_class };
    const { generated_at, running } = present.value;
    const clock_ahead_ms = aheadOf(generated_at, asked_at, this.#clock.now());
    return { ...head, reach, build, host_class, clock_ahead_ms, workers: countOf(running) };
  }

  #late(name: string): CodedError {
    const seconds = this.#deadline_ms / 1_000;
    return new CodedError('deadline_exceeded', `${name} did not answer within ${seconds} s.`);
  }

  async #peersOf(to: Place): Promise<Omit<Peers, 'host'>> {
    const { host, sessions, gaps } = await this.#read(to, '/peers?local=true', peersSchema, MOST_PEERS_BYTES);
    const isOfAnother = host !== to.name || sessions.some(({ address }) => hostIn(address) !== to.name);
    if (isOfAnother) throw unreadable(to, 'its sessions have addresses of another host');
    return { sessions, gaps: gaps.filter((gap) => gap.host === to.name) };
  }

  #read<S extends z.ZodObject>(
    to: Place,
    path: string,
    schema: S,
    most_bytes = MOST_STATE_BYTES,
  ): Promise<z.output<S>> {
    return readValue(this.#host, to, path, { schema, most_bytes, deadline_ms: this.#deadline_ms });
  }
}

/** It gets no other request until it is a remote. */
function discoveredRow({ told, url, seen_at }: DiscoveredHost): FleetRow {
  const { host: name, host_class, ...build } = told;
  return {
    ...{ name, display: null, source: 'discovered', address: placeOf({ url }), ssh: null },
    reach: { state: 'answers', since: seen_at, last_ok_at: seen_at, error: null },
    ...{ build, host_class, clock_ahead_ms: null, workers: null, feed: null },
  };
}

/** How far a time that was told between two others is ahead of both; negative where it is behind them. */
function aheadOf(told: number, from: number, to: number): number {
  return Math.round(told - Math.min(Math.max(told, from), to));
}

function feedOf(standing: RemoteState | undefined): FleetRow['feed'] {
  if (standing === undefined) return null;
  const { state, last_ok_at, error } = standing;
  return { state, last_ok_at, error };
}

/** The feed of a host is an answer of it too. */
function withFeed(row: Omit<FleetRow, 'feed'>, feed: FleetRow['feed']): FleetRow {
  const times = [row.reach.last_ok_at, feed?.last_ok_at ?? null].filter((time) => time !== null);
  const last_ok_at = times.length === 0 ? null : Math.max(...times);
  return { ...row, reach: { ...row.reach, last_ok_at }, feed };
}

/** Whoever waits for a person, or whose turn failed, needs one. */
function countOf(running: readonly { phase: string }[]): { running: number; needs_you: number } {
  const needs_you = running.filter(({ phase }) => phase === 'waiting' || phase === 'attention').length;
  return { running: running.length, needs_you };
}

function gapOf(host: string, { code, message }: { code: string; message: string }): Omit<Peers, 'host'> {
  return { sessions: [], gaps: [{ host, error: code, message }] };
}
