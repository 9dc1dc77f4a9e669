// The phones of the question `audio-relay`; it starts the recorder's end beside it. It takes one JSON line for each run on
// its standard input, and answers with one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { AUDIO_PATH, FRAME_BYTES, FRAME_MS, nowMs } from './audio-frames.ts';

export type StreamsAsked = {
  /** By which way: straight into the recorder's socket, or through the relay at this port or Unix socket. */
  to: number | string | null;
  streams: number;
  seconds: number;
};
export type StreamsTold = { ways_ms: number[]; sent: number; came: number; late: number };

/** Frames of the first second are not counted. */
const WARM_MS = 1_000;
/** How much later than its time a frame may leave before the generator counts as late, in milliseconds. */
const LATE_MS = 5;
const DRAIN_MS = 1_000;

const [socket = ''] = process.argv.slice(2);
const sink = spawn(
  process.execPath,
  [...process.execArgv, fileURLToPath(new URL('audio-sink.ts', import.meta.url)), socket],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
const told = createInterface({ input: sink.stdout })[Symbol.asyncIterator]();
await told.next();
process.stdout.write('1\n');

for await (const text of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(text)))}\n`);
}
sink.stdin.end();

async function run({ to, streams, seconds }: StreamsAsked): Promise<StreamsTold> {
  const lines = await Promise.all(
    Array.from({ length: streams }, () => (to === null ? openDirect() : openRelayed(to))),
  );
  const began = nowMs();
  const counted_from = began + WARM_MS;
  let sent = 0;
  let late = 0;
  const frames = Math.round((seconds * 1_000) / FRAME_MS);
  for (let nth = 0; nth < frames; nth += 1) {
    for (const [phase, line] of lines.entries()) {
      const due = began + (nth + phase / streams) * FRAME_MS;
      // A generator that does not sleep would have a processor for itself, which the daemon is measured without.
      while (nowMs() < due) await wait(due - nowMs());
      const frame = Buffer.alloc(FRAME_BYTES);
      const at = nowMs();
      frame.writeDoubleLE(at, 0);
      line.send(frame);
      if (at < counted_from) continue;
      sent += 1;
      if (at - due > LATE_MS) late += 1;
    }
  }
  await wait(DRAIN_MS);
  for (const line of lines) line.close();
  sink.stdin.write(`${counted_from}\n`);
  const ways_ms = JSON.parse((await told.next()).value) as number[];
  return { ways_ms, sent, came: ways_ms.length, late };
}

type Line = { send(frame: Buffer): void; close(): void };

async function openDirect(): Promise<Line> {
  const line = connect(socket);
  await once(line, 'connect');
  return { send: (frame) => void line.write(frame), close: () => void line.destroy() };
}

async function openRelayed(to: number | string): Promise<Line> {
  const place = typeof to === 'number' ? `ws://127.0.0.1:${to}` : `ws+unix:${to}:`;
  const client = new WebSocket(`${place}${AUDIO_PATH}`, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    client.on('message', (data) => {
      if (String(data).includes('"connected"')) resolve();
    });
    client.once('close', (code) => reject(new Error(`the relay closed a stream with ${code}`)));
    client.once('error', reject);
  });
  return { send: (frame) => client.send(frame), close: () => client.terminate() };
}
