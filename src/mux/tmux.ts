import { type Clock, sleep } from '../base/clock.ts';
import { isCoded, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { Mutex } from '../base/mutex.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { createProcessFacts, isEndedState, isRealPid, type ProcessFacts } from '../platform/process-facts.ts';
import {
  capturePane,
  keepEmptyServer,
  killById,
  killGuarded,
  killStartedWith,
  listClients,
  listPanes,
  listSessions,
  NO_SESSION,
  NOT_THAT_SESSION,
  newSession,
  ownSession,
  renameGuarded,
  sessionPanes,
  showHooks,
  type TmuxCommand,
} from './command.ts';
import { ControlClient, type ControlReply } from './control-client.ts';
import { type ControlPolicy, mayAttach } from './control-safety.ts';
import type {
  Created,
  CreateSession,
  Mux,
  MuxListing,
  MuxScreen,
  MuxSession,
  PaneAddress,
  PaneFolder,
  ScreenMark,
} from './mux.ts';
import { sessionsOf } from './mux-listing.ts';
import { CONTROL_FLAGS, daemonClientPids, endOrphans } from './orphaned-clients.ts';
import { PaneWatch } from './pane-watch.ts';
import { type AskTmux, readScreen } from './screen-reader.ts';
import { parsePanes, parseSessionPanes, type ServerAnswer } from './server-answer.ts';
import { ANCHOR_COMMAND, anchorCommands } from './server-start.ts';
import { ANCHOR_SESSION, isEscaped, isSessionName } from './session-name.ts';
import { SharedListings } from './shared-listings.ts';
import { startByTerminal, type TerminalStart } from './start-by-terminal.ts';
import { exitsUnattached, type ServerStarted, startServer } from './start-server.ts';
import { TmuxClient } from './tmux-client.ts';

export type TmuxOptions = {
  /** Path of the tmux executable (3.2 or later). */
  tmux: string;
  /** Path of a private socket (under 100 bytes), or null for the user's own server. */
  socket: string | null;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  clock: Clock;
  logger: Logger;
  /** `auto`: a server started from inside a systemd unit gets its own scope. */
  scope?: 'auto' | 'never';
  platform?: NodeJS.Platform;
  /** Starts a missing server instead of us; required on macOS, where only the terminal emulator may [MUX-1]. */
  startServer?: () => Promise<ServerStarted>;
  /** Asks the user's terminal emulator to start a program; default: the kitty of this user. */
  openTerminal?: TerminalStart['openTerminal'];
  /** Timeout for one answer of tmux, in milliseconds. */
  deadline_ms?: number;
  /** Whether to keep a control client attached; default `auto`. */
  control?: ControlPolicy;
};

const SIZE = { columns: 200, rows: 50 };
const DEBOUNCE_MS = 20;
const MOST_LISTINGS = 4;
/** How often to poll the kernel for ended sessions while no control client reports them. */
const WATCH_MS = 100;
/** The interval on systems where each check runs `ps`. */
const SLOW_WATCH_MS = 2_000;
const RECONNECT = { first: 200, most: 5_000 };

/**
 * tmux as the multiplexer. `list` reports a session as missing only after a second listing confirms it. A server is
 * `absent` only when tmux says so and no sign of a living one exists; everything else is `unknown`.
 */
export function createTmux(options: TmuxOptions): Mux & { control: ControlClient } {
  return new Tmux(options);
}

class Tmux implements Mux {
  readonly control: ControlClient;
  readonly #options: TmuxOptions;
  readonly #client: TmuxClient;
  readonly #facts: ProcessFacts;
  readonly #platform: NodeJS.Platform;
  readonly #startServer: () => Promise<ServerStarted>;
  readonly #starting = new Mutex();
  /** Mutual exclusion of connecting a control client and changing sessions by runs of tmux. */
  readonly #changing = new Mutex();
  readonly #watch: PaneWatch;
  /** Each is one listing, not yet confirmed. */
  readonly #listings = new SharedListings(() => this.#listNow());
  readonly #listeners = new Set<() => void>();
  #cancelDebounce: (() => void) | null = null;
  /** Sessions of the last listing by `id name`; null before the first one. */
  #known: Set<string> | null = null;
  /** The server that has been set to keep running without sessions [MUX-3]. */
  #kept_pid: number | null = null;
  /** As the last listing told: the server ends with its last client. */
  #exits_unattached = false;
  #looked_for_orphans = false;
  #stopped = false;

  constructor(options: TmuxOptions) {
    this.#options = options;
    this.#platform = options.platform ?? process.platform;
    const deadline_ms = options.deadline_ms ?? 5_000;
    this.#facts = createProcessFacts({ platform: this.#platform, runner: options.runner });
    this.#client = new TmuxClient({
      tmux: options.tmux,
      socket: options.socket,
      env: options.env,
      runner: options.runner,
      clock: options.clock,
      facts: this.#facts,
      platform: this.#platform,
      deadline_ms,
    });
    this.#startServer =
      options.startServer ??
      (() =>
        this.#platform === 'darwin' && options.socket === null
          ? startByTerminal({ ...options, deadline_ms })
          : startServer({ ...options, platform: this.#platform, deadline_ms, anchor: anchorCommands(SIZE) }));
    this.#watch = new PaneWatch({
      clock: options.clock,
      facts: this.#facts,
      every_ms: this.#platform === 'linux' ? WATCH_MS : SLOW_WATCH_MS,
      needed: () => this.#listeners.size > 0 && !this.control.attached,
      onEnd: () => this.#changed(),
    });
    this.control = new ControlClient({
      alone: (attempt) => this.#changing.run(attempt),
      prepare: () => this.#ensureAnchor(),
      spawn: () =>
        options.runner.spawnPiped({
          file: options.tmux,
          args: [
            ...this.#client.prefix,
            '-C',
            'attach-session',
            '-f',
            CONTROL_FLAGS.join(','),
            '-t',
            `=${ANCHOR_SESSION}`,
          ],
          env: controlEnvironment(options.env),
        }),
      clock: options.clock,
      logger: options.logger,
      deadline_ms,
      backoff: RECONNECT,
      onChange: () => this.#changed(),
    });
  }

  async list(): Promise<MuxListing> {
    let last = await this.#listings.list();
    if (!this.#needsConfirmation(last)) return this.#remember(last);
    for (let listings = 1; listings < MOST_LISTINGS; listings += 1) {
      if (last.kind === 'unknown') return last;
      if (last.kind === 'absent') await sleep(this.#options.clock, DEBOUNCE_MS);
      const next = await this.#listings.list();
      if (next.kind === 'unknown') return next;
      if (misses(next, last)) last = next;
      else return this.#remember(next);
    }
    return { kind: 'unknown', detail: 'the list of sessions kept changing' };
  }

  async create(spec: CreateSession): Promise<Created> {
    const refused = (detail: string): Created => ({ kind: 'failed', code: 'mux_unavailable', detail });
    if (this.#stopped) return refused('the multiplexer is being stopped');
    if (!isSessionName(spec.name))
      return refused(`${JSON.stringify(spec.name)} is no name that a session keeps`);
    let commands: TmuxCommand[];
    try {
      commands = newSession({ ...SIZE, ...spec });
    } catch (error) {
      return refused(messageOf(error));
    }
    const server = await this.#starting.run(() => this.#ensureServer());
    if (server.kind === 'failed') return server;

    const asked_at = this.#options.clock.now();
    const answer = await this.#ask(() => commands);
    if (answer.kind === 'refused') {
      if (answer.message.startsWith('duplicate session')) return { kind: 'duplicate' };
      return refused(answer.message);
    }
    return this.#verify(spec.name, madeId(answer), asked_at);
  }

  async kill(target: { id: string; name: string }): Promise<'killed' | 'gone' | 'unknown'> {
    if (!isSessionName(target.name) || target.name === ANCHOR_SESSION) return 'unknown';
    const answer = await this.#ask(() => [killGuarded(target)]);
    if (answer.kind === 'done') return answer.text.trim() === NOT_THAT_SESSION ? 'gone' : 'killed';
    return answer.kind === 'no_server' ? 'gone' : 'unknown';
  }

  async rename(target: { id: string; name: string }, name: string): Promise<'renamed' | 'gone' | 'unknown'> {
    const answer = await this.#ask(() => [renameGuarded(target, name)]);
    if (answer.kind === 'done') return answer.text.trim() === NOT_THAT_SESSION ? 'gone' : 'renamed';
    return answer.kind === 'no_server' ? 'gone' : 'unknown';
  }

  async capture(pane: string): Promise<string | null> {
    const answer = await this.#ask(() => [capturePane(pane)]);
    return answer.kind === 'done' ? answer.text : null;
  }

  async screen(
    target: PaneAddress,
    asked: { history: number; since: ScreenMark | null },
  ): Promise<MuxScreen> {
    const ask: AskTmux = async (...commands) => {
      const reply = await this.control.request(...commands);
      const answer = answerOf(reply) ?? (await this.#client.run(...commands));
      return { answer, cheap: reply.kind === 'done' };
    };
    return readScreen(ask, this.#options.clock, target, asked);
  }

  async panes(target: { id: string }): Promise<PaneFolder[] | null> {
    const answer = await this.#ask(() => [sessionPanes(target.id)]);
    return answer.kind === 'done' ? parseSessionPanes(linesOf(answer.text)) : null;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  describe(): { tmux: string; socket: string | null; attach_argv(target: string): string[] } {
    const { tmux, socket } = this.#options;
    const before = [tmux, ...this.#client.socketArgv];
    return { tmux, socket, attach_argv: (target) => [...before, 'attach-session', '-t', target] };
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancelDebounce?.();
    this.#watch.stop();
    this.#listeners.clear();
    await this.#starting.run(() => undefined);
    await this.control.stop();
    await this.#client.run(killStartedWith(ANCHOR_SESSION, ANCHOR_COMMAND));
  }

  async #listNow(): Promise<MuxListing> {
    const answer = await this.#ask(() => [listPanes()]);
    if (answer.kind === 'no_server') return { kind: 'absent' };
    if (answer.kind === 'refused') {
      if (answer.message === NO_SESSION && (await this.#hasNoSession()))
        return { kind: 'alive', sessions: [] };
      return { kind: 'unknown', detail: answer.message };
    }
    if (answer.kind === 'unknown') return answer;
    const panes = parsePanes(linesOf(answer.text));
    if (panes === null) return { kind: 'unknown', detail: 'tmux listed its sessions in an unknown form' };
    this.#exits_unattached = panes.exits_unattached;
    await this.#client.sawServer(panes.server_pid);
    await this.#watch.follow(panes.sessions);
    this.#lookForOrphans();
    if (this.#mayAttach(panes)) void this.#connect();
    const { sessions, server } = panes;
    if (this.#platform === 'darwin' && server !== undefined && server.pid !== this.#kept_pid) {
      const answer = await this.#ask(() => [keepEmptyServer()]);
      if (answer.kind === 'done') this.#kept_pid = server.pid;
    }
    return { kind: 'alive', sessions, ...(server === undefined ? {} : { server }) };
  }

  /** Whether the server itself says so: `list-sessions` refuses nothing where there is none. */
  async #hasNoSession(): Promise<boolean> {
    const answer = await this.#client.run(listSessions());
    return answer.kind === 'done' && answer.text.trim() === '';
  }

  #needsConfirmation(listing: MuxListing): boolean {
    if (listing.kind === 'unknown') return false;
    if (this.#known === null || listing.kind === 'absent') return true;
    const here = keysOf(listing);
    return [...this.#known].some((key) => !here.has(key));
  }

  #remember(listing: MuxListing): MuxListing {
    if (listing.kind !== 'unknown') this.#known = keysOf(listing);
    return listing;
  }

  /** Uses the control client when it is attached, else runs tmux. */
  async #ask(build: () => readonly TmuxCommand[]): Promise<ServerAnswer> {
    try {
      return await this.#put(build());
    } catch (error) {
      if (isCoded(error)) return { kind: 'refused', message: error.message };
      throw error;
    }
  }

  async #put(commands: readonly TmuxCommand[]): Promise<ServerAnswer> {
    const reply = await this.control.request(...commands);
    const answer = answerOf(reply);
    if (answer !== null) return answer;
    if (isReadOnly(commands)) return this.#client.run(...commands);
    // The command may have been executed, so only a read-only one is retried.
    if (reply.kind === 'lost') {
      return { kind: 'unknown', detail: 'the connection to tmux ended before the answer' };
    }
    return this.#changing.run(async () => {
      const answer = await this.#client.run(...commands);
      this.#changed();
      return answer;
    });
  }

  async #ensureServer(): Promise<{ kind: 'ready' } | Extract<Created, { kind: 'failed' }>> {
    const listing = await this.#listings.list();
    if (listing.kind === 'unknown') {
      return { kind: 'failed', code: 'mux_unavailable', detail: listing.detail };
    }
    if (listing.kind === 'alive' && this.#exits_unattached) {
      const detail = exitsUnattached(this.#options.socket);
      return { kind: 'failed', code: 'tmux_server_unavailable', detail };
    }
    if (this.control.attached) return { kind: 'ready' };
    if (listing.kind === 'absent') {
      const started = await this.#startServer();
      if (started.kind === 'failed') {
        return { kind: 'failed', code: 'tmux_server_unavailable', detail: started.detail };
      }
    }
    await this.#connect();
    if (this.#platform === 'darwin') await this.#ask(() => [keepEmptyServer()]);
    return { kind: 'ready' };
  }

  /** Makes the anchor session on a running server that is safe to attach to. */
  async #ensureAnchor(): Promise<'ready' | 'not_now' | 'silent'> {
    if (this.#stopped) return 'not_now';
    const answer = await this.#client.run(...anchorCommands(SIZE));
    if (answer.kind === 'no_server') return 'not_now';
    if (answer.kind === 'unknown') return 'silent';
    if (answer.kind === 'refused' && !answer.message.startsWith('duplicate session')) return 'silent';
    const id = madeId(answer);
    // A hook that renamed it would have a new anchor made at each attempt.
    if (id !== null) await this.#client.run(...ownSession(id, ANCHOR_SESSION));
    const list = await this.#client.run(listPanes());
    if (list.kind !== 'done') return 'silent';
    const panes = parsePanes(linesOf(list.text));
    return panes !== null && this.#mayAttach(panes) ? 'ready' : 'not_now';
  }

  #mayAttach(server: { version: string | null; sessions: readonly MuxSession[] }): boolean {
    if (this.#stopped || this.control.attached) return false;
    return mayAttach({ policy: this.#options.control ?? 'auto', ...server });
  }

  async #connect(): Promise<void> {
    try {
      await this.control.connect();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the tmux control client could not be started');
    }
  }

  /** Once in the life of a daemon: what is orphaned later is for the next one. Nobody waits for it. */
  #lookForOrphans(): void {
    if (this.#stopped || this.#looked_for_orphans) return;
    this.#looked_for_orphans = true;
    this.#endOrphans().catch((error) =>
      this.#options.logger.warn({ err: error }, 'orphaned tmux clients could not be looked for'),
    );
  }

  async #endOrphans(): Promise<void> {
    // Also a daemon that may not attach must find them.
    const answer = await this.#client.run(listClients());
    if (answer.kind !== 'done') {
      this.#looked_for_orphans = false;
      return;
    }
    const others = daemonClientPids(linesOf(answer.text)).filter((pid) => pid !== this.control.pid);
    await endOrphans(others, this.#facts, (pid) => {
      this.#options.logger.info({ pid }, 'ended the tmux client of a daemon that was killed');
      try {
        process.kill(pid, 'SIGTERM');
      } catch {
        // It has ended, or belongs to another user.
      }
    });
  }

  /** A session counts as started only when the server lists it and its first process runs. */
  async #verify(name: string, id: string | null, asked_at: number): Promise<Created> {
    let unknown: string | null = null;
    for (let tries = 0; tries < 5; tries += 1) {
      if (tries > 0) await sleep(this.#options.clock, DEBOUNCE_MS);
      const listing = await this.#listings.list();
      unknown = listing.kind === 'unknown' ? listing.detail : null;
      if (listing.kind === 'unknown') continue;
      const session = sessionsOf(listing).find((candidate) =>
        id === null
          ? candidate.name === name && candidate.created_at >= asked_at - 1_000
          : candidate.id === id,
      );
      if (session === undefined) break;
      if (isEscaped(session.name, name)) {
        // Nothing would find it again.
        await this.#ask(() => [killById(session.id)]);
        const detail = `this tmux writes the session name ${name} as ${session.name}, because it does not know one of its characters; rename the fiber’s folder`;
        return { kind: 'failed', code: 'mux_unavailable', detail };
      }
      if (session.name !== name && tries === 0) {
        await this.#ask(() => ownSession(session.id, name));
        continue;
      }
      if (await this.#runs(session)) {
        this.#known?.add(keyOf(session));
        return { kind: 'created', session };
      }
    }
    if (unknown !== null) return { kind: 'failed', code: 'mux_unavailable', detail: unknown };
    const ended = id === null ? {} : { ended: true as const };
    const detail = `the session ended at once${await this.#hooks()}`;
    return { kind: 'failed', code: 'mux_unavailable', detail, ...ended };
  }

  /** What the user has this server do by itself, which may have ended a session. */
  async #hooks(): Promise<string> {
    const answer = await this.#ask(() => [showHooks()]);
    const lines = answer.kind === 'done' ? linesOf(answer.text) : [];
    const names = lines.flatMap((line) => /^(\S+)\[\d+\] /.exec(line)?.[1] ?? []);
    if (names.length === 0) return '';
    return `; this tmux server has hooks that may have ended it, which \`tmux show-hooks -g\` shows: ${[...new Set(names)].join(', ')}`;
  }

  async #runs(session: MuxSession): Promise<boolean> {
    const [first] = session.panes;
    if (first === undefined || first.dead || first.pid === null || !isRealPid(first.pid)) return false;
    const found = await this.#facts.lookUp(first.pid);
    return found.kind === 'found' && !isEndedState(found.row.state);
  }

  #changed(): void {
    if (this.#stopped || this.#cancelDebounce !== null) return;
    this.#cancelDebounce = this.#options.clock.after(DEBOUNCE_MS, () => {
      this.#cancelDebounce = null;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** What the server said to a control client; null where it said nothing, and may be asked in another way. */
function answerOf(reply: ControlReply): ServerAnswer | null {
  if (reply.kind === 'done') return { kind: 'done', text: reply.lines.map((line) => `${line}\n`).join('') };
  if (reply.kind === 'refused') return reply;
  if (reply.kind === 'silent') return { kind: 'unknown', detail: 'the tmux server did not answer in time' };
  return null;
}

/** The id of the session that was made; null where tmux did not tell. */
function madeId(answer: ServerAnswer): string | null {
  return answer.kind === 'done' ? (/^(\$\d+) /.exec(answer.text)?.[1] ?? null) : null;
}

function isReadOnly(commands: readonly TmuxCommand[]): boolean {
  return commands.every(([name]) => name === 'list-panes' || name === 'capture-pane');
}

/** The control client's environment: a small one shortens the connection handshake with the server. */
function controlEnvironment(env: Record<string, string | undefined>): Record<string, string | undefined> {
  const { HOME, LANG, LC_ALL, LC_CTYPE, PATH, TERM, TMUX_TMPDIR } = env;
  return { HOME, LANG, LC_ALL, LC_CTYPE, PATH, TERM, TMUX_TMPDIR };
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function keyOf(session: MuxSession): string {
  return `${session.id} ${session.name}`;
}

function keysOf(listing: MuxListing): Set<string> {
  return new Set(sessionsOf(listing).map(keyOf));
}

/** Whether `next` lacks a session that `last` had. */
function misses(next: MuxListing, last: MuxListing): boolean {
  const here = keysOf(next);
  return [...keysOf(last)].some((key) => !here.has(key));
}
