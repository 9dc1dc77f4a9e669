import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type {
  Created,
  CreateSession,
  Mux,
  MuxListing,
  MuxPane,
  MuxServer,
  MuxSession,
} from '../../../src/mux/mux.ts';
import type { ProcessCommand } from '../../../src/platform/process-commands.ts';
import type { ProcessIdentity, ProcessLife } from '../../../src/platform/process-facts.ts';

export type Worker = {
  session: MuxSession;
  run_dir: string;
  agent: ProcessIdentity;
  alive: boolean;
  /** Its session was ended, and its agent runs on all the same. */
  hung_up?: boolean;
  spec: CreateSession;
};

/** What the next `create` does. */
export type CreateScript = 'create' | 'refuse' | 'refuse_but_start' | 'start_silently';

/**
 * An imagined machine: a tmux server with sessions, processes, and run scripts that write into the real run
 * directories. It lives on while daemons come and go.
 */
export class FakeMachine {
  workers: Worker[] = [];
  others: MuxSession[] = [];
  /** Programs that persons run in sessions of their own, each below its session's shell. */
  byHand: { session: MuxSession; agent: ProcessIdentity; argv: string[]; alive: boolean }[] = [];
  listing: 'normal' | 'unknown' = 'normal';
  server: 'up' | 'down' = 'up';
  next: CreateScript = 'create';
  /** Milliseconds on the fake clock that a `create` takes. */
  latency_ms = 0;
  /** What the kernel says of every process. */
  kernel: 'answers' | 'silent' = 'answers';
  /** What agents do when their sessions are ended. */
  hangup: 'ends' | 'ignored' = 'ends';
  screen = '';
  creates: CreateSession[] = [];
  kills: string[] = [];
  ended: ProcessIdentity[] = [];
  lists = 0;
  readonly #clock: { now(): number; after(ms: number, run: () => void): () => void };
  #pids = 1000;
  #identity: MuxServer = { pid: 900, started_at: 0 };
  #sessions = 0;

  constructor(clock: FakeMachine['clock']) {
    this.#clock = clock;
  }

  get clock(): { now(): number; after(ms: number, run: () => void): () => void } {
    return this.#clock;
  }

  /** Workers whose agent runs. */
  get living(): Worker[] {
    return this.workers.filter((worker) => worker.alive);
  }

  worker(name: string): Worker {
    const found = this.living.findLast((worker) => worker.session.name.startsWith(`${name}-`));
    if (found === undefined) throw new Error(`no worker of ${name} lives`);
    return found;
  }

  session(name: string, change: Partial<MuxSession> = {}): MuxSession {
    this.#sessions += 1;
    this.#pids += 1;
    return {
      id: `$${this.#sessions}`,
      name,
      // tmux tells whole seconds.
      created_at: Math.floor(this.#clock.now() / 1000) * 1000,
      // A past conversation is opened by a script of ours.
      panes: [this.#pane(/^resume-(.+)$/.exec(name)?.[1] ?? null)],
      attached: 0,
      ...change,
    };
  }

  #pane(launch_id: string | null): MuxPane {
    return { id: `%${this.#pids}`, pid: this.#pids, dead: false, launch_id };
  }

  /** A person opens a pane in the session of a worker. */
  openPane(worker: Worker): void {
    this.#pids += 1;
    worker.session = { ...worker.session, panes: [...worker.session.panes, this.#pane(null)] };
  }

  /** The agent ends by itself and its run script tells how. */
  exit(worker: Worker, how: { code?: number; signal?: string; reason?: string; screen?: string } = {}): void {
    if (how.screen !== undefined) writeFileSync(join(worker.run_dir, 'screen.txt'), how.screen);
    const { code = null, signal = null, reason } = how;
    const at = Math.floor(this.#clock.now() / 1000) * 1000;
    writeFileSync(
      join(worker.run_dir, 'exit.json'),
      JSON.stringify({ code, signal, ...(reason === undefined ? {} : { reason }), at }),
    );
    this.vanish(worker);
  }

  /** The agent is gone without a word; a session with a person's pane stays. */
  vanish(worker: Worker): void {
    worker.alive = false;
    const rest = worker.session.panes.filter(({ launch_id }) => launch_id === null);
    const dead = worker.session.panes.map((pane) => ({ ...pane, dead: true }));
    worker.session = { ...worker.session, panes: rest.length > 0 ? rest : dead };
  }

  loseServer(options: { told: boolean }): void {
    for (const worker of this.living) {
      worker.session = { ...worker.session, panes: worker.session.panes.slice(0, 1) };
      if (options.told) this.exit(worker, { signal: 'SIGHUP' });
      else this.vanish(worker);
    }
    this.others = [];
    for (const one of this.byHand) one.alive = false;
    this.workers = this.workers.map((worker) => ({ ...worker, session: { ...worker.session, panes: [] } }));
    this.server = 'down';
  }

  /** Somebody starts another server at the same socket. */
  startServer(): void {
    this.server = 'up';
    this.#pids += 1;
    this.#identity = { pid: this.#pids, started_at: Math.floor(this.#clock.now() / 1000) * 1000 };
  }

  /** The machine starts again: nothing of before runs. */
  reboot(): void {
    this.loseServer({ told: false });
  }

  list(): MuxListing {
    this.lists += 1;
    if (this.listing === 'unknown') return { kind: 'unknown', detail: 'it does not answer' };
    if (this.server === 'down') return { kind: 'absent' };
    return { kind: 'alive', sessions: this.#listed(), server: this.#identity };
  }

  async create(spec: CreateSession, started: () => void): Promise<Created> {
    this.creates.push(spec);
    if (this.latency_ms > 0)
      await new Promise<void>((resolve) => {
        this.#clock.after(this.latency_ms, resolve);
      });
    const script = this.next;
    this.next = 'create';
    const failed: Created = { kind: 'failed', code: 'mux_unavailable', detail: 'it did not answer' };
    if (script === 'refuse') return failed;
    if (this.#listed().some((session) => session.name === spec.name)) return { kind: 'duplicate' };
    if (this.server === 'down') this.startServer();
    const run_dir = dirname(spec.command[1] ?? '');
    const made = this.session(spec.name);
    const session = { ...made, panes: [this.#pane(basename(run_dir))] };
    this.#pids += 1;
    const agent = { pid: this.#pids, start_time: `t${this.#pids}` };
    const worker: Worker = { session, run_dir, agent, alive: true, spec };
    if (script !== 'start_silently') this.record(worker);
    this.workers.push(worker);
    started();
    return script === 'refuse_but_start' ? failed : { kind: 'created', session };
  }

  /** The run script tells which process the agent is. */
  record({ run_dir, agent }: Worker): void {
    writeFileSync(join(run_dir, 'agent.pid'), JSON.stringify(agent));
  }

  kill(target: { id: string; name: string }): 'killed' | 'gone' | 'unknown' {
    if (this.listing === 'unknown') return 'unknown';
    this.kills.push(target.name);
    const worker = this.workers.find((one) => one.session.id === target.id);
    if (worker?.alive === true && this.hangup === 'ignored') worker.hung_up = true;
    else if (worker?.alive === true) {
      worker.session = { ...worker.session, panes: worker.session.panes.slice(0, 1) };
      this.exit(worker, { signal: 'SIGHUP' });
    }
    this.others = this.others.filter((session) => session.id !== target.id);
    return 'killed';
  }

  /** A person opens a session with a shell and starts a program in it. */
  startByHand(name: string, argv: string[]): MuxSession {
    const session = this.session(name);
    this.#pids += 1;
    this.byHand.push({
      session,
      agent: { pid: this.#pids, start_time: `t${this.#pids}` },
      argv,
      alive: true,
    });
    this.others.push(session);
    return session;
  }

  commands(pid: number): ProcessCommand[] | null {
    if (this.kernel === 'silent') return null;
    const shell = { pid, start_time: `t${pid}`, argv: ['-bash'] };
    const inside = this.byHand.filter((one) => one.alive && hasPane(one.session, pid));
    const workers = this.living.filter(({ session }) => hasPane(session, pid));
    return [
      shell,
      ...inside.map(({ agent, argv }) => ({ ...agent, argv })),
      ...workers.map(({ agent }) => ({ ...agent, argv: ['agent'] })),
    ];
  }

  look(process: ProcessIdentity): ProcessLife {
    if (this.kernel === 'silent') return 'unknown';
    const own = this.byHand.find((one) => one.agent.pid === process.pid);
    if (own !== undefined) return own.alive ? 'alive' : 'gone';
    return this.living.some((worker) => worker.agent.pid === process.pid) ? 'alive' : 'gone';
  }

  end(process: ProcessIdentity): void {
    this.ended.push(process);
    for (const one of this.byHand) if (one.agent.pid === process.pid) one.alive = false;
    const worker = this.living.find(
      (one) => one.agent.pid === process.pid || hasPane(one.session, process.pid),
    );
    if (worker !== undefined) this.exit(worker, { signal: 'SIGTERM' });
  }

  mux(guard: (step: string) => void, afterwards: (step: string) => void): Mux {
    return {
      list: async () => this.list(),
      create: async (spec) => {
        guard('create the session');
        const created = await this.create(spec, () => undefined);
        afterwards('the session is created');
        return created;
      },
      kill: async (target) => {
        guard('kill the session');
        return this.kill(target);
      },
      rename: async (target, name) => {
        guard('rename the session');
        for (const one of [...this.workers, ...this.byHand])
          if (one.session.id === target.id) one.session = { ...one.session, name };
        this.others = this.others.map((one) => (one.id === target.id ? { ...one, name } : one));
        return 'renamed';
      },
      capture: async () => this.screen,
      screen: async () => ({ kind: 'gone' }),
      panes: async (target) =>
        this.#listed()
          .filter((session) => session.id === target.id)
          .flatMap(({ panes }) => panes.map(({ id, pid, dead }) => ({ id, pid: pid ?? 0, dead })))
          .map((pane) => ({ ...pane, cwd: '/srv/person' })),
      onChange: () => () => {},
      describe: () => ({ tmux: 'tmux', socket: null, attach_argv: (name) => ['tmux', name] }),
      stop: async () => {},
    };
  }

  #listed(): MuxSession[] {
    const sessions = this.workers
      .filter(({ hung_up }) => hung_up !== true)
      .filter((worker) => worker.alive || worker.session.panes.some(({ dead }) => !dead))
      .map((worker) => worker.session);
    return [...sessions, ...this.others];
  }
}

function hasPane({ panes }: MuxSession, pid: number): boolean {
  return panes.some((pane) => pane.pid === pid);
}
