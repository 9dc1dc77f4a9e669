import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { SAMPLE_RATE } from '../../src/contract/recorder.ts';
import { WAV_HEADER_BYTES } from '../../src/recorder/audio/wav-header.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = (SAMPLE_RATE * FRAME_MS) / 1_000;
/** A phone tries to connect again so often, in milliseconds, as the page does at first. */
const RETRY_MS = 200;

let daemon: TestDaemon | undefined;
let phone: Phone | undefined;
afterEach(async () => {
  phone?.stop();
  await daemon?.dispose();
});

/** A phone that hears a tone, sends all of it that it can, and connects again by itself. */
class Phone {
  readonly #url: string;
  readonly #timer: NodeJS.Timeout;
  #socket: WebSocket | null = null;
  #sent_ms = 0;
  /** When each connection to the recorder began, by a clock that nobody sets. */
  readonly connected: number[] = [];

  constructor(url: string) {
    this.#url = url;
    this.#connect();
    const from = performance.now();
    this.#timer = setInterval(() => {
      for (; this.#sent_ms < performance.now() - from; this.#sent_ms += FRAME_MS)
        if (this.#socket !== null)
          this.#socket.send(Buffer.from(new Int16Array(FRAME_SAMPLES).fill(900).buffer));
    }, FRAME_MS);
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    socket.on('message', (data) => {
      if (JSON.parse(String(data)).state !== 'connected') return;
      this.#socket = socket;
      this.connected.push(performance.now());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#socket = null;
      setTimeout(() => this.#connect(), RETRY_MS).unref();
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket?.terminate();
  }
}

/** Seconds of the longest silence in what was kept, and of all of it. */
function heardIn(path: string): { silence: number; all: number } {
  const bytes = readFileSync(path).subarray(WAV_HEADER_BYTES);
  const pcm = new Int16Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 2 * (bytes.length >> 1)),
  );
  let longest = 0;
  let run = 0;
  for (const sample of pcm) {
    run = sample === 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return { silence: longest / SAMPLE_RATE, all: pcm.length / SAMPLE_RATE };
}

it('[P1] [AUD-2] a daemon that is killed during a meeting costs at most the audio of the time without one', async () => {
  daemon = await startTestDaemon({
    settings: { SVC_RECORDER_ENGINE: 'vad', SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
  });
  const one = daemon;
  const look = async () => (await one.http.get<MeetingAnswer>('/meeting')).body;
  const project_dir = one.home.project('atlas');
  const asked = { prompt: 'Budget', project_dir, agent: 'talks', meeting: { mode: 'phone' } };
  expect((await one.http.post('/capture', asked)).status).toBe(200);
  const meeting = await until('a live meeting', async () => {
    const now = (await look()).meeting;
    return now?.state === 'live' ? now : null;
  });
  const kept = meeting.transcript.replace(/txt$/, 'wav');
  phone = new Phone(`ws://${one.address}/api/v1/meeting/audio?launch=${meeting.launch}`);
  await until('5 s of audio', async () => ((await look()).audio?.frames ?? 0) > 250);

  const killed = performance.now();
  await one.kill9();
  await one.start();
  const back = await until('the phone again', () => phone!.connected[1]);
  await until('5 s more of it', async () => ((await look()).audio?.frames ?? 0) > 250);
  expect((await look()).meeting).toMatchObject({ launch: meeting.launch, state: 'live', error: null });
  const { dropped } = (await look()).audio!;
  phone.stop();
  await one.http.post('/meeting/stop', {});
  await until('its end', async () => (await look()).meeting === null);

  const { silence, all } = heardIn(kept);
  const away = (back - killed) / 1_000;
  // Frames may wait for a turn of the sender, on both sides of the gap.
  expect(silence).toBeLessThanOrEqual(away + 0.5);
  expect(silence).toBeGreaterThan(0.2);
  expect(all).toBeGreaterThan(10 + silence - 0.5);
  expect(dropped).toBe(0);
});
