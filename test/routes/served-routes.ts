import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { ComponentView } from '../../src/contract/component.ts';
import { Router } from '../../src/http/router.ts';
import type { Row } from '../../src/http/row.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { createBootingGate } from '../../src/routes/booting.ts';
import type { RouteContext } from '../../src/routes/context.ts';
import { encodeApi } from '../../src/routes/described-rows.ts';
import { RequestFigures } from '../../src/routes/request-figures.ts';
import { createRoute } from '../../src/routes/routing.ts';
import { createRoutes } from '../../src/routes/table.ts';
import { tailnetBefore } from '../../src/tailnet/tailnet.ts';
import { type Answer, ask } from '../http/raw-exchange.ts';
import { LOOPBACK_ONLY, SERVER_KIND } from '../http/served.ts';
import { checkAnswer } from '../kit/api-check.ts';
import { createInProcessCallers, type InProcessCallers } from './in-process-callers.ts';

type JsonAnswer = Answer & { json: Record<string, unknown> };

export type ServedRoutes = {
  callers: InProcessCallers;
  requests: RequestFigures;
  rows: Row[];
  context: RouteContext;
  port: number;
  /** Moves the daemon: readiness, components; tells whoever listens. */
  become(change: { ready_ms?: number | null; components?: ComponentView[] }): void;
  /** Asks and checks the answer against the schema of its row. */
  get(path: string, headers?: Record<string, string>): Promise<JsonAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<JsonAnswer>;
  stop(): Promise<void>;
};

export function runningPoller(state: ComponentView['state'] = 'running', restarts = 0): ComponentView {
  return { name: 'poller', state, restarts, started_at: 1, last_error: null };
}

/** As `ask`, and the answer is held against the description of the API. */
export async function askChecked(...[target, method, path, rest]: Parameters<typeof ask>): Promise<Answer> {
  const answer = await ask(target, method, path, rest);
  const text = Buffer.from(answer.body, 'latin1').toString();
  const content_type = answer.headers['content-type'];
  await checkAnswer({ method, path, status: answer.status, content_type, text });
  return answer;
}

/** The real table behind the real kernel, with components in this process. Ready unless told otherwise. */
export async function serveRoutes(
  options: {
    ready_ms?: number | null;
    ui_dist?: string | null;
    home?: string;
    /** Where each configured remote answers; null while the fleet has not told them. */
    remotes?: Readonly<Record<string, string>> | null;
  } = {},
): Promise<ServedRoutes> {
  const callers = createInProcessCallers();
  let ready_ms: number | null = options.ready_ms === undefined ? 40 : options.ready_ms;
  let components: ComponentView[] = [runningPoller()];
  const changed: (() => void)[] = [];
  const requests = new RequestFigures();
  const route = createRoute(callers.fleet, 'host-a', systemClock);
  const context: RouteContext = {
    host: 'host-a',
    host_class: 'personal',
    version: '0.1.0',
    git_short_sha: 'abc1234',
    generation: '0123456789ab',
    skew: [],
    booted_at: systemClock.now() - 100,
    pid: process.pid,
    node: process.versions.node,
    ui_dist: options.ui_dist ?? null,
    agents_file: join(options.home ?? '/nowhere', 'agents.json'),
    operator_files: operatorFilesBelow(options.home ?? '/nowhere'),
    attachments_dir: join(options.home ?? '/nowhere', 'attachments'),
    sessions_file: join(options.home ?? '/nowhere', 'sessions.jsonl'),
    spend_dir: join(options.home ?? '/nowhere', 'spend'),
    clock: { ...systemClock },
    remote_answer_ms: 5_000,
    listen: () => server.addresses(),
    server: () => server.kind(),
    peer_gate: () => server.peerGate(),
    tailnet: () => tailnetBefore({ enabled: false, listens: false }),
    ready_ms: () => ready_ms,
    components: () => components,
    describeApi: async () => encodeApi('0.1.0'),
    queues: () => [{ name: 'poller', waiting: 2 }],
    requests,
    onChanged: (run) => void changed.push(run),
  };
  const rows = createRoutes(callers, context);
  const { remotes = {} } = options;
  if (remotes !== null) callers.fleet.publish(remotes);
  const server = createHttpServer({
    host: 'host-a',
    routes: rows,
    access: LOOPBACK_ONLY,
    booting: createBootingGate(context),
    route,
    http: SERVER_KIND,
    observe: requests.observe,
    logger: silentLogger,
    clock: systemClock,
  });
  const port = Number((await server.listen('127.0.0.1:0'))[0]!.split(':').at(-1));
  const router = new Router(rows);

  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const rest = body === undefined ? { headers } : { headers, body };
    const answer = await askChecked({ port }, method, path, rest);
    const is_json = answer.headers['content-type'] === 'application/json' && answer.body !== '';
    const json = is_json ? JSON.parse(Buffer.from(answer.body, 'latin1').toString()) : {};
    const match = router.match(method, path.split('?')[0]!);
    const schema = match.kind === 'row' ? match.compiled.row.replies[answer.status] : undefined;
    if (answer.status < 400 && schema === undefined) throw new Error(`${path} has no reply ${answer.status}`);
    return { ...answer, json };
  };

  return {
    callers,
    requests,
    rows,
    context,
    port,
    become(change) {
      if (change.ready_ms !== undefined) ready_ms = change.ready_ms;
      if (change.components !== undefined) components = change.components;
      for (const run of changed) run();
    },
    get: (path, headers = {}) => send('GET', path, headers),
    post: (path, body, headers = {}) =>
      send('POST', path, headers, body === undefined ? undefined : JSON.stringify(body)),
    stop: () => server.stop(),
  };
}

function operatorFilesBelow(folder: string): RouteContext['operator_files'] {
  const file = (name: string) => join(folder, `${name}.json`);
  return {
    agents: file('agents'),
    host: file('host'),
    projects: file('projects'),
    remotes: file('remotes'),
    stores: file('stores'),
  };
}
