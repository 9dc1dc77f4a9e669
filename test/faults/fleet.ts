import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Origin } from '../../src/contract/http/composite.ts';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import type { RemoteState, State } from '../../src/contract/http/state.ts';
import { BadLink } from '../kit/bad-link.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { createHttp, type Http } from '../kit/http.ts';
import { type Link, NetworkHost } from '../kit/network.ts';
import { SshServer } from '../kit/ssh-server.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const COMPOSER = new URL('composer-agent.mjs', import.meta.url).pathname;
/** Longer than a daemon waits for the answer of another one. */
const PATIENCE_MS = 130_000;
const HUB = 'host-a';
const REMOTES = ['host-b', 'host-c'];
/** Of each remote. */
const LISTENERS = 3;

/** A session of a worker, which takes messages. */
export type Listener = { address: string; transcript: string };

/**
 * A hub and two remotes, each in a network namespace of its own. The hub has a link to each remote, and an SSH tunnel
 * over it to the socket of the daemon there. The test itself asks each daemon by its socket, which no link leads to.
 */
export class Fleet {
  readonly hub: TestDaemon;
  readonly remotes: readonly Remote[];
  readonly #hosts: readonly NetworkHost[];
  /** A client of the hub that waits for whatever the hub waits for. */
  readonly patient: Http;

  private constructor(hub: TestDaemon, remotes: readonly Remote[], hosts: readonly NetworkHost[]) {
    this.hub = hub;
    this.remotes = remotes;
    this.#hosts = hosts;
    this.patient = createHttp(() => hub.address, PATIENCE_MS);
  }

  static async start(): Promise<Fleet> {
    const hosts: NetworkHost[] = [];
    const daemons: TestDaemon[] = [];
    const remotes: Remote[] = [];
    try {
      for (const _ of [HUB, ...REMOTES]) hosts.push(await NetworkHost.make());
      const [here] = hosts as [NetworkHost];
      const started = await Promise.allSettled(
        [HUB, ...REMOTES].map(async (name, nth) => daemons.push(await startDaemon(name, hosts[nth]!))),
      );
      for (const one of started) if (one.status === 'rejected') throw one.reason;
      const daemonOf = (name: string) => daemons.find(({ home }) => home.env.SVC_HOST === name)!;
      const hub = daemonOf(HUB);
      for (const [nth, name] of REMOTES.entries()) {
        const there = hosts[nth + 1]!;
        const remote = new Remote(name, daemonOf(name), here.linkTo(there, nth));
        remotes.push(remote);
        await remote.connect(here, there, hub.home);
      }
      hub.home.write('config/remotes.json', { remotes: remotes.map((remote) => remote.entry) });
      for (const remote of remotes) remote.startTunnel();
      const fleet = new Fleet(hub, remotes, hosts);
      for (const remote of remotes) await fleet.when(remote, 'fresh');
      return fleet;
    } catch (error) {
      await end(remotes, daemons, hosts).catch(() => undefined);
      throw error;
    }
  }

  /** What the board of the hub shows of a remote. */
  async shown({ name }: Remote): Promise<FibersComposite['origins'][string] | undefined> {
    return (await this.hub.http.get<FibersComposite>('/fibers/composite')).body.origins[name];
  }

  async standing({ name }: Remote): Promise<RemoteState | undefined> {
    const { fleet } = (await this.hub.http.get<State>('/state')).body;
    return fleet?.remotes.find((one) => one.name === name);
  }

  /** The row of a fiber of a remote on the board of the hub. */
  async row(remote: Remote, id: string): Promise<FiberRow | undefined> {
    const read = (await this.shown(remote))?.read;
    const rows = read == null ? [] : 'fibers' in read ? read.fibers : read.rows;
    return rows.find((row) => row.id === id);
  }

  /** Resolves once the hub shows a remote so, which it comes to by itself. */
  async when(remote: Remote, state: Origin['state']): Promise<FibersComposite['origins'][string]> {
    const look = async () => {
      if ((await this.standing(remote))?.state !== state) return null;
      const now = await this.shown(remote);
      return now?.state === state ? now : null;
    };
    return until(`${remote.name} being ${state}`, look, 90_000);
  }

  /** Ends what an earlier test has left: fixes links and lines, and starts daemons that were killed. */
  async mend(): Promise<void> {
    for (const { link, line } of this.remotes) {
      link.up();
      await line.set({});
    }
    for (const daemon of [this.hub, ...this.remotes.map((remote) => remote.daemon)])
      await daemon.version().catch(() => daemon.start());
    for (const remote of this.remotes) await this.when(remote, 'fresh');
  }

  dispose(): Promise<void> {
    return end(this.remotes, [this.hub, ...this.remotes.map(({ daemon }) => daemon)], this.#hosts);
  }
}

/** Another host as the hub has it: its daemon, and all that stands between. */
export class Remote {
  readonly name: string;
  readonly daemon: TestDaemon;
  readonly link: Link;
  /** What stands between its SSH server and the hub; it does no harm until told. */
  line!: BadLink;
  #server!: SshServer;
  #hub!: TestHome;
  #under: readonly string[] = [];
  #tunnel: ChildProcess | null = null;
  /** What its tunnel has said. */
  said = '';

  constructor(name: string, daemon: TestDaemon, link: Link) {
    this.name = name;
    this.daemon = daemon;
    this.link = link;
  }

  /** Starts its SSH server, and the proxy of the hub that leads there. */
  async connect(here: NetworkHost, there: NetworkHost, hub: TestHome): Promise<void> {
    this.#hub = hub;
    this.#under = here.under;
    this.#server = new SshServer(this.daemon.home, {}, { address: this.link.far, under: there.under });
    await this.#server.start();
    this.line = await BadLink.start({ host: this.link.far, port: this.#server.port }, here.under);
  }

  /** Its entry in `remotes.json` of the hub. */
  get entry(): object {
    const { alias: ssh, flags, knownAs } = this.#server;
    const through = ['HostName=127.0.0.1', `Port=${this.line.port}`, `HostKeyAlias=${knownAs}`];
    return {
      ...{ name: this.name, ssh, ssh_flags: [...flags, ...through.flatMap((option) => ['-o', option])] },
      socket: this.#hub.path(`runtime/tunnels/${this.name}.sock`),
      remote_socket: this.daemon.address.slice('unix:'.length),
    };
  }

  /** `svc tunnels run` on the hub, in a process of its own. */
  startTunnel(): void {
    const { launcher, env } = this.#hub;
    const [file = '', ...args] = [...this.#under, process.execPath, launcher, 'tunnels', 'run', this.name];
    const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (text) => {
      this.said += text;
    });
    this.#tunnel = child;
  }

  /** The sessions of its workers, once all of them show their composer. */
  async listeners(): Promise<Listener[]> {
    const { home } = this.daemon;
    const rows = await Promise.all(slugs().map((slug) => this.daemon.running(slug)));
    return rows.map(({ runtime }, nth) => {
      const folder = home.project(slugs()[nth]!).replace(/[^a-zA-Z0-9]/g, '-');
      return {
        address: `svc://${this.name}/claude/${runtime.session_uuid}`,
        transcript: join(home.claude, 'projects', folder, `${runtime.session_uuid}.jsonl`),
      };
    });
  }

  async disconnect(): Promise<void> {
    const tunnel = this.#tunnel;
    if (tunnel !== null && tunnel.exitCode === null && tunnel.signalCode === null) {
      const gone = once(tunnel, 'close');
      tunnel.kill();
      await gone;
    }
    await this.line?.stop();
    await this.#server?.stop();
  }
}

const slugs = () => Array.from({ length: LISTENERS }, (_, nth) => `listener-${nth}`);

function startDaemon(name: string, host: NetworkHost): Promise<TestDaemon> {
  return startTestDaemon({
    settings: { SVC_HOST: name, SVC_MESSAGE_OBSERVE_MS: '1000' },
    under: () => host.under,
    prepare(home) {
      // TCP of a namespace ends there; the test asks by this socket.
      home.env.SVC_LISTEN = `unix:${home.path('api.sock')}`;
      if (name === HUB) return withoutServiceManager(home);
      for (const slug of ['notes', 'apart']) home.fiber(slug, { front: { status: 'open' }, svc: null });
      for (const slug of slugs()) home.fiber(slug, { svc: { host: name, agent: 'composer' } });
      const composer = {
        ...{ id: 'composer', harness: 'claude', cli: process.execPath, default: true, effort_levels: [] },
        // Its standard input is the terminal.
        ...{ args: [COMPOSER, home.path('witness.jsonl')], prompt: 'argument' },
        env: { CLAUDE_CONFIG_DIR: home.claude },
      };
      home.write('config/agents.json', { version: 1, builtins: 'restrict', agents: [composer] });
    },
  });
}

/** The service manager of whoever runs this is left alone. */
function withoutServiceManager(home: TestHome): void {
  chmodSync(home.write('bin/systemctl', '#!/bin/sh\nexit 1\n'), 0o755);
  home.env.PATH = `${home.path('bin')}:${home.env.PATH}`;
}

/** Ends what there is, also where some of it fails; the first failure is told. */
async function end(
  remotes: readonly Remote[],
  daemons: readonly TestDaemon[],
  hosts: readonly NetworkHost[],
): Promise<void> {
  const ended = [
    ...(await Promise.allSettled(remotes.map((remote) => remote.disconnect()))),
    ...(await Promise.allSettled(daemons.map((daemon) => daemon.dispose()))),
    ...(await Promise.allSettled(hosts.map((host) => host.remove()))),
  ];
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
