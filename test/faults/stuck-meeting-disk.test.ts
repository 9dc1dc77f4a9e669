import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { babble } from '../kit/made-audio.ts';
import { type StuckOpen, stuckOpen } from '../kit/stuck-open.ts';
import { pause, until } from '../kit/until.ts';
import { Bed } from './bed.ts';

let bed: Bed | null = null;
let disk: StuckOpen | null = null;
afterEach(async () => {
  disk?.release();
  await bed?.dispose();
});

/** Bytes of a frame of 20 ms. */
const FRAME_BYTES = 640;
const FRAMES = 300;

it('[AUD-2] [P1] relays every frame while the disk of the meeting does not answer, says so, and goes on when it does', async () => {
  bed = new Bed({ env: { SVC_RECORDER_ENGINE: 'vad' } });
  disk = stuckOpen(join(bed.root, 'fifo'), [`${join(bed.root, 'data', 'meetings')}/`]);
  Object.assign(bed.env, disk.env);
  await bed.fiber('budget', { armed: false });
  const daemon = await bed.daemon().ready();
  const look = async () => (await daemon.get<MeetingAnswer>('/meeting')).json;
  await daemon.post('/meeting/join', { fiber_id: 'budget', meeting: { mode: 'phone' } });
  const meeting = await until('a live meeting', async () => {
    const { meeting } = await look();
    return meeting?.state === 'live' ? meeting : null;
  });
  const phone = new WebSocket(`ws://${await daemon.address()}/api/v1/meeting/audio`);
  const states: string[] = [];
  phone.onmessage = ({ data }) => void states.push(JSON.parse(String(data)).state);
  await until('connected', () => states.includes('connected'));
  const audio = babble(FRAMES / 50);
  const frame = (at: number) => audio.slice(at * FRAME_BYTES, (at + 1) * FRAME_BYTES);
  phone.send(frame(0));
  const kept = meeting.transcript.replace(/txt$/, 'wav');
  await until('its audio file', () => statSync(kept, { throwIfNoEntry: false }));

  disk.hold();
  // A look at the recorder is under way by then.
  await pause(500);
  for (let at = 1; at < FRAMES; at += 1) {
    phone.send(frame(at));
    await pause(20);
  }
  await until('every frame in the recorder', () => statSync(kept).size >= 44 + FRAMES * FRAME_BYTES, 10_000);
  const held = await look();
  expect(held.audio).toMatchObject({ frames: FRAMES, dropped: 0 });
  expect(held.meeting).toMatchObject({ state: 'live', error: expect.stringContaining('does not answer') });

  disk.release();
  await until('no fault', async () => (await look()).meeting?.error === null);
  phone.close();
});
