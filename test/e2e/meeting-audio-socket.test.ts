import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type AudioMessage, audioMessageSchema, type Meeting } from '../../src/contract/http/meeting.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { evaluateInThread } from '../kit/inspector.ts';
import { until } from '../kit/until.ts';

const STAND_IN = fileURLToPath(new URL('../fixtures/meetings/stand-in-recorder.mjs', import.meta.url));
/** 20 ms of audio. */
const FRAME = Buffer.alloc(640, 7);

let daemon: TestDaemon;
/** While the main thread is blocked by a signal, it goes on once this file is there. */
let goes_on: string;
/** What the recorder keeps. */
let kept: string;
let socket: string;
const phones: WebSocket[] = [];
beforeEach(async () => {
  daemon = await startTestDaemon({
    settings: { SVC_RECORDER: STAND_IN, SVC_STAND_IN: 'records' },
    node: [
      '--inspect=127.0.0.1:0',
      `--import=data:text/javascript,${encodeURIComponent(`
        import { existsSync } from 'node:fs';
        const nothing = new Int32Array(new SharedArrayBuffer(4));
        process.on('SIGURG', () => {
          while (!existsSync(process.env.SVC_DATA_DIR + '/go-on')) Atomics.wait(nothing, 0, 0, 20);
        });
      `)}`,
    ],
  });
  goes_on = join(daemon.home.data, 'go-on');
  const project_dir = daemon.home.project('meetings');
  const { body } = await daemon.http.post<{ meeting: Meeting }>('/capture', {
    ...{ prompt: 'Budget', project_dir, agent: 'talks', meeting: { mode: 'phone' } },
  });
  kept = `${body.meeting.transcript}.pcm`;
  socket = join(daemon.home.data, 'socket/audio.sock');
  await until('the socket', () => existsSync(socket));
});
afterEach(async () => {
  for (const phone of phones.splice(0)) phone.terminate();
  writeFileSync(goes_on, '');
  await daemon.dispose();
});

/** Bytes of audio that the recorder has kept. */
const keptBytes = () => (existsSync(kept) ? statSync(kept).size : 0);

/** A phone that is connected to the socket for audio alone. */
async function phone() {
  const client = new WebSocket(
    `ws+unix:${join(daemon.home.data, 'socket/audio.sock')}:/api/v1/meeting/audio`,
  );
  phones.push(client);
  const told: AudioMessage[] = [];
  client.on('message', (data) => told.push(audioMessageSchema.parse(JSON.parse(String(data)))));
  const gone = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('close', () => resolve());
  });
  await Promise.race([gone, until('it', () => told.at(-1)?.state === 'connected')]);
  return { client, told, gone };
}

it('[AUD-2] the audio that comes over its own socket is recorded while the main thread does nothing', async () => {
  const { client } = await phone();
  process.kill(daemon.pid, 'SIGURG');
  let is_answered = false;
  const { asked } = await until('the main thread doing nothing', async () => {
    const asked = daemon.http.get('/meeting').then(() => {
      is_answered = true;
    });
    await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 300))]);
    if (!is_answered) return { asked };
    is_answered = false;
    return null;
  });
  for (let at = 0; at < 50; at += 1) client.send(FRAME);
  await until('all of it', () => keptBytes() === 50 * FRAME.length);
  expect(is_answered).toBe(false);
  writeFileSync(goes_on, '');
  await asked;
});

it('[AUD-2] [P1] its own socket is there again once the audio thread has died', async () => {
  const first = await phone();
  first.client.send(FRAME);
  await until('the first frame', () => keptBytes() === FRAME.length);
  const url = /ws:\/\/127[^\s"]+/.exec(daemon.log)?.[0];
  await evaluateInThread(url!, 'workers/audio', 'setTimeout(() => process.exit(3), 10)');
  await first.gone;
  await until('a connection again', async () => {
    const { client, told } = await phone();
    if (told.at(-1)?.state !== 'connected') return false;
    client.send(FRAME);
    return true;
  });
  await until('the next frame', () => keptBytes() === 2 * FRAME.length);
});
