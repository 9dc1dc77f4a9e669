// Many daemons of other hosts, as far as a hub asks them: each answers at a Unix socket of its own, with rows that a real
// daemon told. What it is comes as JSON in the file argv[2]. SIGUSR2 begins its edits, or ends them.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SimulatedHosts } from '../remote-hosts.ts';

const [, , given = ''] = process.argv;
const { folder, hosts, model, edited_share }: SimulatedHosts = JSON.parse(readFileSync(given, 'utf8'));

const TICK_MS = 10;
const FEED = '/api/v1/fibers';
/** Where a row says when it was edited last, as `process.hrtime`. */
const OUTCOME = '"outcome":"';

/** A row of the model with its text cut where an edit is put in, and the number of its last edit. */
type Row = { before: string; after: string; json: string; edit: number };

class Host {
  readonly #name: string;
  readonly #rows: Row[];
  readonly #clients = new Set<WebSocket>();
  #edits = 0;

  constructor(name: string) {
    this.#name = name;
    this.#rows = model.rows.map((text) => {
      const json = text.replaceAll(model.host, name);
      const at = json.indexOf(OUTCOME) + OUTCOME.length;
      return { before: json.slice(0, at), after: json.slice(at), json, edit: 0 };
    });
  }

  /** Puts the time of the edit into one row, and tells it. */
  edit(random: number): void {
    const row = this.#rows[Math.floor(random * this.#rows.length)]!;
    const since = this.#tag;
    this.#edits += 1;
    row.json = `${row.before}@${process.hrtime.bigint()} ${row.after}`;
    row.edit = this.#edits;
    if (this.#clients.size === 0) return;
    const message = `{"feed":"fibers","since":"${since}",${this.#delta([row.json])}`;
    for (const client of this.#clients) client.send(message);
  }

  answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const etag = `W/"${this.#tag}"`;
    const unchanged = headers['if-none-match'] === etag && !searchParams.has('since');
    const body = unchanged ? null : this.#bodyOf(pathname, searchParams.get('since'));
    if (pathname === FEED) response.setHeader('ETag', etag);
    response.setHeader('Content-Type', 'application/json');
    response.statusCode = unchanged ? 304 : body === null ? 404 : 200;
    response.end(body ?? '');
  }

  hold(client: WebSocket): void {
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    client.on('error', () => this.#clients.delete(client));
    client.send(`{"feed":"fibers","tag":"${this.#tag}"}`);
  }

  #bodyOf(path: string, since: string | null): string | null {
    switch (path) {
      case '/api/v1/version':
        return model.version.replaceAll(model.host, this.#name);
      case '/api/v1/fiber-stores':
        return model.stores.replaceAll(model.host, this.#name);
      case FEED:
        return since === null ? `{${this.#head()},"fibers":${this.#all()}}` : this.#since(since);
      default:
        return null;
    }
  }

  get #tag(): string {
    return `${model.nonce}-${this.#edits}`;
  }

  #since(since: string): string {
    const edit = since.startsWith(`${model.nonce}-`) ? Number(since.slice(model.nonce.length + 1)) : null;
    if (edit === null) return `{"tag":"${this.#tag}","whole":true,${this.#head()},"fibers":${this.#all()}}`;
    return `{${this.#delta(this.#rows.filter((row) => row.edit > edit).map(({ json }) => json))}`;
  }

  #delta(rows: readonly string[]): string {
    return `${this.#head()},"tag":"${this.#tag}","removed":[],"rows":[${rows.join(',')}]}`;
  }

  #head(): string {
    return `"host":"${this.#name}","state":"fresh","generated_at":${Date.now()}`;
  }

  #all(): string {
    return `[${this.#rows.map(({ json }) => json).join(',')}]`;
  }
}

const sockets = new WebSocketServer({ noServer: true });
const all = hosts.map((name) => new Host(name));
await Promise.all(
  all.map((host, at) => {
    const server = createServer((request, response) => host.answer(request, response));
    server.keepAliveTimeout = 0;
    server.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => host.hold(client)),
    );
    return new Promise<void>((resolve) => server.listen(join(folder, `${hosts[at]}.sock`), resolve));
  }),
);

let editing: NodeJS.Timeout | null = null;
process.on('SIGUSR2', () => {
  if (editing !== null) {
    clearInterval(editing);
    editing = null;
    return;
  }
  const per_ms = (all.length * model.rows.length * edited_share) / 1_000;
  let done = 0;
  const began = performance.now();
  let next = 0;
  editing = setInterval(() => {
    for (const due = (performance.now() - began) * per_ms; done < due; done += 1) {
      all[next]!.edit(Math.random());
      next = (next + 1) % all.length;
    }
  }, TICK_MS);
});
process.stdout.write(`${all.length}\n`);
