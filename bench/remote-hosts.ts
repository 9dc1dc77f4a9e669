import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { fibersCompositeSchema } from '../src/contract/http/fibers.ts';
import { portOf, startProgram } from './child.ts';
import { type Connection, openConnection } from './connection.ts';
import { type BenchDaemon, startDaemon, wait } from './daemon.ts';
import { generateStore } from './stores.ts';

/** What a real daemon told, which the simulated hosts tell under names of their own. */
export type HostModel = {
  /** Its host id, which stands for that of whoever tells it. */
  host: string;
  nonce: string;
  /** The rows of `GET /fibers`, and the bodies of `GET /version` and `GET /fiber-stores`, as JSON. */
  rows: string[];
  version: string;
  stores: string;
};

export type SimulatedHosts = {
  /** Where their sockets are. */
  folder: string;
  hosts: string[];
  model: HostModel;
  /** Of the rows, each second. */
  edited_share: number;
};

const MODEL_HOST = 'model-of-a-remote';

/** Asks a real daemon of so many fibers for all that a hub asks of a remote. */
export async function readModel(folder: string, rows: number): Promise<HostModel> {
  const own = join(folder, 'm');
  const { root } = generateStore(join(own, 's'), {
    ...{ fibers: rows, host: MODEL_HOST, project_dir: '/srv' },
  });
  const daemon = await startDaemon({
    ...{ folder: own, stores: [root], env: { SVC_HOST: MODEL_HOST }, measured: false },
  });
  try {
    await daemon.fresh();
    const body = async (path: string) => (await daemon.json('GET', path)).body;
    const { fibers } = (await body('/api/v1/fibers')) as { fibers: object[] };
    if (fibers.length !== rows) throw new Error(`the model has ${fibers.length} rows, not ${rows}`);
    const [version, stores] = [await body('/api/v1/version'), await body('/api/v1/fiber-stores')];
    return {
      ...{ host: MODEL_HOST, nonce: 'b0b0b0b0b0b0b0b0', rows: fibers.map((row) => JSON.stringify(row)) },
      ...{ version: JSON.stringify(version), stores: JSON.stringify(stores) },
    };
  } finally {
    await daemon.stop();
  }
}

export function hostNames(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `remote-${String(first + at).padStart(4, '0')}`);
}

/** Starts a process that is all of these hosts; resolves once each can be asked. */
export async function startRemoteHosts(simulated: SimulatedHosts): Promise<ChildProcess> {
  mkdirSync(simulated.folder, { recursive: true });
  const file = join(simulated.folder, `${simulated.hosts[0]}.json`);
  writeFileSync(file, JSON.stringify(simulated));
  const child = startProgram('servers/remote-hosts.ts', [file]);
  const told = await portOf(child);
  if (told !== simulated.hosts.length) throw new Error(`${told} hosts run, not ${simulated.hosts.length}`);
  return child;
}

/** Has a hub follow these hosts, and no others. */
export function writeRemotes(hub_folder: string, sockets_folder: string, hosts: readonly string[]): void {
  const remotes = hosts.map((name) => ({ name, socket: join(sockets_folder, `${name}.sock`) }));
  const path = join(hub_folder, 'c/remotes.json');
  mkdirSync(join(hub_folder, 'c'), { recursive: true });
  writeFileSync(`${path}.new`, JSON.stringify({ version: 1, remotes }));
  renameSync(`${path}.new`, path);
}

/** Keeps all threads of a daemon on one core, which others may use too. */
export function pinToOneCore(daemon: BenchDaemon): void {
  execFileSync('taskset', ['-acp', '0', String(daemon.pid)], { stdio: 'ignore' });
}

export const COMPOSITE = '/api/v1/fibers/composite';

/** Waits until every one of so many remotes is fresh. */
export async function followed(hub: BenchDaemon, remotes: number): Promise<void> {
  const connection = await openConnection(hub.port);
  try {
    for (;;) {
      const { body } = await connection.get('/api/v1/state');
      const { fleet } = JSON.parse(body.toString()) as { fleet?: { remotes: { state: string }[] } | null };
      if (fleet?.remotes.filter(({ state }) => state === 'fresh').length === remotes) return;
      await wait(100);
    }
  } finally {
    connection.close();
  }
}

/** Reads the composite; throws where it is not as the contract has it. */
export async function checkComposite(port: number): Promise<{ bytes: number; etag: string }> {
  const connection = await openConnection(port);
  const { body, etag } = await connection.get(COMPOSITE);
  connection.close();
  fibersCompositeSchema.parse(JSON.parse(body.toString()));
  if (etag === null) throw new Error('the composite has no tag');
  return { bytes: body.length, etag };
}

/** An edit of a row by a simulated host, and how long after it a reader had it. */
export type SeenEdit = { host: string; ms: number };

/** The edit in a row, which `arrived` as `process.hrtime` tells the time; none where it was not edited. */
export function editIn(
  host: string,
  { outcome }: { outcome?: string | undefined },
  arrived: bigint,
): SeenEdit[] {
  const edited = /^@(\d+) /.exec(outcome ?? '')?.[1];
  return edited === undefined ? [] : [{ host, ms: Number(arrived - BigInt(edited)) / 1e6 }];
}

/** Follows the composite as a board does: told by `/live`, it reads what changed. */
export class CompositeReader {
  readonly seen: SeenEdit[] = [];
  reads = 0;
  bytes = 0;
  readonly #live: WebSocket;
  readonly #connection: Connection;
  #tag = '';
  #reading = false;
  #again = false;
  #failure: Error | null = null;

  private constructor(live: WebSocket, connection: Connection) {
    this.#live = live;
    this.#connection = connection;
    live.on('message', (data) => {
      if ((JSON.parse(String(data)) as { feed: string }).feed !== 'remotes') return;
      if (this.#reading) this.#again = true;
      else
        this.#read().catch((error: Error) => {
          this.#failure = error;
        });
    });
  }

  static async open(port: number): Promise<CompositeReader> {
    const live = new WebSocket(`ws://127.0.0.1:${port}/api/v1/live`);
    await new Promise((resolve, reject) => live.once('open', resolve).once('error', reject));
    const reader = new CompositeReader(live, await openConnection(port));
    await reader.#read();
    return reader;
  }

  /** The edits that were seen since this was asked last. */
  take(): SeenEdit[] {
    if (this.#failure !== null) throw this.#failure;
    return this.seen.splice(0);
  }

  close(): void {
    this.#live.terminate();
    this.#connection.close();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    do {
      this.#again = false;
      const { body } = await this.#connection.get(`${COMPOSITE}?since=${encodeURIComponent(this.#tag)}`);
      this.reads += 1;
      this.bytes += body.length;
      const arrived = process.hrtime.bigint();
      const { tag, origins } = JSON.parse(body.toString()) as {
        tag: string;
        origins: Record<string, { read: { rows?: { outcome?: string }[] } | null }>;
      };
      for (const [host, { read }] of Object.entries(origins))
        for (const row of read?.rows ?? []) this.seen.push(...editIn(host, row, arrived));
      this.#tag = tag;
    } while (this.#again);
    this.#reading = false;
  }
}

/** A hub that asks every host for its whole feed, which is what ours is held against. */
export type PollingHub = {
  folder: string;
  hosts: string[];
  interval_ms: number;
  /** Whether it says which answer it has. */
  etag: boolean;
  for_ms: number;
};

/** What it saw; `cpu` in percent of a core. */
export type PollingResult = {
  seen: SeenEdit[];
  cpu: number;
  bytes: number;
  answers: number;
  /** Answers that nothing has changed. */
  unchanged: number;
};

export async function runPollingHub(hub: PollingHub): Promise<PollingResult> {
  const child = startProgram('servers/polling-hub.ts', [JSON.stringify(hub)]);
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(text) as PollingResult;
}
