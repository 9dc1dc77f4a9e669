import type { ChildProcess } from 'node:child_process';
import { portOf, startProgram, stopProgram } from './child.ts';
import { type Figure, judged, median } from './frame.ts';
import { fetchRaw, measureThroughput } from './load.ts';
import type { CannedAnswer } from './servers/canned-answer.ts';

const ROUNDS = 7;
const CONNECTIONS = 8;
const PIPELINE = 8;
const ROUND_MS = 1_000;

/**
 * Requests per second of one path of the daemon beside bare uWebSockets.js and Fastify answering the very
 * bytes that the daemon answers; alternating rounds, since the machine is not ours alone. Each ratio is the
 * median of the ratios of neighbouring rounds.
 */
export async function compareSameBytes(options: {
  port: number;
  path: string;
  headers: string;
  log(line: string): void;
}): Promise<Figure[]> {
  const { port, path, headers, log } = options;
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`;
  const canned = cannedAnswer(path, await fetchRaw(port, request));
  const floor = startProgram('servers/bare-uws.ts', [JSON.stringify([canned])]);
  const baseline = startProgram('servers/fastify.ts', [JSON.stringify([canned])]);
  try {
    const ports = { ours: port, floor: await portOf(floor), baseline: await portOf(baseline) };
    for (const other of [ports.floor, ports.baseline]) {
      const status = (await fetchRaw(other, request)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
      if (!canned.status.startsWith(status)) throw new Error(`a baseline answers ${path} with ${status}`);
    }
    const rates = { ours: [] as number[], floor: [] as number[], baseline: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of ['floor', 'ours', 'baseline'] as const) {
        rates[name].push(
          await measureThroughput({
            port: ports[name],
            request,
            connections: CONNECTIONS,
            pipeline: PIPELINE,
            duration_ms: ROUND_MS,
          }).catch((cause) => {
            throw new Error(`${name === 'ours' ? 'the daemon' : name} failed under load`, { cause });
          }),
        );
      }
      log(
        `round ${round + 1}: daemon ${perSecond(rates.ours)}, bare uWS ${perSecond(rates.floor)}, Fastify ${perSecond(rates.baseline)}`,
      );
    }
    const ratio = (others: number[]) => median(rates.ours.map((rate, round) => rate / (others[round] ?? 1)));
    const ours = { name: 'daemon', value: median(rates.ours), unit: 'req/s' };
    return [
      judged(
        {
          name: 'share of bare uWS',
          value: ratio(rates.floor),
          unit: '×',
          against: [ours, { name: 'bare uWS', value: median(rates.floor), unit: 'req/s' }],
        },
        { least: 0.7 },
      ),
      judged(
        {
          name: 'times Fastify',
          value: ratio(rates.baseline),
          unit: '×',
          against: [ours, { name: 'Fastify', value: median(rates.baseline), unit: 'req/s' }],
        },
        { least: 2 },
      ),
    ];
  } finally {
    await Promise.all([floor, baseline].map((child: ChildProcess) => stopProgram(child)));
  }
}

/** The answer as the two other servers are told to give it; what each server adds by itself is left out. */
export function cannedAnswer(path: string, raw: string): CannedAnswer & { body: string | null } {
  const cut = raw.indexOf('\r\n\r\n');
  const [first, ...lines] = raw.slice(0, cut).split('\r\n');
  const headers = Object.fromEntries(
    lines
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const)
      .filter(([name]) => !['content-length', 'date', 'uwebsockets'].includes(name.toLowerCase())),
  );
  const body = raw.slice(cut + 4);
  const [pathname = path] = path.split('?');
  return {
    path: pathname,
    status: (first ?? '').slice('HTTP/1.1 '.length),
    headers,
    body: body === '' ? null : body,
  };
}

function perSecond(rates: number[]): string {
  return `${Math.round((rates.at(-1) ?? 0) / 1000)}k/s`;
}
