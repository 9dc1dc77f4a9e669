import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countAnswers } from '../answers.ts';
import { portOf, startProgram, stopProgram } from '../child.ts';
import { BENCH_HOST, type BenchDaemon, startDaemon } from '../daemon.ts';
import { type Bench, type Figure, judged, median } from '../frame.ts';
import { fetchRaw } from '../load.ts';
import { cannedAnswer } from '../same-bytes.ts';
import { withScratch } from '../scratch.ts';
import type { CannedAnswer } from '../servers/canned-answer.ts';
import { generateStore } from '../stores.ts';

const ROUNDS = 5;
const ROUND_MS = 500;
/** What clients poll or what is large; the other routes are shown without a target. */
const POLLED = /^\/api\/v1\/(?:version|fibers(?:\?svc=true)?|activity|file)(?: 304)?$/;
const WARM_UP_MS = 2_000;
/** As many as keep either server busy: with fewer, clients that ask in step measure how long one answer takes. */
const CONNECTIONS = 64;
const SESSION = '11111111-1111-4111-8111-000000000001';

/** One request to the daemon, and the bytes with which the floor answers it. */
type Read = { name: string; path: string; headers: string; canned: CannedAnswer & { body: string | null } };

export const bench: Bench = {
  name: 'read-routes',
  question: 'which part of bare uWebSockets.js, answering the same bytes, does each read route reach?',
  run: (log) =>
    withScratch(async (folder) => {
      const { root } = generateStore(join(folder, 's'), {
        fibers: 1_000,
        host: BENCH_HOST,
        project_dir: folder,
        served: 0.05,
      });
      const file = join(folder, 'file.txt');
      writeFileSync(file, 'x'.repeat(10_000));
      utimesSync(file, 1_700_000_000, 1_700_000_000);
      writeTranscript(folder);
      const daemon = await startDaemon({ folder, stores: [root], measured: false });
      try {
        await daemon.fresh();
        const reads = await readsOf(daemon, file, log);
        await warmUp(daemon.port);
        const answers = join(folder, 'answers.json');
        writeFileSync(
          answers,
          JSON.stringify(reads.map(({ canned }, index) => ({ ...canned, path: `/${index}` }))),
        );
        const floor = startProgram('servers/bare-uws.ts', [`@${answers}`]);
        try {
          const floor_port = await portOf(floor);
          const figures: Figure[] = [];
          for (const [index, read] of reads.entries()) {
            const figure = await compare(read, { port: daemon.port, floor_port, floor_path: `/${index}` });
            log(`${read.name}: ${figure.value.toFixed(2)} × bare uWS`);
            figures.push(figure);
          }
          return figures;
        } finally {
          await stopProgram(floor);
        }
      } finally {
        await daemon.stop();
      }
    }),
};

/** What all routes have in common is compiled by then, whichever of them comes first. */
async function warmUp(port: number): Promise<void> {
  const until = performance.now() + WARM_UP_MS;
  const load = {
    port,
    request: requestOf('/api/v1/version', ''),
    ...{ connections: CONNECTIONS, pipeline: 1 },
  };
  await countAnswers(load, () => performance.now() > until);
}

/** Each route as a client asks it, and again with its entity tag where it has one. */
async function readsOf(daemon: BenchDaemon, file: string, log: (line: string) => void): Promise<Read[]> {
  const [fiber = ''] = await daemon.ownFibers();
  const moment = 'from_ms=1786203000000&to_ms=1786206600000';
  const paths = [
    ...[
      ...['version', 'state', 'agents', 'doctor', 'config', 'config/stores', 'fiber-stores', 'openapi.json'],
      ...['fibers', 'fibers?svc=true', `fibers/${fiber}`, `why?fiber=${encodeURIComponent(fiber)}`],
      ...['sessions', `activity?${moment}`, `commits?${moment}`, 'sent-files/all'],
      ...['sent-files?uid=01K2B3C4D5E6F7G8H9J0K1M2N3', `spend?session=${SESSION}`],
      ...[`moment?session=${SESSION}&at=1786203000000`, `sessions/links?sessions=${SESSION}`],
      ...[`transcript?session=${SESSION}`, `transcript/raw?session=${SESSION}`, 'search?query=parser'],
      ...[`file?path=${encodeURIComponent(file)}`, `file-info?path=${encodeURIComponent(file)}`],
    ].map((path) => `/api/v1/${path}`),
    // It tells of every route that was ever asked, and would grow if others came after it.
    '/metrics',
  ];
  const reads: Read[] = [];
  for (const path of paths) {
    const name = path.replace(/\?(?!svc).*/, '').replace(fiber, '*id');
    const canned = cannedAnswer(path, await fetchRaw(daemon.port, requestOf(path, '')));
    if (!/^[23]/.test(canned.status)) log(`${name} answers ${canned.status}`);
    reads.push({ name, path, headers: '', canned });
    const { ETag: etag } = canned.headers;
    if (etag === undefined) continue;
    const headers = `If-None-Match: ${etag}\r\n`;
    const unchanged = cannedAnswer(path, await fetchRaw(daemon.port, requestOf(path, headers)));
    reads.push({ name: `${name} 304`, path, headers, canned: unchanged });
  }
  return reads;
}

async function compare(
  { name, path, headers, canned }: Read,
  at: { port: number; floor_port: number; floor_path: string },
): Promise<Figure> {
  const bytes = typeof canned.body === 'string' ? canned.body.length : 0;
  const rate = async (port: number, asked: string) => {
    const until = performance.now() + ROUND_MS;
    // One in flight on each: a request that comes before a later answer has left ends its connection.
    const load = { port, request: requestOf(asked, headers), connections: CONNECTIONS, pipeline: 1 };
    const { answers, ms } = await countAnswers(load, () => performance.now() > until);
    return (answers / ms) * 1_000;
  };
  await rate(at.port, path);
  const own: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push(await rate(at.floor_port, at.floor_path));
    own.push(await rate(at.port, path));
  }
  const figure = {
    name,
    value: median(own.map((each, round) => each / floor[round]!)),
    unit: '×',
    against: [
      { name: 'daemon', value: median(own), unit: 'req/s' },
      { name: 'bare uWS', value: median(floor), unit: 'req/s' },
      { name: 'body', value: bytes, unit: 'B' },
    ],
  };
  return POLLED.test(name) ? judged(figure, { least: 0.7 }) : { ...figure, target: null, met: null };
}

function requestOf(path: string, headers: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
}

/** A short transcript of Claude Code in the home of the daemon. */
function writeTranscript(folder: string): void {
  const project = join(folder, '.claude/projects/-srv');
  mkdirSync(project, { recursive: true });
  const path = join(project, `${SESSION}.jsonl`);
  writeFileSync(path, `${JSON.stringify({ type: 'user', message: { content: 'hello' } })}\n`.repeat(100));
  utimesSync(path, 1_700_000_000, 1_700_000_000);
}
