import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../kit/until.ts';
import { ask } from '../raw-exchange.ts';
import { getRow, json, postRow, SERVER_KIND, type Served, serve } from '../served.ts';
import { type Case, casesOn } from './cases.ts';
import { readStrictly } from './strict-answers.ts';

/** A connection that has had its answer and says nothing more is closed by the server after about ten seconds. */
const HANG_MS = 24_000;

const CASES = casesOn(SERVER_KIND);

type Outcome = { text: string; closed: boolean };

let served: Served;
/** Where nothing is sent that could be handled. */
let quiet: Served;
let fds: number;
const effects = { refused: 0, allowed: 0 };
const mayAct = ({ effects: most = 0 }: Case) => most > 0;
const outcomes = new Map<Case, Outcome>();

const rows = (effect: () => void) => [
  getRow('/ok', () => json('ok', { etag: '"1"' })),
  getRow('/query', (request) => json(request.query), { query: z.object({ a: z.string().optional() }) }),
  getRow('/files/*path', (request) => json(request.params.path)),
  getRow('/soon', async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return json('soon');
  }),
  getRow('/slow', async (request) => {
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
    return json('late');
  }),
  postRow(
    '/act',
    () => {
      effect();
      return json('acted');
    },
    { body: z.unknown(), body_timeout_ms: 2_000 },
  ),
];

beforeAll(async () => {
  // Opened once and kept by the process: what is counted afterwards must not include it.
  const warm = await serve(rows(() => undefined));
  await ask(warm, 'GET', '/ok');
  await warm.server.stop();
  fds = openFds();
  let acted = 0;
  // Who dials is not what is tried here, and looking it up is what takes time.
  const peers = { view: { mode: 'none', uid: null, source: 'none' } } as const;
  served = await serve(
    rows(() => (acted += 1)),
    { peers },
  );
  quiet = await serve(
    rows(() => (acted += 1)),
    { peers },
  );
  // All at once: whatever those without a right to an effect do, the count must stay.
  await Promise.all(CASES.filter((entry) => !mayAct(entry)).map((entry) => play(entry)));
  effects.refused = acted;
  await Promise.all(CASES.filter(mayAct).map((entry) => play(entry)));
  effects.allowed = acted - effects.refused;
}, 90_000);

afterAll(async () => {
  await Promise.all([served.server.stop(), quiet.server.stop()]);
  if (process.platform === 'linux') await until('every connection is let go of', () => openFds() <= fds);
});

describe('the bytes of a connection', () => {
  it('is at least 150 cases', () => {
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThanOrEqual(150);
  });

  it.each(CASES.map((entry) => [entry.name, entry] as const))('%s', (_name, entry) => {
    const { text, closed } = outcomes.get(entry)!;
    const statuses = readStrictly(text, entry.methods ?? ['GET'], closed, entry.torn).map(
      ({ status }) => status,
    );
    if (entry.torn) for (const status of statuses.slice(0, -1)) expect(status).toBe(entry.answers[0]![0]);
    else expect(entry.answers, JSON.stringify(text.slice(0, 300))).toContainEqual(statuses);
    // Nothing hangs: not what is malformed, and not who says nothing more.
    expect(closed).toBe(true);
  });

  it('has no effect without permission', () => {
    expect(effects.refused).toBe(0);
    expect(effects.allowed).toBe(CASES.reduce((sum, entry) => sum + (entry.effects ?? 0), 0));
  });

  it('leaves the server unchanged', async () => {
    expect(await ask(served, 'GET', '/ok')).toMatchObject({ status: 200, body: '"ok"' });
  });
});

/** Plays a case and listens until the server closes; then nothing of the connection is left. */
function play(entry: Case): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({
      port: (entry.quiet ? quiet : served).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    const chunks: Buffer[] = [];
    socket.setNoDelay(true);
    const finish = (closed: boolean) => {
      if (outcomes.has(entry)) return;
      clearTimeout(timer);
      socket.destroy();
      outcomes.set(entry, { text: Buffer.concat(chunks).toString('latin1'), closed });
      resolve();
    };
    const timer = setTimeout(() => finish(false), HANG_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', () => finish(true));
    socket.once('close', () => finish(true));
    socket.on('error', () => undefined);
    socket.once('connect', async () => {
      for (const part of entry.parts) {
        if (typeof part === 'number') await new Promise((wait) => setTimeout(wait, part));
        else if (!socket.writable) break;
        else {
          await new Promise<void>((written) => socket.write(part, () => written()));
          await new Promise((turn) => setImmediate(turn));
        }
      }
      if (entry.after === 'end') socket.end();
      if (entry.after === 'reset') socket.resetAndDestroy();
    });
  });
}

function openFds(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
