import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { CliProcess } from '../../src/cli/command-line/safe-output.ts';
import type { ExitCode } from '../../src/cli/command-line/verb.ts';
import { runCli } from '../../src/cli/main.ts';
import { processStartTime } from '../../src/platform/process-facts.ts';

/** A machine for one test: its own folders, its own environment, and what `svc` printed. */
export type Machine = {
  folder: string;
  data_dir: string;
  config_dir: string;
  env: NodeJS.ProcessEnv;
  context: CliProcess;
  /** Runs one command line in this process. */
  svc(...argv: string[]): Promise<{ code: ExitCode; out: string; err: string }>;
  /** Writes `daemon.json` as a daemon with this address would. */
  writeDaemonFile(listen: string[], over?: Record<string, unknown>): void;
  remove(): void;
};

export function createMachine(): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  const data_dir = join(folder, 'data');
  const config_dir = join(folder, 'config');
  for (const path of [data_dir, config_dir]) {
    mkdirSync(path);
    chmodSync(path, 0o700);
  }
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    SVC_DATA_DIR: data_dir,
    SVC_CONFIG_DIR: config_dir,
    SVC_LISTEN: '127.0.0.1:0',
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  let out = '';
  let err = '';
  const context: CliProcess = {
    env,
    cwd: folder,
    clock: systemClock,
    stdin: process.stdin,
    outIsTerminal: false,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  };
  return {
    folder,
    data_dir,
    config_dir,
    env,
    context,
    async svc(...argv) {
      out = '';
      err = '';
      const code = await runCli(argv, context);
      return { code, out, err };
    },
    writeDaemonFile(listen, over = {}) {
      const record = {
        pid: process.pid,
        start_time: processStartTime(process.pid),
        listen,
        version: '0.1.0',
        booted_at: new Date(Date.now() - 120_000).toISOString(),
        boot_id: null,
        ...over,
      };
      writeFileSync(join(data_dir, 'daemon.json'), JSON.stringify(record), { mode: 0o600 });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Answers of a server that stands where a daemon would; `seen` holds the bodies it was sent. */
export type Answers = Record<
  string,
  | {
      status?: number;
      body: unknown;
      text?: boolean;
      code?: string | undefined;
      /** The body of the answer to a rehearsal. */
      shown?: unknown;
    }
  | ((body: unknown) => unknown)
>;
export type StandIn = { listen: string; seen: { path: string; body: unknown }[]; close(): Promise<void> };

/** Serves fixed answers on a free port, or on a socket file. Keys are `GET /path` below `/api/v1`. */
export async function serveAnswers(answers: Answers, socketPath?: string): Promise<StandIn> {
  const seen: StandIn['seen'] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body: unknown = text === '' ? null : JSON.parse(text);
      const path = (request.url ?? '').replace(/^\/api\/v1/, '');
      seen.push({ path, body });
      const found = answers[`${request.method} ${path}`];
      const answer =
        found === undefined
          ? { status: 404, body: { error: 'not_found', message: `nothing at ${path}` } }
          : typeof found === 'function'
            ? { body: await found(body) }
            : 'shown' in found && (body as { dry_run?: boolean } | null)?.dry_run === true
              ? { body: found.shown }
              : found;
      const isText = 'text' in answer && answer.text === true;
      response.writeHead(answer.status ?? 200, {
        'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
        ...('code' in answer && answer.code !== undefined ? { 'svc-error': answer.code } : {}),
      });
      response.end(isText ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
  return {
    listen:
      socketPath === undefined ? `127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${socketPath}`,
    seen,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** `serveAnswers` as the daemon of a machine, until the test ends. */
export async function serveDaemon(machine: Machine, answers: Answers): Promise<StandIn> {
  const server = await serveAnswers(answers);
  onTestFinished(() => server.close());
  machine.writeDaemonFile([server.listen]);
  return server;
}
